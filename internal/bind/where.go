package bind

import (
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// conjuncts splits a condition at its ANDs.
func conjuncts(e sqlparse.Expr) []sqlparse.Expr {
	if b, ok := e.(*sqlparse.Binary); ok && b.Op == "and" {
		return append(conjuncts(b.Left), conjuncts(b.Right)...)
	}
	return []sqlparse.Expr{e}
}

// where applies WHERE: IN and EXISTS subqueries become joins, conditions over
// both sides of a comma's or CROSS JOIN's product make it an inner join, and
// the rest is a filter.
func (r *rows) where(e sqlparse.Expr) {
	var subqueries []sqlparse.Expr
	var filter plan.Expr
	keep := func() {
		if filter != nil {
			r.node = &plan.Filter{Input: r.node, Condition: filter, Span: filter.Place()}
		}
		filter = nil
	}
	var late []sqlparse.Expr
	apply := func(c sqlparse.Expr) {
		r.scope.correlated = r.outer
		condition := r.condition(c)
		r.scope.correlated = false
		if refersOut(condition) {
			r.correlated = append(r.correlated, condition)
		} else if n, ok := intoJoin(r.node, condition); ok {
			r.node = n
		} else {
			filter = and(filter, condition)
		}
	}
	for _, c := range conjuncts(e) {
		if _, _, ok := asSubquery(c); ok {
			subqueries = append(subqueries, c)
		} else if comparesSubquery(c) {
			late = append(late, c)
		} else {
			apply(c)
		}
	}
	keep()
	// A subquery used as a value is joined with the rows that are left then: fewer, and of which more is known.
	for _, c := range late {
		apply(c)
	}
	keep()
	for _, c := range subqueries {
		r.subquery(c)
	}
}

// intoJoin moves a condition of WHERE into the inner join or product whose
// both sides it speaks of. σ_c(L × R) = L ⋈_c R, and a condition over L alone
// commutes with the join, also where it keeps the rows of L that meet none; other joins are left alone.
func intoJoin(n plan.Node, condition plan.Expr) (plan.Node, bool) {
	j, ok := n.(*plan.Join)
	if !ok || j.Kind != plan.Inner && j.Kind != plan.Cross && j.Kind != plan.Left {
		return n, false
	}
	lw := width(j.Left)
	left, right := false, false
	plan.Walk(condition, func(e plan.Expr) bool {
		if ref, ok := e.(*plan.Ref); ok {
			left, right = left || ref.Index < lw, right || ref.Index >= lw
		}
		return true
	})
	out := *j
	switch {
	case j.Kind == plan.Left && right:
		return n, false
	case left && right:
		out.Kind, out.On = plan.Inner, and(j.On, condition)
		return &out, true
	case left:
		out.Left, ok = intoJoin(j.Left, condition)
	case right:
		out.Right, ok = intoJoin(j.Right, shift(condition, -lw))
	default:
		return n, false
	}
	return &out, ok
}

// comparesSubquery reports whether a condition compares with a subquery that is used as a value.
func comparesSubquery(e sqlparse.Expr) bool {
	switch e := e.(type) {
	case *sqlparse.Scalar:
		return true
	case *sqlparse.Unary:
		return comparesSubquery(e.Arg)
	case *sqlparse.Cast:
		return comparesSubquery(e.Arg)
	case *sqlparse.Binary:
		return comparesSubquery(e.Left) || comparesSubquery(e.Right)
	case *sqlparse.Between:
		return comparesSubquery(e.Arg) || comparesSubquery(e.Low) || comparesSubquery(e.High)
	}
	return false
}
