package bind

import (
	"math"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// maxThresholds bounds how often the value that is compared stands in the engine's text.
const maxThresholds = 200

// thresholdsOf is the array of width_bucket(x, ARRAY[...]), or nil.
func thresholdsOf(e *sqlparse.Call) *sqlparse.Array {
	if e.Name.Name != "width_bucket" || len(e.Args) != 2 {
		return nil
	}
	list, _ := e.Args[1].(*sqlparse.Array)
	return list
}

// thresholds is how many of some ascending constants are at most x, NULL of NULL. It is a CASE of constants, so that as
// a key it has a public domain.
func (c *context) thresholds(e *sqlparse.Call, list *sqlparse.Array) plan.Expr {
	if len(list.Items) > maxThresholds {
		refuse(diagnostic.New("D028", list.Span, "the array has %d thresholds, more than %d", len(list.Items), maxThresholds).
			Try("write buckets of one width: width_bucket(x, 0, 100, 10)"))
	}
	exprs := []plan.Expr{c.expr(e.Args[0])}
	for _, item := range list.Items {
		exprs = append(exprs, c.expr(item))
	}
	exprs, t := unify(exprs, "width_bucket")
	checkOrdered(t, e.Span, "width_bucket")
	x := exprs[0]
	if t.Kind == sqltype.Real {
		x = cast(x, typeOf(sqltype.Double))
	}
	out := &plan.Case{T: typeOf(sqltype.Integer), Span: e.Span}
	c.repeat(x, len(list.Items))
	unwritten := diagnostic.Span{Start: e.Span.Start, End: e.Span.Start} // a bucket may be empty by the declared bounds: no doubt is about it
	var last sqltype.Value
	for i, threshold := range exprs[1:] {
		l, ok := threshold.(*plan.Literal)
		if t.Kind == sqltype.Real { // PostgreSQL rounds it to the type of x
			if c, is := threshold.(*plan.Cast); is {
				l, ok = c.Arg.(*plan.Literal)
			}
			if ok {
				l, ok = rounded(l)
			}
		}
		if !ok || l.Value == nil || last != nil && sqltype.Compare(last, l.Value) >= 0 {
			refuse(diagnostic.New("D021", threshold.Place(), "the thresholds of width_bucket must be ascending constants").
				Try("write them from the smallest to the largest: width_bucket(x, ARRAY[0, 100, 500])"))
		}
		last = l.Value
		out.Whens = append(out.Whens, plan.When{Condition: boolean(plan.Less, unwritten, x, l), Result: integer(int64(i), e.Span)})
	}
	least := out.Whens[len(out.Whens)-1].Condition.(*plan.Call).Args[1]
	out.Whens = append(out.Whens, plan.When{Condition: boolean(plan.GreaterOrEqual, unwritten, x, least), Result: integer(int64(len(list.Items)), e.Span)})
	return out
}

// rounded is the nearest real to a number, which a double holds.
func rounded(l *plan.Literal) (*plan.Literal, bool) {
	r, ok := sqltype.Rat(l.Value)
	if !ok {
		return nil, false
	}
	f, _ := r.Float32()
	return &plan.Literal{Value: float64(f) + 0, T: typeOf(sqltype.Double), Span: l.Span}, !math.IsInf(float64(f), 0)
}
