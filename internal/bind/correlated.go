package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// A scalar subquery may refer to the statement around it in conditions of its WHERE, each of which
// equates a value of its own rows with one of the row around it:
//
//	(SELECT f(y) FROM t WHERE t.k = s.k AND ...)
//
// It becomes a LEFT JOIN of the rows with the subquery, grouped by its sides of these equations. A row
// meets one group at most, since the groups differ in what is equated, so that rows are neither copied nor
// lost. A row that meets none, or whose own side is NULL, has what the aggregates are of no rows:
// 0 of counts, and NULL of all others.

// correlatedScalar joins a subquery of one aggregate, bound as s over the rows in, and returns its value over
// the joined rows.
func (r *rows) correlatedScalar(s *selection, in *rows, at diagnostic.Span) plan.Expr {
	return r.correlatedValues(s, in, at)[0]
}

// correlatedValues is correlatedScalar of several values.
func (r *rows) correlatedValues(s *selection, in *rows, at diagnostic.Span) (values []plan.Expr) {
	aggregate := &plan.Aggregate{Input: in.node, Aggregations: s.aggregates.list, Span: s.sel.Span}
	width := width(r.node)
	var on plan.Expr
	for _, c := range in.correlated {
		own, outer := sides(c)
		if own == nil {
			refuse(diagnostic.New("D022", c.Place(), "this condition on the statement around the subquery is not an equation").
				Because("the subquery is grouped by what is equated, and joined").
				Try("write own_column = outer_column, or join the tables and aggregate"))
		}
		checkOrdered(own.Type(), c.Place(), "an equation with the statement around")
		key := &plan.Ref{Index: width + len(aggregate.Keys), Name: "key", T: own.Type(), Span: own.Place()}
		aggregate.Keys, aggregate.Names = append(aggregate.Keys, own), append(aggregate.Names, "key")
		on = and(on, boolean(plan.Equal, c.Place(), outer, key))
	}
	if on == nil {
		on = literalTrue(at)
	}
	r.count(at)
	r.node = &plan.Join{Kind: plan.Left, Left: r.node, Right: aggregate, On: on, Span: at}
	own := func(e plan.Expr) plan.Expr {
		switch e := e.(type) {
		case *aggregateRef:
			a := s.aggregates.list[e.index]
			ref := &plan.Ref{Index: width + len(aggregate.Keys) + e.index, Name: a.Name, T: e.t, Span: e.at}
			if a.Function == plan.Count || a.Function == plan.CountStar {
				return &plan.Call{Function: plan.Coalesce, T: e.t, Args: []plan.Expr{ref, &plan.Literal{Value: int64(0), T: e.t, Span: e.at}}, Span: e.at}
			}
			return ref
		case *plan.Ref:
			refuse(diagnostic.New("D014", e.Span, "column %s is neither aggregated nor a grouping key", e.Name).
				Because("the subquery has many rows, and so many values of it").Try("aggregate it"))
		case *scalarRef, *groupingRef, *windowRef:
			refuse(diagnostic.New("D022", at, "a subquery that refers to the statement around it has one aggregate alone").
				Try("join the tables instead, and aggregate"))
		}
		return nil
	}
	for _, item := range s.items {
		values = append(values, replaceExprs(known(item), own))
	}
	return values
}

// sides splits an equation into the side of the subquery's own rows and that of the statement around it; own is nil
// if it is none.
func sides(e plan.Expr) (own, outer plan.Expr) {
	c, ok := e.(*plan.Call)
	if !ok || c.Function != plan.Equal {
		return nil, nil
	}
	own, outer = c.Args[0], c.Args[1]
	if refersOut(own) {
		own, outer = outer, own
	}
	inside := false
	plan.Walk(outer, func(e plan.Expr) bool {
		_, is := e.(*plan.Ref)
		inside = inside || is
		return true
	})
	if refersOut(own) || inside {
		return nil, nil
	}
	return own, replaceExprs(outer, func(e plan.Expr) plan.Expr {
		if o, ok := e.(*outerRef); ok {
			return o.Ref
		}
		return nil
	})
}

// simple returns the SELECT of a query that is nothing else, or nil.
func simple(q *sqlparse.Query) *sqlparse.Select {
	sel, ok := q.Body.(*sqlparse.Select)
	if !ok || len(q.With) > 0 || len(q.OrderBy) > 0 || q.Limit != nil || q.Offset != nil || sel.Distinct || sel.Privacy != nil ||
		len(sel.GroupBy) > 0 || sel.Sets != nil || sel.Having != nil {
		return nil
	}
	return sel
}
