package sensitivity

import (
	"go/ast"
	"go/types"
	"math/big"
)

func (a *analysis) conversion(f *frame, st *state, to types.Type, x *ast.CallExpr) value {
	v := a.expr(f, st, x.Args[0])
	from := f.pkg.Info.Types[x.Args[0]].Type
	if v.kind == noisy {
		if wide(to) && (!isInteger(to) || isInteger(from)) {
			return v
		}
		v = a.used(st, v, x)
	}
	if v.kind == ref && from != nil {
		if _, pointer := core(to).(*types.Pointer); pointer {
			a.fail(x, "the slice itself", "a pointer to an array, which may be shorter than the slice")
		}
		if _, text := core(to).(*types.Basic); text {
			// How many letters there are is another matter.
			if e := a.envs(st, v)[l1]; len(e) > 0 {
				return a.opaque("text", e, a.why(x, "", "a text of private data"))
			}
			return a.public("text")
		}
		// To arrays Go copies.
		if _, array := core(to).(*types.Array); array {
			o := *a.settled(st.heap[v.obj])
			o.slot, o.base, o.only, o.view, o.given = nil, "", nil, false, false
			if t, ok := core(to).(*types.Array); ok {
				o.length = integer(t.Len())
			}
			return a.alloc(st, o)
		}
	}
	if v.kind != plain || from == nil {
		return v
	}
	e := a.env(v.sym)
	switch {
	case numeric(to) && numeric(from):
		if len(e) > 0 && !isInteger(to) && !isFloat(from) && !a.exact(v.sym) {
			a.reals = true
		}
		if wide(to) && (!isInteger(to) || isInteger(from) || a.whole(v.sym)) || (len(e) == 0 || isInteger(to)) && keeps(from, to) || types.Identical(to, from) {
			return v
		}
		if n, ok := v.sym.number(); ok && n.IsInt() && n.Sign() >= 0 && n.Num().BitLen() < 8 {
			return v
		}
		switch {
		case len(e) > 0:
		case isTypeParam(to):
			return a.public("converted")
		default:
			return a.publicOp("to", v, value{sym: named(to.Underlying().String())}, isInteger(to))
		}
		return a.opaque("int", e, a.why(x, "numbers that are whole from the start", "rounding jumps: a small change may make it 1"))
	case len(e) == 0 && letters(from) != letters(to):
		return a.public("converted") // how many letters there are is another matter
	case len(e) == 0:
		return v
	}
	if types.Identical(to.Underlying(), from.Underlying()) {
		return v
	}
	return a.opaque("conversion", e, a.why(x, "", "a conversion of private data"))
}

// letters reports whether a type is of strings.
func letters(t types.Type) bool {
	b, ok := core(t).(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// keeps reports whether a conversion keeps every number of a type as it is, but for the
// rounding of floats.
func keeps(from, to types.Type) bool {
	b, ok := to.Underlying().(*types.Basic)
	if !ok || isTypeParam(to) || isTypeParam(from) {
		return false
	}
	if b.Info()&types.IsFloat != 0 {
		return true
	}
	bits := func(b *types.Basic) (bits int, signed bool) {
		switch b.Kind() {
		case types.Int8, types.Uint8:
			bits = 8
		case types.Int16, types.Uint16:
			bits = 16
		case types.Int32, types.Uint32:
			bits = 32
		default:
			bits = 64
		}
		return bits, b.Info()&types.IsUnsigned == 0
	}
	c, ok := from.Underlying().(*types.Basic)
	if !ok || c.Info()&types.IsInteger == 0 || b.Info()&types.IsInteger == 0 {
		return false
	}
	n, signed := bits(b)
	m, was := bits(c)
	return n >= m && signed == was || n > m && signed
}

// wide reports whether a conversion to the type keeps integers below 2^53 as they are,
// and rounds no others than to float64.
func wide(t types.Type) bool {
	if isTypeParam(t) {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Int || b.Kind() == types.Int64 || b.Kind() == types.Float64)
}

// exact reports that a whole number is at most 2^53 in size, so that a float64 holds it.
func (a *analysis) exact(e Expr) bool {
	lo, hi := a.interval(e)
	most := rat(new(big.Rat).SetInt64(1 << 53))
	return lo != nil && hi != nil && a.isNonneg(most.add(*lo)) && a.isNonneg(most.sub(*hi))
}

func isFloat(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && !isTypeParam(t) && b.Info()&types.IsFloat != 0
}
