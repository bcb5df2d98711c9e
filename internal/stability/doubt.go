package stability

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Doubt is a part of a statement that the declarations alone show to be always
// NULL, never true or without effect. Asking for it costs as much as for any
// other, so that it is said: by words that depend on the statement and the catalog.
type Doubt struct {
	Span  diagnostic.Span
	Words string
	// Constant, if it is not nil, is doubted if it is none of Listed, of which public tables list some. Listing then says so, and Words are empty.
	Constant *plan.Literal
	Listed   []*catalog.PublicDomain
}

// Listing is a doubt of a constant that is none of these values.
func (d Doubt) Listing(values []sqltype.Value) (Doubt, bool) {
	if slices.ContainsFunc(values, func(v sqltype.Value) bool { return v != nil && same(v, d.Constant.Value) }) {
		return Doubt{}, false
	}
	return Doubt{Span: d.Span, Words: unlisted(d.Constant, values)}, true
}

// doubts looks through a bound statement.
func doubts(n plan.Node, f *facts) []Doubt {
	d := &doubter{facts: f, seen: map[plan.Node]bool{}}
	d.node(n)
	slices.SortStableFunc(d.found, func(a, b Doubt) int { return a.Span.Start - b.Span.Start })
	return slices.CompactFunc(d.found, func(a, b Doubt) bool { return a.Span == b.Span && a.Words == b.Words && a.Constant == b.Constant })
}

// mostDoubts bounds those of one statement, which can have thousands; and mostRows the rows that it writes out, of which some may be doubted.
const mostDoubts, mostRows = 20, 100

type doubter struct {
	facts *facts
	input plan.Node // whose columns the expressions name
	seen  map[plan.Node]bool
	found []Doubt
}

// say does so of what is written: some functions are made of conditions that have no place.
func (d *doubter) say(at diagnostic.Span, format string, args ...any) {
	if len(d.found) < mostDoubts && at.Start < at.End {
		d.found = append(d.found, Doubt{Span: at, Words: fmt.Sprintf(format, args...)})
	}
}

func (d *doubter) node(n plan.Node) {
	if d.seen[n] {
		return
	}
	d.seen[n] = true
	for _, in := range n.Inputs() {
		d.node(in)
	}
	switch n := n.(type) {
	case *plan.Filter:
		d.condition(n.Condition, "WHERE, HAVING or ON")
		d.exprs(n.Input, n.Condition)
	case *plan.Project:
		d.exprs(n.Input, n.Exprs...)
	case *plan.Join:
		d.condition(n.On, "the join's condition")
		d.exprs(n, n.On)
	case *plan.Aggregate:
		d.exprs(n.Input, n.Keys...)
		for _, a := range n.Aggregations {
			d.condition(a.Filter, "FILTER")
			d.exprs(n.Input, a.Arg, a.Filter)
		}
	case *plan.Window:
		for _, f := range n.Functions {
			d.condition(f.Filter, "FILTER")
			d.exprs(n.Input, f.Exprs()...)
		}
	case *plan.Limit:
		if n.Count == 0 {
			d.say(n.Span, "LIMIT 0 leaves no row")
		}
	case *plan.Sort:
		for _, k := range n.Keys {
			d.exprs(n.Input, k.Expr)
		}
	}
}

func (d *doubter) exprs(n plan.Node, all ...plan.Expr) {
	d.input = n
	for _, e := range all {
		plan.Walk(e, func(e plan.Expr) bool { d.expr(e); return true })
	}
}

func (d *doubter) expr(e plan.Expr) {
	switch e := e.(type) {
	case *plan.Cast:
		if l, ok := e.Arg.(*plan.Literal); ok && lost(l, e.T) {
			d.say(e.Span, "the constant is beyond %s: always NULL", e.T)
		}
	case *plan.Case:
		for i, w := range e.Whens {
			if neverTrue(w.Condition) {
				d.say(w.Condition.Place(), "this branch of CASE is never taken")
			}
			if l, ok := w.Condition.(*plan.Literal); ok && l.Value == true && (i+1 < len(e.Whens) || e.Else != nil) {
				d.say(w.Condition.Place(), "this branch of CASE is always taken: those behind it never are")
			}
		}
	case *plan.Call:
		d.call(e)
	}
}

func (d *doubter) call(e *plan.Call) {
	switch e.Function {
	case plan.Divide, plan.Modulo:
		if d.isZero(e.Args[1]) {
			d.say(e.Span, "division by 0: always NULL")
		} else if e.Function == plan.Divide && e.T.IsInteger() && d.aggregated(e.Args[0]) && d.aggregated(e.Args[1]) {
			d.say(e.Span, "both sides are whole numbers, so that the quotient loses its fraction: convert one, as in sum(x)::numeric / count(*)")
		}
	case plan.Add, plan.Subtract, plan.Multiply:
		if slices.ContainsFunc(e.Args, isNull) {
			d.say(e.Span, "an operation with NULL: always NULL")
		}
	case plan.Equal, plan.NotEqual, plan.Less, plan.LessOrEqual, plan.Greater, plan.GreaterOrEqual:
		d.compare(e, e.Function, e.Args[0], e.Args[1])
	case plan.In:
		for _, v := range e.Args[1:] {
			if l, ok := v.(*plan.Literal); ok && l.Value != nil {
				d.outside(l.Place(), plan.Equal, e.Args[0], l)
			}
		}
	case plan.And:
		d.between(e)
	case plan.Like, plan.ILike, plan.Matches, plan.IMatches:
		d.pattern(e)
	}
}

// aggregated reports whether an expression looks at an aggregate of the rows that it is over.
func (d *doubter) aggregated(e plan.Expr) bool {
	n := d.input
	for {
		switch above := n.(type) {
		case *plan.Filter:
			n = above.Input
			continue
		case *plan.Window:
			n = above.Input
			continue
		}
		break
	}
	grouped, ok := n.(*plan.Aggregate)
	found := false
	plan.Walk(e, func(e plan.Expr) bool {
		if ref, is := e.(*plan.Ref); is && ok {
			found = found || ref.Index >= len(grouped.Keys)
		}
		return !found
	})
	return found
}

func (d *doubter) isZero(e plan.Expr) bool {
	if !isConstant(e) { // of quotients in quotients, each would be looked through once for each around it
		return false
	}
	r := d.facts.rangeOf(d.input, e)
	return r.bounded() && r.lower.Sign() == 0 && r.upper.Sign() == 0
}

func isConstant(e plan.Expr) bool {
	constant := true
	plan.Walk(e, func(e plan.Expr) bool {
		_, ref := e.(*plan.Ref)
		constant = constant && !ref
		return constant
	})
	return constant
}

// lost reports whether a number is beyond an exact type.
func lost(l *plan.Literal, t sqltype.Type) bool {
	x, ok := sqltype.Rat(l.Value)
	if !ok || !t.IsInteger() && t.Kind != sqltype.DecimalKind {
		return false
	}
	_, err := sqltype.ParseValue(t, x.FloatString(int(t.Scale)))
	return err != nil
}
