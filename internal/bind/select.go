package bind

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A selection is a SELECT whose expressions are bound but not yet assembled:
// ORDER BY may still add some. Its expressions speak of the rows before
// grouping, with placeholders for aggregates and scalar subqueries.
type selection struct {
	*context // of the select list, HAVING and ORDER BY
	sel      *sqlparse.Select
	rows     *rows
	keys     []plan.Expr
	sets     [][]int   // grouping sets by their numbers in keys; nil for one of all
	having   plan.Expr // or nil
	items    []plan.Expr
	names    []string
	scalars  []plan.Node // scalar subqueries outside of aggregates
}

// A scalarRef stands for a scalar subquery of the select list.
type scalarRef struct {
	index int
	t     sqltype.Type
	at    diagnostic.Span
}

func (s *scalarRef) Type() sqltype.Type     { return s.t }
func (s *scalarRef) Place() diagnostic.Span { return s.at }

func (b *binder) selection(sel *sqlparse.Select, env *environment) *selection {
	if p := sel.Privacy; p != nil && (!b.priced || len(b.views) > 0) {
		refuse(diagnostic.New("D057", p.Span, "WITH DIFFERENTIAL_PRIVACY cannot stand here").
			Because("it says what a statement costs, and only a whole statement has a cost").Try("leave it out"))
	}
	r := b.from(sel.From, env, sel.Span)
	if counted := mostFrequent(sel, r.scope); counted != nil {
		return b.selection(counted, env)
	}
	if sel.Where != nil {
		r.where(sel.Where)
	}
	return b.selectOf(sel, env, r)
}

// selectOf binds the rest of a SELECT over what FROM and WHERE leave.
func (b *binder) selectOf(sel *sqlparse.Select, env *environment, r *rows) *selection {
	s := &selection{sel: sel, rows: r}
	s.context = &context{binder: b, env: env, scope: r.scope, clause: "SELECT", attach: s.scalar, rows: r,
		aggregates: &aggregates{args: r.in("an aggregate"), rows: r}, windows: &windows{}, named: sel.Windows}
	for _, item := range sel.Items {
		if !item.Star {
			for _, item := range several(item) {
				s.items = append(s.items, s.expr(item.Expr))
				s.names = append(s.names, outputName(item))
			}
			continue
		}
		for _, col := range s.scope.star(item) {
			s.items = append(s.items, at(col.expr, item.Span))
			s.names = append(s.names, col.name)
		}
	}
	for _, g := range sel.GroupBy {
		s.keys = append(s.keys, s.key(g))
	}
	if sel.Sets != nil {
		s.groupingSets(sel.Sets)
	}
	if sel.Having != nil {
		having := *s.context
		having.clause, having.windows = "HAVING", nil
		s.having = having.condition(sel.Having)
	}
	return s
}

func (s *selection) scalar(n plan.Node) plan.Expr {
	s.scalars = append(s.scalars, n)
	return &scalarRef{len(s.scalars) - 1, n.Columns()[0].Type, n.Place()}
}

// key binds a key of GROUP BY: an ordinal, an input column, an output name or
// an expression, in PostgreSQL's order of preference.
func (s *selection) key(g sqlparse.Expr) plan.Expr {
	var key plan.Expr
	switch e := g.(type) {
	case *sqlparse.Number:
		key = s.aliased(ordinal(e, len(s.items), "GROUP BY"), e.Span)
	case *sqlparse.Name:
		if len(s.scope.lookup(e)) > 0 { // whatever output columns have this name
			break
		}
		if i := s.output(e, "GROUP BY"); i >= 0 {
			key = s.aliased(i, e.Span)
		}
	case *sqlparse.String, *sqlparse.Parameter, *sqlparse.NullConst, *sqlparse.Bool:
		refuse(diagnostic.New("D021", g.Place(), "a constant cannot be a key of GROUP BY").
			Try("name a column, or give its number in the select list"))
	}
	if key == nil {
		key = s.rows.in("GROUP BY").value(g)
	}
	checkOrdered(key.Type(), g.Place(), "GROUP BY")
	return key
}

// aliased returns an item of the select list as a key.
func (s *selection) aliased(item int, at diagnostic.Span) plan.Expr {
	s.items[item] = known(s.items[item])
	replaceExprs(s.items[item], func(e plan.Expr) plan.Expr {
		switch e.(type) {
		case *aggregateRef, *groupingRef:
			refuse(diagnostic.New("D018", at, "an aggregate cannot be a key of GROUP BY").Try("group by a column; to group by an aggregate, aggregate in a subquery in FROM first"))
		case *windowRef:
			refuse(diagnostic.New("D031", at, "a window function cannot be a key of GROUP BY").
				Because("windows look at the rows that GROUP BY leaves").Try("compute it in a subquery in FROM, and group by its column"))
		case *scalarRef:
			refuse(diagnostic.New("D022", at, "a scalar subquery cannot be a key of GROUP BY").
				Try("put the subquery into FROM and name its column"))
		}
		return nil
	})
	return s.items[item]
}

// ordinal returns the index of the output column that a number in GROUP BY or
// ORDER BY means.
func ordinal(e *sqlparse.Number, n int, clause string) int {
	v, err := sqltype.ParseValue(typeOf(sqltype.Integer), e.Text)
	if err != nil {
		refuse(diagnostic.New("D021", e.Span, "a constant cannot be a key of %s", clause).Try("name a column, or leave it out"))
	}
	i := v.(int64)
	if i < 1 || i > int64(n) {
		refuse(diagnostic.New("D024", e.Span, "%s position %s is not in the select list", clause, e.Text).
			Because("the select list has %d columns", n).Try("count its columns from 1, or name the column"))
	}
	return int(i) - 1
}

// output returns the index of the output column that an unqualified name
// means, or -1. Several are fine when they are the same expression.
func (s *selection) output(e *sqlparse.Name, clause string) int {
	found := -1
	for i, name := range s.names {
		if e.Qualifier.Name != "" || name != e.Column.Name {
			continue
		}
		if found >= 0 && !equal(s.items[found], s.items[i]) {
			refuse(diagnostic.New("D012", e.Span, "%s %s is ambiguous: several output columns have this name", clause, name).
				Try("give the column's number in the select list"))
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

// assemble returns the plan of the SELECT with the given output columns: the
// select list and what ORDER BY added to it. They may still be *unknown.
func (s *selection) assemble(outputs []plan.Expr, names []string) *plan.Project {
	node, grouped := s.rows.node, false
	if len(s.keys) > 0 || s.sets != nil || s.having != nil || len(s.aggregates.list) > 0 || len(s.aggregates.groupings) > 0 {
		grouped = true
		aggregate := &plan.Aggregate{Input: node, Keys: s.keys, Aggregations: s.aggregates.list, Span: s.sel.Span}
		for _, k := range s.keys {
			aggregate.Names = append(aggregate.Names, s.keyName(k))
		}
		if p := s.sel.Privacy; p != nil {
			aggregate.Limits = &plan.Limits{Groups: p.Groups, Rows: p.Rows, Unit: p.Unit.Name, Public: p.Public, Span: p.Span}
		}
		node = s.bySets(aggregate)
	} else if p := s.sel.Privacy; p != nil {
		refuse(diagnostic.New("D057", p.Span, "WITH DIFFERENTIAL_PRIVACY without an aggregate").
			Because("it bounds what one unit does to aggregates").Try("write it at the SELECT that counts or sums private rows"))
	}
	base := width(node)
	for _, n := range s.scalars {
		node = cross(node, n)
	}
	above := 0 // where the window functions begin
	settle := func(e plan.Expr) plan.Expr {
		return replaceExprs(e, func(e plan.Expr) plan.Expr {
			if w, ok := e.(*windowRef); ok {
				return &plan.Ref{Index: above + w.index, Name: s.windows.list[w.index].Name, T: w.t, Span: w.at}
			}
			if r, ok := e.(*scalarRef); ok {
				return &plan.Ref{Index: base + r.index, Name: s.scalars[r.index].Columns()[0].Name, T: r.t, Span: r.at}
			}
			if grouped {
				return s.lift(e)
			}
			return nil
		})
	}
	if s.having != nil {
		node = &plan.Filter{Input: node, Condition: settle(s.having), Span: s.having.Place()}
	}
	if len(s.windows.list) > 0 {
		w := &plan.Window{Input: node, Span: s.windows.list[0].Span}
		for _, f := range s.windows.list {
			w.Functions = append(w.Functions, f.Mapped(settle))
		}
		above, node = width(node), w
		s.count(w.Span)
	}
	project := &plan.Project{Input: node, Names: names, Span: s.sel.Span}
	for _, e := range outputs {
		project.Exprs = append(project.Exprs, settle(e))
	}
	s.count(s.sel.Span)
	return project
}

// lift moves an expression above the grouping: what equals a key becomes the
// key's column, and any other column of the rows is refused.
func (s *selection) lift(e plan.Expr) plan.Expr {
	for i, k := range s.keys {
		if equal(e, k) {
			return &plan.Ref{Index: i, Name: s.keyName(k), T: k.Type(), Span: e.Place()}
		}
	}
	switch e := e.(type) {
	case *groupingRef:
		return s.groupingColumn(e)
	case *aggregateRef:
		return &plan.Ref{Index: len(s.keys) + e.index, Name: s.aggregates.list[e.index].Name, T: e.t, Span: e.at}
	case *plan.Ref:
		refuse(diagnostic.New("D014", e.Span, "column %s is neither aggregated nor a grouping key", e.Name).
			Because("each group has many rows, and so many values of it").
			Try("add it to GROUP BY, or aggregate it"))
	}
	return nil
}

// keyName names a key for messages: a column by its name, an expression as the
// select list does, or by its function.
func (s *selection) keyName(key plan.Expr) string {
	if r, ok := key.(*plan.Ref); ok {
		return r.Name
	}
	for i, name := range s.names {
		if equal(s.items[i], key) && name != "?column?" {
			return name
		}
	}
	if c, ok := key.(*plan.Call); ok {
		return string(c.Function)
	}
	return "key"
}

// outputName names an output column as PostgreSQL does.
func outputName(item sqlparse.Item) string {
	if item.Alias.Name != "" {
		return item.Alias.Name
	}
	return exprName(item.Expr)
}

func exprName(e sqlparse.Expr) string {
	switch e := e.(type) {
	case *sqlparse.Name:
		return e.Column.Name
	case *sqlparse.Call:
		return e.Name.Name
	case *sqlparse.Cast:
		if name := exprName(e.Arg); name != "?column?" {
			return name
		}
		name, _, _ := strings.Cut(e.Type, "(")
		return name
	case *sqlparse.Bool:
		return "bool"
	case *sqlparse.Case:
		if e.Else != nil {
			if name := exprName(e.Else); name != "?column?" {
				return name
			}
		}
		return "case"
	case *sqlparse.Exists:
		return "exists"
	case *sqlparse.Scalar:
		if s, ok := e.Query.Body.(*sqlparse.Select); ok && len(s.Items) == 1 && !s.Items[0].Star {
			return outputName(s.Items[0])
		}
	}
	return "?column?"
}
