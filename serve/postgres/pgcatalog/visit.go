package pgcatalog

import (
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// visit calls relation for each relation that a query names, anywhere, and with for each
// query that WITH names.
func visit(q *statement.Select, relation func(*statement.Relation), with func(*statement.CTE)) {
	v := &visitor{relation, with}
	v.query(q)
}

type visitor struct {
	relation func(*statement.Relation)
	with     func(*statement.CTE)
}

func (v *visitor) query(q *statement.Select) {
	if q == nil {
		return
	}
	for _, w := range q.With {
		if v.with != nil {
			v.with(w)
		}
		v.query(w.Query)
	}
	v.query(q.Left)
	v.query(q.Right)
	for _, row := range q.Values {
		v.exprs(row)
	}
	for _, t := range q.Targets {
		v.expr(t.Expr)
	}
	for _, f := range q.From {
		v.from(f)
	}
	for _, w := range q.Windows {
		v.window(w)
	}
	v.exprs(q.DistinctOn)
	v.exprs(q.Group)
	v.order(q.Order)
	v.exprs([]statement.Expr{q.Where, q.Having, q.Limit, q.Offset})
}

func (v *visitor) order(list []statement.Order) {
	for _, o := range list {
		v.expr(o.Expr)
	}
}

func (v *visitor) window(w *statement.Window) {
	if w != nil {
		v.exprs(w.Partition)
		v.order(w.Order)
	}
}

func (v *visitor) from(f statement.From) {
	switch f := f.(type) {
	case *statement.Relation:
		v.relation(f)
	case *statement.Subselect:
		v.query(f.Query)
	case *statement.Functions:
		v.exprs(f.Calls)
	case *statement.Join:
		v.from(f.Left)
		v.from(f.Right)
		v.expr(f.On)
	}
}

func (v *visitor) exprs(list []statement.Expr) {
	for _, e := range list {
		v.expr(e)
	}
}

func (v *visitor) expr(e statement.Expr) {
	switch e := e.(type) {
	case *statement.Call:
		v.exprs(e.Args)
		v.order(e.Order)
		v.expr(e.Filter)
		v.window(e.Over)
	case *statement.Op:
		v.expr(e.Left)
		v.expr(e.Right)
	case *statement.Quantified:
		v.expr(e.X)
		v.expr(e.Array)
		v.exprs(e.List)
	case *statement.Distinction:
		v.expr(e.X)
		v.expr(e.Y)
	case *statement.Between:
		v.exprs([]statement.Expr{e.X, e.Low, e.High})
	case *statement.Logic:
		v.exprs(e.Args)
	case *statement.Test:
		v.expr(e.X)
	case *statement.Cast:
		v.expr(e.X)
	case *statement.Case:
		v.expr(e.Operand)
		for _, w := range e.When {
			v.expr(w.If)
			v.expr(w.Then)
		}
		v.expr(e.Else)
	case *statement.Sublink:
		v.expr(e.X)
		v.query(e.Query)
	case *statement.Array:
		v.exprs(e.Items)
	case *statement.Row:
		v.exprs(e.Items)
	case *statement.Index:
		v.exprs([]statement.Expr{e.X, e.Lower, e.I})
	case *statement.Field:
		v.expr(e.X)
	case *statement.Coalesce:
		v.exprs(e.Args)
	case *statement.Nullif:
		v.expr(e.X)
		v.expr(e.Y)
	}
}

// withNames collects the names that WITH gives, anywhere.
func withNames(q *statement.Select) map[string]bool {
	names := map[string]bool{}
	visit(q, func(*statement.Relation) {}, func(w *statement.CTE) { names[w.Name] = true })
	return names
}

// namesOnly says whether a query names nothing but tables and views of a catalog.
func namesOnly(c *catalog.Catalog, sql string) bool {
	q, err := parse(sql)
	if err != nil {
		return false
	}
	ctes := withNames(q)
	only := true
	visit(q, func(r *statement.Relation) {
		_, table := c.Table(r.Name)
		_, view := c.View(r.Name)
		only = only && (table || view || ctes[r.Name])
	}, nil)
	return only
}
