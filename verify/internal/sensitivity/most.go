package sensitivity

import "math/big"

// most bounds the size of a public number by others of which a predicate holds: each that it
// does not hold of lies between two that are known.
func (a *analysis) most(e Expr, holds func(Expr) bool) (Expr, bool) {
	sum := Expr{}
	for _, t := range e.terms {
		product := a.abs(rat(t.coef))
		for _, p := range t.powers {
			power := Expr{[]term{{one().terms[0].coef, []power{p}}}}
			if holds(power) {
				product = product.mul(a.abs(power))
				continue
			}
			lo, hi := a.between(p.atom, holds)
			if lo == nil || hi == nil || p.halfs < 0 || p.halfs%2 != 0 {
				return Expr{}, false
			}
			for range p.halfs / 2 {
				product = product.mul(a.max(a.abs(*lo), a.abs(*hi)))
			}
		}
		sum = sum.add(product)
	}
	return sum, true
}

// between bounds an atom by numbers of which the predicate holds, on either side nil where
// there is none.
func (a *analysis) between(x *atom, holds func(Expr) bool) (lo, hi *Expr) {
	if k := a.knowns[x.name]; k != nil {
		// Bounds were made before what they bound: this ends.
		if k.lo != nil {
			lo, _ = a.betweenSum(*k.lo, holds)
		}
		if k.hi != nil {
			_, hi = a.betweenSum(*k.hi, holds)
		}
		return lo, hi
	}
	// Of a maximum a lower bound of either is one, and an upper bound is one of both.
	fold := func(op func(x, y Expr) Expr, side func(lo, hi *Expr) *Expr, all bool) (out *Expr) {
		for i, arg := range x.args {
			y := side(a.betweenSum(arg, holds))
			switch {
			case y == nil && all:
				return nil
			case y == nil:
			case out == nil && (i == 0 || !all):
				out = y
			default:
				z := op(*out, *y)
				out = &z
			}
		}
		return out
	}
	least := func(lo, hi *Expr) *Expr { return lo }
	largest := func(lo, hi *Expr) *Expr { return hi }
	switch x.op {
	case maximum:
		return fold(a.max, least, false), fold(a.max, largest, true)
	case minimum:
		return fold(a.min, least, true), fold(a.min, largest, false)
	case absolute:
		if lo, hi := a.betweenSum(x.args[0], holds); lo != nil && hi != nil {
			size := a.max(a.abs(*lo), a.abs(*hi))
			return &Expr{}, &size
		}
	}
	return nil, nil
}

func (a *analysis) betweenSum(e Expr, holds func(Expr) bool) (lo, hi *Expr) {
	if a.bounds++; a.bounds > maxBounds {
		return nil, nil
	}
	if holds(e) {
		return &e, &e
	}
	lo, hi = &Expr{}, &Expr{}
	for _, t := range e.terms {
		part := Expr{[]term{t}}
		tl, th := &part, &part
		if !holds(part) {
			if len(t.powers) != 1 || t.powers[0].halfs != 2 {
				return nil, nil
			}
			if tl, th = a.between(t.powers[0].atom, holds); t.coef.Sign() < 0 {
				tl, th = th, tl
			}
			tl, th = times(tl, t.coef), times(th, t.coef)
		}
		lo, hi = plus(lo, tl), plus(hi, th)
	}
	return lo, hi
}

func times(e *Expr, by *big.Rat) *Expr {
	if e == nil {
		return nil
	}
	product := e.mul(rat(by))
	return &product
}

func plus(e, f *Expr) *Expr {
	if e == nil || f == nil {
		return nil
	}
	sum := e.add(*f)
	return &sum
}
