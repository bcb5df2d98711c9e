package stability

import (
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// condition looks for conditions that no row meets whatever it holds.
func (d *doubter) condition(e plan.Expr, what string) {
	if e != nil && neverTrue(e) {
		d.say(e.Place(), "%s is never true", what)
	}
}

// neverTrue reports whether a condition is FALSE or NULL by its constants.
func neverTrue(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Literal:
		return e.Value == nil || e.Value == false
	case *plan.Call:
		switch e.Function {
		case plan.And:
			return slices.ContainsFunc(e.Args, neverTrue)
		case plan.Or:
			return !slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return !neverTrue(a) })
		case plan.Not:
			l, ok := e.Args[0].(*plan.Literal)
			return ok && l.Value != false
		case plan.Equal, plan.NotEqual, plan.Less, plan.LessOrEqual, plan.Greater, plan.GreaterOrEqual:
			a, ok := e.Args[0].(*plan.Literal)
			b, also := e.Args[1].(*plan.Literal)
			return ok && also && a.Value != nil && b.Value != nil && !holds(e.Function, sqltype.Compare(a.Value, b.Value))
		}
	}
	return false
}

// holds is a comparison's result by the order of its sides.
func holds(f plan.Function, order int) bool {
	switch f {
	case plan.Equal:
		return order == 0
	case plan.NotEqual:
		return order != 0
	case plan.Less:
		return order < 0
	case plan.LessOrEqual:
		return order <= 0
	case plan.Greater:
		return order > 0
	}
	return order >= 0
}

func (d *doubter) compare(e *plan.Call, f plan.Function, l, r plan.Expr) {
	if isNull(l) || isNull(r) {
		d.say(e.Span, "a comparison with NULL is never true: IS NULL asks for it")
		return
	}
	if c, ok := r.(*plan.Literal); ok && !isConstant(l) {
		d.outside(e.Span, f, l, c)
	}
	if c, ok := l.(*plan.Literal); ok && !isConstant(r) {
		if g, ok := mirrored[f]; ok {
			f = g
		}
		d.outside(e.Span, f, r, c)
	}
	if f != plan.Equal {
		return
	}
	for _, side := range [][2]plan.Expr{{l, r}, {r, l}} { // a join with rows that are written out
		if ref, ok := uncast(side[0]).(*plan.Ref); ok && !isConstant(side[1]) {
			for _, c := range constants(d.input, ref.Index) {
				d.outside(c.Place(), f, side[1], c)
			}
		}
	}
}

// outside says that a constant lies outside of what an expression is declared to
// be: in its list of values, or between its bounds.
func (d *doubter) outside(at diagnostic.Span, f plan.Function, e plan.Expr, c *plan.Literal) {
	if len(d.found) == mostDoubts {
		return
	}
	of := uncast(e)
	if f == plan.Equal || f == plan.NotEqual {
		if values, ok := d.listed(of); ok && !slices.ContainsFunc(values, func(v sqltype.Value) bool { return same(v, c.Value) }) {
			d.say(at, "%s", unlisted(c, values))
			return
		}
		if tabled := d.tabled(of); tabled != nil {
			d.found = append(d.found, Doubt{Span: at, Constant: c, Listed: tabled})
			return
		}
	}
	x, ok := sqltype.Rat(c.Value)
	r := d.facts.rangeOf(d.input, e)
	if !ok || !r.bounded() || !fromDeclaration(d, of) {
		return
	}
	low, high := x.Cmp(r.lower), x.Cmp(r.upper)
	never := false // within the bounds
	switch f {
	case plan.Equal:
		never = low < 0 || high > 0
	case plan.Less:
		never = low <= 0
	case plan.LessOrEqual:
		never = low < 0
	case plan.Greater:
		never = high >= 0
	case plan.GreaterOrEqual:
		never = high > 0
	}
	if never {
		d.say(at, "no value between the declared bounds, %s and %s, satisfies this", short(r.lower), short(r.upper))
	}
}

// fromDeclaration reports whether an expression's range comes from a column's
// bounds, which a constant's does not.
func fromDeclaration(d *doubter, e plan.Expr) bool {
	found := false
	plan.Walk(e, func(e plan.Expr) bool {
		if ref, ok := e.(*plan.Ref); ok {
			found = found || d.facts.columnRange(d.input, ref.Index).bounded()
		}
		return !found
	})
	return found
}

// uncast takes conversions between numbers away.
func uncast(e plan.Expr) plan.Expr {
	for {
		c, ok := e.(*plan.Cast)
		if !ok || !c.T.IsNumeric() || !c.Arg.Type().IsNumeric() {
			return e
		}
		e = c.Arg
	}
}

// between says that x >= a AND x <= b has no x.
func (d *doubter) between(e *plan.Call) {
	if len(e.Args) != 2 {
		return
	}
	low, ok := e.Args[0].(*plan.Call)
	high, also := e.Args[1].(*plan.Call)
	if !ok || !also || low.Function != plan.GreaterOrEqual || high.Function != plan.LessOrEqual {
		return
	}
	a, ok := low.Args[1].(*plan.Literal)
	b, also := high.Args[1].(*plan.Literal)
	if !ok || !also || a.Value == nil || b.Value == nil || a.T != b.T || a.T.Kind == sqltype.IntervalKind || sqltype.Compare(a.Value, b.Value) <= 0 {
		return
	}
	x, ok := uncast(low.Args[0]).(*plan.Ref)
	y, also := uncast(high.Args[0]).(*plan.Ref)
	if ok && also && x.Index == y.Index {
		d.say(e.Span, "no value lies between %s and %s", constantWords(a), constantWords(b))
	}
}

// pattern says that no listed value matches a pattern.
func (d *doubter) pattern(e *plan.Call) {
	l, ok := e.Args[1].(*plan.Literal)
	if !ok {
		return
	}
	if l.Value == nil {
		d.say(e.Span, "a pattern that is NULL matches nothing")
		return
	}
	values, ok := d.listed(e.Args[0])
	if !ok {
		return
	}
	text := l.Value.(string)
	if e.Function == plan.Like || e.Function == plan.ILike {
		text = likeToRegexp(text)
	}
	flags := "(?s)"
	if e.Function == plan.ILike || e.Function == plan.IMatches {
		flags = "(?si)"
	}
	p, err := regexp.Compile(flags + text)
	if err != nil {
		return
	}
	if !slices.ContainsFunc(values, func(v sqltype.Value) bool { s, ok := v.(string); return !ok || p.MatchString(s) }) {
		d.say(e.Span, "none of the declared values matches")
	}
}

func likeToRegexp(pattern string) string {
	var b strings.Builder
	b.WriteString("^")
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '%':
			b.WriteString(".*")
		case !escaped && r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	b.WriteString("$")
	return b.String()
}

func short(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(6), "0")
}
