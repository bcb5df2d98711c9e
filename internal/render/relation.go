package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// relation prints a node as a SELECT whose columns are c0, c1, ...
func (r *renderer) relation(n plan.Node) string {
	switch n := n.(type) {
	case *plan.Scan:
		if !slices.Contains(r.tables, n.Table.Name) {
			r.tables = append(r.tables, n.Table.Name)
		}
		return fmt.Sprintf("SELECT %s FROM %s", list(len(n.Table.Columns), func(i int) string {
			return quote(n.Table.Columns[i].Name) + " AS " + column(i)
		}), quote(n.Table.Name))
	case *plan.Released:
		return fmt.Sprintf("SELECT %s FROM %s", columns(n), quote(ReleasedName(n.Index)))
	case *plan.Values:
		return r.values(n)
	case *plan.Stage:
		return r.stage(n)
	case *plan.Filter:
		return fmt.Sprintf("SELECT %s FROM %s WHERE %s", columns(n), r.input(n.Input, "t"), r.scope(column).expr(n.Condition))
	case *plan.Project:
		return r.project(n)
	case *plan.Join:
		return r.join(n)
	case *plan.Union:
		parts := make([]string, len(n.Branches))
		for i, b := range n.Branches {
			parts[i] = fmt.Sprintf("SELECT %s FROM %s", columns(b), r.input(b, "t"))
		}
		return strings.Join(parts, " UNION ALL ")
	case *plan.Aggregate:
		return r.aggregate(n)
	case *plan.Window:
		return r.window(n)
	case *plan.Sort, *plan.Limit:
		return r.ordered(n, columns(n))
	}
	return r.fail("a %T cannot be rendered", n)
}

// input prints a node for FROM.
func (r *renderer) input(n plan.Node, alias string) string {
	return fmt.Sprintf("(%s) AS %s", r.relation(n), alias)
}

// columns lists a node's columns: at least one, since SQL has no relation
// without.
func columns(n plan.Node) string { return orOne(list(len(n.Columns()), column)) }

func orOne(list string) string {
	if list == "" {
		return "1 AS one"
	}
	return list
}

// as names an expression.
func as(expr, name string) string {
	if expr == name {
		return expr
	}
	return expr + " AS " + name
}

func (r *renderer) values(n *plan.Values) string {
	rows := list(len(n.Rows), func(i int) string {
		return "(" + orNumber(list(len(n.Rows[i]), func(j int) string { return r.scope(nil).expr(n.Rows[i][j]) })) + ")"
	})
	names := list(len(n.Types), column)
	if names == "" {
		names = "one"
	}
	return fmt.Sprintf("SELECT * FROM (VALUES %s) AS t(%s)", rows, names)
}

// stage prints what was released before as constants, or, where releases are tables, as one of these. Where it is not known yet there is one row of NULLs, of the same
// types: what an engine plans for it, it plans for any.
func (r *renderer) stage(n *plan.Stage) string {
	if r.loaded {
		return fmt.Sprintf("SELECT %s FROM %s", columns(n), quote(StageName(n.Index)))
	}
	rows, known := r.stages[n.Index]
	if !known || len(rows) == 0 {
		rows = [][]sqltype.Value{make([]sqltype.Value, len(n.Cols))}
	}
	v := &plan.Values{}
	for _, c := range n.Cols {
		v.Names, v.Types = append(v.Names, c.Name), append(v.Types, c.Type)
	}
	for _, row := range rows {
		constants := make([]plan.Expr, len(n.Cols))
		for i, c := range n.Cols {
			constants[i] = &plan.Literal{Value: row[i], T: c.Type}
		}
		v.Rows = append(v.Rows, constants)
	}
	text := r.values(v)
	if known && len(r.stages[n.Index]) == 0 {
		text += " WHERE FALSE"
	}
	return text
}

func orNumber(row string) string {
	if row == "" {
		return "1"
	}
	return row
}

// project prints expressions. A projection that only picks columns of sorted
// rows is one SELECT with the sorting, whose order SQL then promises.
func (r *renderer) project(n *plan.Project) string {
	if n.Found != nil {
		if r.found = true; r.holds {
			return "SELECT " + r.held(n.Found) + " FROM " + quote(engine.LaidName(n.Found.Name))
		}
	}
	s := r.scope(column)
	exprs := orOne(list(len(n.Exprs), func(i int) string { return as(s.expr(n.Exprs[i]), column(i)) }))
	switch n.Input.(type) {
	case *plan.Sort, *plan.Limit:
		picks := true
		for _, e := range n.Exprs {
			_, ok := e.(*plan.Ref)
			picks = picks && ok
		}
		if picks {
			return r.ordered(n.Input, exprs)
		}
	}
	return fmt.Sprintf("SELECT %s FROM %s", exprs, r.input(n.Input, "t"))
}

// held lists the columns of a table and behind them the key of each row's unit, as its copy holds it.
func (r *renderer) held(t *catalog.Table) string {
	if !slices.Contains(r.copies, t.Name) {
		r.copies = append(r.copies, t.Name)
	}
	return list(len(t.Columns), func(i int) string { return quote(t.Columns[i].Name) + " AS " + column(i) }) + ", " + engine.UnitKey + " AS " + column(len(t.Columns))
}

// ordered prints a Sort, a Limit, or a Limit of a Sort in one SELECT.
func (r *renderer) ordered(n plan.Node, exprs string) string {
	order, limit := "", ""
	if l, ok := n.(*plan.Limit); ok {
		if l.Count >= 0 {
			limit += fmt.Sprintf(" LIMIT %d", l.Count)
		}
		if l.Offset > 0 {
			limit += fmt.Sprintf(" OFFSET %d", l.Offset)
		}
		n = l.Input
	}
	if s, ok := n.(*plan.Sort); ok {
		scope := r.scope(func(i int) string { return "t." + column(i) }) // the input's columns, not the output's c0, c1, ...
		order = " ORDER BY " + list(len(s.Keys), func(i int) string {
			return ordering(scope.expr(s.Keys[i].Expr), s.Keys[i])
		})
		n = s.Input
	}
	return fmt.Sprintf("SELECT %s FROM %s%s%s", exprs, r.input(n, "t"), order, limit)
}

func (r *renderer) join(n *plan.Join) string {
	left := len(n.Left.Columns())
	side := func(i int) string {
		if i < left {
			return "l." + column(i)
		}
		return "r." + column(i-left)
	}
	out := orOne(list(len(n.Columns()), func(i int) string { return side(i) + " AS " + column(i) }))
	if quantifier := r.dialect.quantifier(n.Kind); quantifier != "" {
		condition := "TRUE"
		if n.On != nil {
			condition = r.scope(side).expr(n.On)
		}
		return fmt.Sprintf("SELECT %s FROM %s WHERE %s (SELECT 1 FROM %s WHERE %s)", out, r.input(n.Left, "l"), quantifier, r.input(n.Right, "r"), condition)
	}
	from := fmt.Sprintf("SELECT %s FROM %s %s JOIN %s", out, r.input(n.Left, "l"), n.Kind, r.input(n.Right, "r"))
	if n.On == nil {
		return from
	}
	return from + " ON " + r.scope(side).expr(n.On)
}
