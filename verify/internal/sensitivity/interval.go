package sensitivity

import (
	"go/token"
	"iter"
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

// publicWhere bounds a public number by parameters, where all of the comparisons hold.
func (a *analysis) publicWhere(all []comparison, e Expr) (lo, hi *Expr) {
	lo, hi = a.betweenSum(e, a.fixed)
	for _, c := range all {
		d := c.y.sub(c.x)
		switch c.op {
		case token.GTR, token.GEQ:
			d = d.neg()
		case token.LSS, token.LEQ:
		default:
			continue
		}
		// d >= 0, and e = left + r·d.
		for _, t := range e.terms {
			if a.compared += len(e.terms); a.compared > maxCompared {
				return lo, hi
			}
			i := slices.IndexFunc(d.terms, func(s term) bool { return s.key() == t.key() })
			if i < 0 {
				continue
			}
			r := new(big.Rat).Quo(t.coef, d.terms[i].coef)
			switch left := e.sub(d.mul(rat(r))); {
			case !a.fixed(left):
			case r.Sign() > 0 && lo == nil:
				lo = &left
			case r.Sign() < 0 && hi == nil:
				hi = &left
			}
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
	yl, yh := a.publicWhere(all, yes)
	nl, nh := a.publicWhere(all, no)
	l, h := a.hull(yl, yh, nl, nh)
	if lo == nil {
		lo = l
	}
	if hi == nil {
		hi = h
	}
	return lo, hi
}

// hull bounds what is one of two numbers, by bounds of each.
func (a *analysis) hull(xl, xh, yl, yh *Expr) (lo, hi *Expr) {
	if xl != nil && yl != nil {
		least := a.min(*xl, *yl)
		lo = &least
	}
	if xh != nil && yh != nil {
		most := a.max(*xh, *yh)
		hi = &most
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
	l, h := a.hull(yl, yh, nl, nh)
	if lo == nil {
		lo = l
	}
	if hi == nil {
		hi = h
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
	for r := range ratios(d, u) {
		if !slices.ContainsFunc(r.terms[0].powers, func(p power) bool { return p.halfs < 0 || len(a.atomEnv(p.atom)) > 0 }) {
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

// ratios are the monomials r with d = r·u: of those of the terms of d to the first of u.
func ratios(d, u Expr) iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		inverse, ok := Expr{u.terms[:1]}.inverse()
		for _, t := range d.terms {
			if r := (Expr{[]term{t}}).mul(inverse); ok && r.mul(u).is(d) && !yield(r) {
				return
			}
		}
	}
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
	if !holds {
		op = map[token.Token]token.Token{token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR}[op]
	}
	switch op {
	case token.GTR:
		return a.isNonneg(d.neg())
	case token.LSS:
		return a.isNonneg(d)
	case token.GEQ:
		return a.isPositive(d.neg())
	case token.LEQ:
		return a.isPositive(d)
	}
	return false
}
