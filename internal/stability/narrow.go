package stability

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// narrowedRange is what is left of where a column's values lie by a condition that every row meets; the same where nothing would be left, since
// values may lie outside of declared bounds, to which they are clamped.
func narrowedRange(r interval, t sqltype.Type, column int, condition plan.Expr) interval {
	if !t.IsNumeric() && !t.IsTemporal() {
		return r
	}
	unit, from := unitOf(t), r
	if unit != nil {
		from = outwardTo(unit, r)
	}
	of := narrowed(&image{lower: from.lower, upper: from.upper, step: unit, closed: true}, t, column, condition).span(t)
	if of == nil || of.lower != nil && of.upper != nil && of.lower.Cmp(of.upper) > 0 {
		return r
	}
	return interval{maxOf(r.lower, of.lower), minOf(r.upper, of.upper)}
}

// narrowedDomain is what is left of a column's public domain by a condition that every row meets; the same where nothing would be left.
//
// Theorem: groups are those that can have rows, and a function of what is public. A row whose key is in the domain and not in what is left of it does
// not meet the condition, so that there is none. What is left follows from the domain and the statement alone; rows with other keys are dropped
// before any bound is applied, so that a unit is in no more groups than are left.
func (f *facts) narrowedDomain(parts []*catalog.PublicDomain, t sqltype.Type, column int, condition plan.Expr) []*catalog.PublicDomain {
	var left []*catalog.PublicDomain
	for _, d := range parts {
		if kept := f.narrowedPart(d, t, column, condition); kept != nil {
			left = append(left, kept)
		}
	}
	if len(left) == 0 {
		return parts
	}
	return left
}

// narrowedPart is what is left of one part of a domain, or nil.
func (f *facts) narrowedPart(d *catalog.PublicDomain, t sqltype.Type, column int, condition plan.Expr) *catalog.PublicDomain {
	n, known := d.Size()
	if !known { // a table that is not read
		return d
	}
	if d.Step == nil {
		of := f.narrowed(listOf(d.Values...), t, column, condition)
		switch {
		case !of.listed || len(of.values) == len(d.Values):
			return d
		case len(of.values) == 0:
			return nil
		}
		return &catalog.PublicDomain{Values: of.values}
	}
	steps := func(x *big.Rat, rounded func(*big.Rat) *big.Int) *big.Int {
		return rounded(new(big.Rat).Quo(new(big.Rat).Sub(x, d.Lower), d.Step))
	}
	of := narrowed(&image{lower: d.Lower, upper: d.Upper, step: d.Step}, t, column, condition)
	if of.listed {
		out := &catalog.PublicDomain{}
		for _, v := range of.values {
			if x, ok := ordinal(v); ok && new(big.Rat).Quo(new(big.Rat).Sub(x, d.Lower), d.Step).IsInt() {
				out.Values = append(out.Values, v)
			}
		}
		if len(out.Values) == 0 {
			return nil
		}
		return out
	}
	first, last := steps(maxOf(d.Lower, of.lower), ceil), steps(minOf(d.Upper, of.upper), floor)
	at := func(i *big.Int) *big.Rat {
		x := new(big.Rat).Mul(new(big.Rat).SetInt(i), d.Step)
		return x.Add(x, d.Lower)
	}
	switch {
	case first.Cmp(last) > 0:
		return nil
	case first.Sign() == 0 && last.Cmp(big.NewInt(n-1)) == 0:
		return d
	}
	return &catalog.PublicDomain{Lower: at(first), Upper: at(last), Step: d.Step}
}

// mostNarrowed bounds how many values of lists are compared with how many constants, in a statement.
const mostNarrowed = 5_000_000

// narrowed is what is left of an image by a condition, where that can be afforded.
func (f *facts) narrowed(r *image, t sqltype.Type, column int, condition plan.Expr) *image {
	if r != nil && r.listed {
		plan.Walk(condition, func(e plan.Expr) bool {
			if _, ok := e.(*plan.Call); ok {
				f.compared += len(r.values)
			}
			return f.compared <= mostNarrowed
		})
		if f.compared > mostNarrowed {
			return r
		}
	}
	return narrowed(r, t, column, condition)
}

// narrowed is what is left of a column's image by a condition that every row meets: by
// comparisons of the column with constants, joined by AND, OR and NOT IN.
func narrowed(r *image, t sqltype.Type, column int, condition plan.Expr) *image {
	if ref, ok := condition.(*plan.Ref); ok && ref.Index == column && r != nil { // itself a condition
		return listOf(true)
	}
	e, ok := condition.(*plan.Call)
	if !ok || r == nil {
		return r
	}
	switch e.Function {
	case plan.And:
		for _, a := range e.Args {
			r = narrowed(r, t, column, a)
		}
		return r
	case plan.Or:
		return eitherOf(r, t, column, e.Args)
	case plan.Not:
		if ref, ok := e.Args[0].(*plan.Ref); ok && ref.Index == column {
			return listOf(false)
		}
		in, ok := e.Args[0].(*plan.Call)
		if !ok || in.Function != plan.In || !r.listed {
			return r
		}
		return r.without(narrowed(r, t, column, in))
	case plan.In:
		if ref := widened(e.Args[0]); ref == nil || ref.Index != column || !equals(t) {
			return r
		}
		var values []sqltype.Value
		for _, a := range e.Args[1:] {
			l, ok := a.(*plan.Literal)
			if !ok {
				return r
			}
			if v, there := sameValue(l.Value, t); there && r.has(v) {
				values = append(values, v)
			}
		}
		return listOf(sorted(values)...)
	}
	if len(e.Args) != 2 {
		return r
	}
	f, of, constant := e.Function, e.Args[0], e.Args[1]
	if _, ok := of.(*plan.Literal); ok {
		of, constant = constant, of
		if g, ok := mirrored[f]; ok {
			f = g
		}
	}
	l, ok := constant.(*plan.Literal)
	if !ok || l.Value == nil {
		return r
	}
	if ref := widened(of); ref == nil || ref.Index != column {
		return r
	}
	_, compared := mirrored[f]
	switch {
	case (f == plan.Equal || f == plan.NotEqual) && !equals(t):
		return r
	case f == plan.Equal:
		if v, there := sameValue(l.Value, t); there && r.has(v) {
			return listOf(v)
		}
		return listOf()
	case f == plan.NotEqual && r.listed:
		if v, there := sameValue(l.Value, t); there {
			return r.without(listOf(v))
		}
		return r
	case !compared:
		return r
	case r.listed:
		kept := listOf()
		for _, v := range r.values {
			if order, ok := compareTo(v, l.Value); !ok || holds(f, order) {
				kept.values = append(kept.values, v)
			}
		}
		return kept
	}
	x, ok := ordinal(l.Value)
	if !ok || of.Type().IsTemporal() && of.Type() != t {
		return r
	}
	out := *r
	switch f {
	case plan.GreaterOrEqual, plan.Greater:
		if x = r.next(x, f == plan.Greater); r.lower == nil || x.Cmp(r.lower) > 0 {
			out.lower = x
		}
	case plan.LessOrEqual, plan.Less:
		switch {
		case r.step != nil:
			next := r.next(x, false)
			if f == plan.Less || next.Cmp(x) > 0 {
				next.Sub(next, r.step)
			}
			x = next
		case f == plan.Less && !r.closed:
			x = below(x)
		}
		out.upper = minOf(r.upper, x)
	}
	return &out
}

// eitherOf is what is left of an image by conditions of which one holds.
func eitherOf(r *image, t sqltype.Type, column int, conditions []plan.Expr) *image {
	out, listed := listOf(), 0
	for i, c := range conditions {
		of := narrowed(r, t, column, c)
		switch {
		case of.listed:
			out.values, listed = append(out.values, of.values...), listed+1
		case i == 0:
			out = of
		default:
			out = &image{lower: lesser(out.lower, of.lower), upper: greater(out.upper, of.upper), step: r.step, closed: r.closed}
		}
	}
	switch listed {
	case len(conditions):
		return listOf(sorted(out.values)...)
	case 0:
		return out
	}
	return r
}

// mirrored are comparisons of order, each with that of its sides exchanged.
var mirrored = map[plan.Function]plan.Function{
	plan.Less: plan.Greater, plan.LessOrEqual: plan.GreaterOrEqual, plan.Greater: plan.Less, plan.GreaterOrEqual: plan.LessOrEqual,
}

// next is the least number of the lattice that is at least x, or above it.
func (r *image) next(x *big.Rat, above bool) *big.Rat {
	if r.step == nil {
		if above && !r.closed {
			return negated(below(negated(x)))
		}
		return x
	}
	base := r.lower
	if base == nil {
		base = new(big.Rat)
	}
	steps := ceil(new(big.Rat).Quo(new(big.Rat).Sub(x, base), r.step))
	out := new(big.Rat).Add(base, new(big.Rat).Mul(new(big.Rat).SetInt(steps), r.step))
	if above && out.Cmp(x) == 0 {
		out.Add(out, r.step)
	}
	return out
}

// below is the next smaller double.
func below(x *big.Rat) *big.Rat {
	f, _ := x.Float64()
	if f = math.Nextafter(f, math.Inf(-1)); math.IsInf(f, 0) {
		return x
	}
	return new(big.Rat).SetFloat64(f)
}

// widened returns the reference below conversions that keep numbers as they are, or nil: a large bigint is no double.
func widened(e plan.Expr) *plan.Ref {
	if c, ok := e.(*plan.Cast); ok {
		from := c.Arg.Type()
		switch {
		case c.T.Kind == sqltype.DecimalKind && (from.IsInteger() || from.Kind == sqltype.DecimalKind && from.Scale <= c.T.Scale),
			c.T.Kind == sqltype.Double && (from.Kind == sqltype.Smallint || from.Kind == sqltype.Integer || from.Kind == sqltype.Real),
			c.T.Kind == sqltype.Real && from.Kind == sqltype.Smallint:
			e = c.Arg
		}
	}
	return unwiden(e)
}

// without are the values of a list that another has not; all of them where the other is the list itself, of which nothing is known.
func (r *image) without(other *image) *image {
	if r == other {
		return r
	}
	return listOf(slices.DeleteFunc(slices.Clone(r.values), other.has)...)
}

// has reports whether a value may be in the image.
func (r *image) has(v sqltype.Value) bool {
	if r.listed {
		_, found := slices.BinarySearchFunc(r.values, v, sqltype.Compare)
		return found
	}
	x, ok := ordinal(v)
	return !ok || (r.lower == nil || x.Cmp(r.lower) >= 0) && (r.upper == nil || x.Cmp(r.upper) <= 0)
}

// equals reports whether sameValue knows of each constant which value of type t equals it. It knows none of single precision.
func equals(t sqltype.Type) bool { return t.Kind != sqltype.Real }

// sameValue is a constant as a value of type t that equals it; false if there is none.
func sameValue(v sqltype.Value, t sqltype.Type) (sqltype.Value, bool) {
	if x, ok := sqltype.Rat(v); ok && t.IsNumeric() {
		return valueAt(t, x)
	}
	return v, v != nil && !t.IsNumeric()
}

// compareTo orders two values, numbers of any types by their sizes.
func compareTo(a, b sqltype.Value) (int, bool) {
	x, ok := sqltype.Rat(a)
	y, also := sqltype.Rat(b)
	if ok && also {
		return x.Cmp(y), true
	}
	if ok != also || a == nil || b == nil {
		return 0, false
	}
	switch a.(type) {
	case string:
		_, ok = b.(string)
	case sqltype.Date:
		_, ok = b.(sqltype.Date)
	case sqltype.Timestamp:
		_, ok = b.(sqltype.Timestamp)
	case sqltype.Time:
		_, ok = b.(sqltype.Time)
	}
	if !ok {
		return 0, false
	}
	return sqltype.Compare(a, b), true
}
