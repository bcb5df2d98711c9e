package sensitivity

import (
	"go/token"
	"maps"
	"math/big"
	"slices"
)

// onlyOf are the branches without which a number is 0 that is x in a branch, and y in the other.
func (a *analysis) onlyOf(branch int, x, y Expr) map[int]bool {
	switch {
	case len(y.terms) == 0:
		only := maps.Clone(a.only(x))
		if only == nil {
			only = map[int]bool{}
		}
		only[branch] = true
		return only
	case len(x.terms) == 0:
		return a.onlyOf(-branch, y, x)
	}
	return intersect(a.only(x), a.only(y))
}

// only are branches without which a number is 0: those that all its terms have a factor of.
func (a *analysis) only(e Expr) map[int]bool {
	var all map[int]bool
	for i, t := range e.terms {
		some := map[int]bool{}
		for _, p := range t.powers {
			if k := a.knowns[p.atom.name]; k != nil && p.halfs > 0 {
				maps.Copy(some, k.only)
			}
		}
		if i == 0 {
			all = some
		} else {
			all = intersect(all, some)
		}
	}
	return all
}

// narrowed uses that x is chosen where the comparison holds, and y where it does not.
func (a *analysis) narrowed(c *comparison, x, y Expr) (xl, xh, yl, yh *Expr) {
	switch c.op {
	case token.LSS, token.LEQ:
		xl, xh = a.intervalWhere(x, c.x, c.y)
		yl, yh = a.intervalWhere(y, c.y, c.x)
	case token.GTR, token.GEQ:
		xl, xh = a.intervalWhere(x, c.y, c.x)
		yl, yh = a.intervalWhere(y, c.x, c.y)
	default:
		xl, xh = a.interval(x)
		yl, yh = a.interval(y)
	}
	return xl, xh, yl, yh
}

// intervalBy bounds e where all of the comparisons hold.
func (a *analysis) intervalBy(all []comparison, e Expr) (lo, hi *Expr) {
	lo, hi = a.interval(e)
	for _, c := range all {
		l, h, _, _ := a.narrowed(&c, e, e)
		if lo == nil {
			lo = l
		}
		if hi == nil {
			hi = h
		}
	}
	return lo, hi
}

// intervalWhere bounds e where u <= v.
func (a *analysis) intervalWhere(e, u, v Expr) (lo, hi *Expr) {
	lo, hi = a.interval(e)
	// e - r·(v - u) is a lower bound for r > 0, and an upper one for r < 0: where r is such
	// that nothing private is left in it.
	d := v.sub(u)
	for _, t := range e.terms {
		i := slices.IndexFunc(d.terms, func(s term) bool { return s.key() == t.key() })
		if i < 0 || len(a.termEnv(t)) == 0 {
			continue
		}
		r := new(big.Rat).Quo(t.coef, d.terms[i].coef)
		left := e.sub(d.mul(rat(r)))
		switch {
		case len(a.env(left)) > 0:
		case r.Sign() > 0 && lo == nil:
			lo = &left
		case r.Sign() < 0 && hi == nil:
			hi = &left
		}
	}
	if len(e.terms) != 1 || len(e.terms[0].powers) != 1 || lo != nil && hi != nil {
		return lo, hi
	}
	x := e.terms[0].powers[0].atom
	k := a.knowns[x.name]
	if k == nil || k.pieces == nil || !a.told() {
		return lo, hi
	}
	yes, ok1 := e.replace(x.name, k.pieces.yes)
	no, ok2 := e.replace(x.name, k.pieces.no)
	if !ok1 || !ok2 {
		return lo, hi
	}
	yl, yh := a.intervalWhere(yes, u, v)
	nl, nh := a.intervalWhere(no, u, v)
	if lo == nil && yl != nil && nl != nil {
		least := a.min(*yl, *nl)
		lo = &least
	}
	if hi == nil && yh != nil && nh != nil {
		most := a.max(*yh, *nh)
		hi = &most
	}
	return lo, hi
}

// meets reports whether d is 0 where the sides of the comparison are equal.
func (a *analysis) meets(d Expr, c *comparison) bool {
	u := c.x.sub(c.y)
	if len(d.terms) == 0 {
		return true
	}
	if len(u.terms) == 0 {
		return false
	}
	// d = r·u for r the ratio of the terms that match the first of u.
	for _, t := range d.terms {
		first := Expr{[]term{u.terms[0]}}
		inverse, ok := first.inverse()
		if !ok {
			return false
		}
		r := Expr{[]term{t}}.mul(inverse)
		for _, p := range r.terms[0].powers {
			if p.halfs < 0 || len(a.atomEnv(p.atom)) > 0 {
				r = Expr{}
				break
			}
		}
		if len(r.terms) > 0 && r.mul(u).is(d) {
			return true
		}
	}
	// A number that is one of two meets if each does, or is not what it is there.
	for _, t := range d.terms {
		for _, p := range t.powers {
			k := a.knowns[p.atom.name]
			if k == nil || k.pieces == nil {
				continue
			}
			if !a.told() {
				return false
			}
			for i, piece := range []Expr{k.pieces.yes, k.pieces.no} {
				if a.impossible(k.pieces.test, i == 0, c) {
					continue
				}
				e, ok := d.replace(p.atom.name, piece)
				if !ok || !a.meets(e, c) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// impossible reports whether a test cannot come out so where the sides of c are equal.
func (a *analysis) impossible(test comparison, holds bool, c *comparison) bool {
	x, y := test.x, test.y
	for _, side := range [][2]Expr{{c.x, c.y}, {c.y, c.x}} {
		from, to := side[0], side[1]
		if x.is(from) || y.is(from) {
			u, v := x, y
			if x.is(from) {
				u = to
			} else {
				v = to
			}
			if excluded(a, test.op, holds, u.sub(v)) {
				return true
			}
		}
		if len(from.terms) != 1 || len(from.terms[0].powers) != 1 || !from.is(atomic(from.terms[0].powers[0].atom)) {
			continue
		}
		name := from.terms[0].powers[0].atom.name
		u, ok1 := x.replace(name, to)
		v, ok2 := y.replace(name, to)
		if !ok1 || !ok2 {
			continue
		}
		if excluded(a, test.op, holds, u.sub(v)) {
			return true
		}
	}
	return false
}

// excluded reports whether d op 0 cannot come out so.
func excluded(a *analysis, op token.Token, holds bool, d Expr) bool {
	if holds {
		return op == token.GTR && a.isNonneg(d.neg()) || op == token.LSS && a.isNonneg(d)
	}
	return op == token.GEQ && a.isNonneg(d) || op == token.LEQ && a.isNonneg(d.neg())
}
