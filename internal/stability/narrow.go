package stability

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// narrowed is what is left of a column's image by a condition that every row meets: by
// comparisons of the column with constants, joined by AND.
func narrowed(r *image, t sqltype.Type, column int, condition plan.Expr) *image {
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
	case plan.In:
		if ref := widened(e.Args[0]); ref == nil || ref.Index != column {
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
	case f == plan.Equal:
		if v, there := sameValue(l.Value, t); there && r.has(v) {
			return listOf(v)
		}
		return listOf()
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
		if f == plan.Less {
			if r.step == nil {
				x = below(x)
			} else if next := r.next(x, false); next.Cmp(x) == 0 {
				x = new(big.Rat).Sub(x, r.step)
			}
		}
		out.upper = minOf(r.upper, x)
	}
	return &out
}

// mirrored are comparisons of order, each with that of its sides exchanged.
var mirrored = map[plan.Function]plan.Function{
	plan.Less: plan.Greater, plan.LessOrEqual: plan.GreaterOrEqual, plan.Greater: plan.Less, plan.GreaterOrEqual: plan.LessOrEqual,
}

// next is the least number of the lattice that is at least x, or above it.
func (r *image) next(x *big.Rat, above bool) *big.Rat {
	if r.step == nil {
		if above {
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

// widened returns the reference below conversions that keep the order of numbers, or nil.
func widened(e plan.Expr) *plan.Ref {
	if c, ok := e.(*plan.Cast); ok && c.T.IsNumeric() && c.Arg.Type().IsInteger() {
		e = c.Arg
	}
	return unwiden(e)
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
