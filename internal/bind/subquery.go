package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// asSubquery returns the IN or EXISTS subquery that a condition is, and
// whether it is negated.
func asSubquery(e sqlparse.Expr) (sub sqlparse.Expr, not, ok bool) {
	switch e := e.(type) {
	case *sqlparse.Exists:
		return e, false, true
	case *sqlparse.InQuery:
		return e, e.Not, true
	case *sqlparse.Unary:
		if e.Op == "not" {
			sub, not, ok = asSubquery(e.Arg)
			return sub, !not, ok
		}
	}
	return nil, false, false
}

// subquery applies a condition that is an IN or EXISTS subquery: a semijoin, or
// an antijoin when negated.
//
// x NOT IN (Q) is true just when no row of Q makes x = q true or NULL, so the
// antijoin's condition is that; an empty Q admits a NULL x.
func (r *rows) subquery(e sqlparse.Expr) {
	sub, not, _ := asSubquery(e)
	j := &plan.Join{Kind: plan.Semi, Span: e.Place()}
	if not {
		j.Kind = plan.Anti
	}
	r.count(e.Place())
	switch sub := sub.(type) {
	case *sqlparse.Exists:
		right, on, _ := r.inner(sub.Query, false)
		j.Left, j.Right, j.On = r.node, right, on
		if on == nil {
			j.On = literalTrue(sub.Span)
		}
	case *sqlparse.InQuery:
		arg := r.in("IN").expr(sub.Arg)
		right, on, item := r.inner(sub.Query, true)
		equal := r.compare(plan.Equal, arg, item, sub.Span)
		if not {
			equal = boolean(plan.Or, sub.Span, equal, boolean(plan.IsNull, sub.Span, equal))
		}
		j.Left, j.Right, j.On = r.node, right, and(on, equal)
	}
	r.node = j
}

// inner binds the query of an IN or EXISTS subquery. The conditions of its
// WHERE that refer to the statement around it come back as on, over the
// columns of both; item is the value that IN compares with.
func (r *rows) inner(q *sqlparse.Query, valued bool) (n plan.Node, on, item plan.Expr) {
	sel, ok := q.Body.(*sqlparse.Select)
	if !ok || len(q.With) > 0 || q.Limit != nil || q.Offset != nil || len(sel.GroupBy) > 0 || sel.Sets != nil || sel.Having != nil || aggregated(sel) {
		n = r.query(q, r.env.around(r.scope))
		if !valued {
			return n, nil, nil
		}
		if width(n) != 1 {
			refuse(diagnostic.New("D023", q.Span, "the subquery of IN must have one column, not %d", width(n)).Try("select the column that is compared; for several columns write EXISTS (SELECT ... WHERE ...)"))
		}
		return n, nil, shift(refsTo(n)[0], width(r.node))
	}
	in := r.from(sel.From, r.env, sel.Span)
	in.scope.outer, in.outer = r.scope, true
	if sel.Where != nil {
		in.where(sel.Where)
	}
	if valued && (len(sel.Items) != 1 || sel.Items[0].Star && len(in.scope.star(sel.Items[0])) != 1) {
		refuse(diagnostic.New("D023", q.Span, "the subquery of IN must have one column").Try("select the column that is compared; for several columns write EXISTS (SELECT ... WHERE ...)"))
	}
	for _, i := range sel.Items { // EXISTS ignores its items, but reports their errors
		if i.Star {
			item = in.scope.star(i)[0].expr
		} else {
			item = known(in.in("SELECT").expr(i.Expr))
		}
	}
	lw := width(r.node)
	if item != nil {
		item = shift(item, lw)
	}
	for _, c := range in.correlated {
		on = and(on, replaceExprs(c, func(e plan.Expr) plan.Expr {
			switch e := e.(type) {
			case *outerRef:
				return e.Ref
			case *plan.Ref:
				return shift(e, lw)
			}
			return nil
		}))
	}
	return in.node, on, item
}

func refersOut(e plan.Expr) bool {
	out := false
	plan.Walk(e, func(e plan.Expr) bool {
		_, is := e.(*outerRef)
		out = out || is
		return true
	})
	return out
}

// aggregated reports whether the select list has an aggregate.
func aggregated(sel *sqlparse.Select) bool {
	for _, item := range sel.Items {
		if !item.Star && hasAggregate(item.Expr) {
			return true
		}
	}
	return false
}

// hasAggregate reports whether an expression has an aggregate of its own
// SELECT.
func hasAggregate(e sqlparse.Expr) bool {
	switch e := e.(type) {
	case *sqlparse.Call:
		if _, ok := aggregateFunctions[e.Name.Name]; (ok || e.Name.Name == "approx_quantiles") && e.Over == nil {
			return true
		}
		return anyAggregate(e.Args...) || e.Over != nil && windowAggregated(e.Over)
	case *sqlparse.Unary:
		return hasAggregate(e.Arg)
	case *sqlparse.Binary:
		return anyAggregate(e.Left, e.Right)
	case *sqlparse.Case:
		all := []sqlparse.Expr{e.Operand, e.Else}
		for _, w := range e.Whens {
			all = append(all, w.Condition, w.Result)
		}
		return anyAggregate(all...)
	case *sqlparse.Cast:
		return hasAggregate(e.Arg)
	case *sqlparse.InList:
		return hasAggregate(e.Arg) || anyAggregate(e.List...)
	case *sqlparse.InArray:
		return hasAggregate(e.Arg)
	case *sqlparse.Between:
		return anyAggregate(e.Arg, e.Low, e.High)
	case *sqlparse.Is:
		return hasAggregate(e.Arg)
	case *sqlparse.DistinctFrom:
		return anyAggregate(e.Left, e.Right)
	case *sqlparse.Like:
		return anyAggregate(e.Arg, e.Pattern)
	}
	return false
}

func windowAggregated(w *sqlparse.Window) bool {
	for _, o := range w.Order {
		if hasAggregate(o.Expr) {
			return true
		}
	}
	return anyAggregate(w.Partition...)
}

func anyAggregate(exprs ...sqlparse.Expr) bool {
	for _, e := range exprs {
		if e != nil && hasAggregate(e) {
			return true
		}
	}
	return false
}

// scalar binds a subquery used as a value. It must have one row whatever the
// data: a single aggregate without GROUP BY, or one row of constants.
func (c *context) scalar(e *sqlparse.Scalar) plan.Expr {
	if c.attach == nil {
		refuse(diagnostic.New("D022", e.Span, "a scalar subquery cannot stand in %s", c.clause).
			Try("put the subquery into FROM and join it"))
	}
	if !oneRow(e.Query) {
		refuse(diagnostic.New("D022", e.Span, "the subquery may have more or fewer rows than one").
			Because("PostgreSQL would fail on a second row, and whether it does must not depend on the data").
			Try("aggregate it without GROUP BY: (SELECT max(x) FROM ...)"))
	}
	env := c.env.around(c.scope)
	if sel := simple(e.Query); sel != nil && aggregated(sel) && c.rows != nil {
		in := c.from(sel.From, env, sel.Span)
		in.outer = true
		if sel.Where != nil {
			in.where(sel.Where)
		}
		s := c.selectOf(sel, env, in)
		if len(s.items) != 1 {
			refuse(oneColumn(e.Span, len(s.items)))
		}
		if len(in.correlated) > 0 {
			return at(c.rows.correlatedScalar(s, in, e.Span), e.Span)
		}
		return at(c.attach(s.assemble([]plan.Expr{known(s.items[0])}, s.names)), e.Span)
	}
	n := c.query(e.Query, env)
	if width(n) != 1 {
		refuse(oneColumn(e.Span, width(n)))
	}
	return at(c.attach(n), e.Span)
}

func oneColumn(at diagnostic.Span, columns int) *diagnostic.Diagnostic {
	return diagnostic.New("D023", at, "the subquery must have one column, not %d", columns).Try("write a subquery for each value")
}

// oneRow reports whether a query has exactly one row whatever the data.
func oneRow(q *sqlparse.Query) bool {
	if q.Limit != nil || q.Offset != nil {
		return false
	}
	switch b := q.Body.(type) {
	case *sqlparse.Query:
		return oneRow(b)
	case *sqlparse.ValuesList:
		return len(b.Rows) == 1
	case *sqlparse.Select:
		if b.Having != nil || len(b.GroupBy) > 0 || b.Sets != nil {
			return false
		}
		return aggregated(b) || len(b.From) == 0 && b.Where == nil
	}
	return false
}
