package prove

import (
	"math/big"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// fill puts shifts in the place of leaves, and simplifies.
func fill(x p.Expression, leaves map[*p.Variable]p.Expression) p.Expression {
	return simplify(replace(x, func(x p.Expression) (p.Expression, bool) {
		if r, ok := x.(p.Ref); ok {
			y, ok := leaves[r.Var]
			return y, ok
		}
		return nil, false
	}))
}

// simplify removes zeros and ones, and cases that are equal.
func simplify(x p.Expression) p.Expression {
	is := func(x p.Expression, n int64) bool {
		c, ok := x.(p.Number)
		return ok && c.Value.Cmp(rational(n)) == 0
	}
	switch x := x.(type) {
	case p.If3:
		y := p.If3{Cond: x.Cond, Then: simplify(x.Then), Else: simplify(x.Else)}
		if y.Then.String() == y.Else.String() {
			return y.Then
		}
		return y
	case p.Unary:
		return p.Unary{Op: x.Op, X: simplify(x.X)}
	case p.Binary:
		a, b := simplify(x.X), simplify(x.Y)
		m, okA := a.(p.Number)
		n, okB := b.(p.Number)
		if okA && okB {
			s := p.Int
			if m.Sort == p.Real || n.Sort == p.Real {
				s = p.Real
			}
			switch x.Op {
			case p.Add:
				return p.Number{Value: new(big.Rat).Add(m.Value, n.Value), Sort: s}
			case p.Sub:
				return p.Number{Value: new(big.Rat).Sub(m.Value, n.Value), Sort: s}
			case p.Mul:
				return p.Number{Value: new(big.Rat).Mul(m.Value, n.Value), Sort: s}
			}
		}
		switch {
		case x.Op == p.Add && is(a, 0):
			return b
		case x.Op == p.Add && is(b, 0), x.Op == p.Sub && is(b, 0):
			return a
		case x.Op == p.Sub && is(a, 0):
			return p.Unary{Op: p.Sub, X: b}
		case x.Op == p.Mul && (is(a, 0) || is(b, 0)):
			return p.Number{Value: new(big.Rat), Sort: p.Int}
		case x.Op == p.Mul && is(a, 1):
			return b
		case x.Op == p.Mul && is(a, -1):
			return negate(b)
		case x.Op == p.Mul && okA:
			if u, ok := b.(p.Unary); ok && u.Op == p.Sub {
				return simplify(p.Binary{Op: p.Mul, X: negate(m), Y: u.X})
			}
			if inner, ok := b.(p.Binary); ok && (inner.Op == p.Add || inner.Op == p.Sub) {
				return simplify(p.Binary{Op: inner.Op, X: p.Binary{Op: p.Mul, X: a, Y: inner.X}, Y: p.Binary{Op: p.Mul, X: a, Y: inner.Y}})
			}
			if inner, ok := b.(p.Binary); ok && inner.Op == p.Mul {
				if k, ok := inner.X.(p.Number); ok {
					return simplify(p.Binary{Op: p.Mul, X: p.Number{Value: new(big.Rat).Mul(m.Value, k.Value), Sort: m.Sort}, Y: inner.Y})
				}
			}
		}
		if u, ok := b.(p.Unary); ok && u.Op == p.Sub && x.Op == p.Add {
			return p.Binary{Op: p.Sub, X: a, Y: u.X}
		}
		return p.Binary{Op: x.Op, X: a, Y: b}
	}
	return x
}

// negate is -x without a sign in front of a sum.
func negate(x p.Expression) p.Expression {
	switch x := x.(type) {
	case p.Number:
		return p.Number{Value: new(big.Rat).Neg(x.Value), Sort: x.Sort}
	case p.Unary:
		if x.Op == p.Sub {
			return x.X
		}
	case p.Binary:
		switch x.Op {
		case p.Add:
			return simplify(p.Binary{Op: p.Sub, X: negate(x.X), Y: x.Y})
		case p.Sub:
			return simplify(p.Binary{Op: p.Sub, X: x.Y, Y: x.X})
		case p.Mul:
			if k, ok := x.X.(p.Number); ok {
				return simplify(p.Binary{Op: p.Mul, X: p.Number{Value: new(big.Rat).Neg(k.Value), Sort: k.Sort}, Y: x.Y})
			}
		}
	}
	return p.Unary{Op: p.Sub, X: x}
}
