package sensitivity

import (
	"context"
	"math"
	"math/big"
	"slices"
)

// Facts are what is known of parameters: expressions that are not negative, or
// positive.
type facts struct {
	nonneg   []Expr
	positive []Expr
	// asked are the atoms whose signs are being asked for, one for the sake of another.
	asked []string
	// work is what is left of it; nil is no end.
	work *work
}

// maxWork bounds the cases that minima, maxima and absolute values are told apart into, of which
// there are twice as many with each that they are made of.
const maxWork = 1_000_000

// work is what may still be done for one function: until it is spent, or its time is over.
type work struct {
	ctx    context.Context
	left   int // in symbols of the expressions that are asked about
	looked int // how often the time was to be looked at
	late   bool
}

// lookEvery is in how many steps the time is looked at once.
const lookEvery = 64

// over reports whether the time is, which spends what is left.
func (w *work) over() bool {
	if w.looked++; w.looked%lookEvery == 0 && w.ctx.Err() != nil {
		w.left, w.late = -1, true
	}
	return w.late
}

// spent reports whether there was more work than is done for one function, or no more time: what
// is asked then is not known.
func (f *facts) spent() bool { return f.work != nil && f.work.left < 0 }

// asking is for the signs of what an atom is made of; ok is false if they were asked for, which
// a fact about the atom leads back to, or deep down.
func (f *facts) asking(a *atom) (g *facts, ok bool) {
	if len(f.asked) > 8 || slices.Contains(f.asked, a.name) {
		return nil, false
	}
	return &facts{f.nonneg, f.positive, append(f.asked[:len(f.asked):len(f.asked)], a.name), f.work}, true
}

// sign reports whether an atom is known to be positive, or not to be negative.
func (f *facts) sign(a *atom) (nonneg, positive bool) {
	switch a.op {
	case absolute:
		return true, false
	case exponential:
		return true, true
	case rootOf:
		return true, true
	case sum, maximum, minimum, logarithm:
		var ok bool
		if f, ok = f.asking(a); !ok {
			return false, false
		}
	}
	switch a.op {
	case sum:
		return f.isNonneg(a.args[0]), f.isPositive(a.args[0])
	case maximum:
		for _, x := range a.args {
			nonneg = nonneg || f.isNonneg(x)
			positive = positive || f.isPositive(x)
		}
		return nonneg, positive
	case minimum:
		nonneg, positive = true, true
		for _, x := range a.args {
			nonneg = nonneg && f.isNonneg(x)
			positive = positive && f.isPositive(x)
		}
		return nonneg, positive
	case logarithm:
		// ln x > 0 where x > 1; ln(1/x) where 0 < x < 1.
		return f.atLeastOne(a.args[0])
	}
	x := atomic(a)
	for _, p := range f.positive {
		if f.follows(x, p) {
			return true, true
		}
	}
	if a.positive {
		return true, true
	}
	nonneg = a.nonneg
	for _, p := range f.nonneg {
		if n, ok := x.sub(p).number(); ok && n.Sign() >= 0 {
			nonneg, positive = true, positive || n.Sign() > 0
		}
	}
	if nonneg && positive {
		return true, true
	}
	// x = (x - y) + y, where x - y is known, and y by other facts.
	for i, p := range slices.Concat(f.nonneg, f.positive) {
		y := x.sub(p)
		if len(p.terms) != 2 || len(y.terms) != 1 {
			continue
		}
		if g, ok := f.asking(a); ok {
			if n, more := g.termSign(y.terms[0]); n {
				nonneg, positive = true, positive || more || i >= len(f.nonneg)
			}
		}
	}
	return nonneg, positive
}

// follows reports whether x - p, for p >= 0, is a number that is not negative.
func (f *facts) follows(x, p Expr) bool {
	n, ok := x.sub(p).number()
	return ok && n.Sign() >= 0
}

// atLeastOne reports whether x >= 1, and whether x > 1.
func (f *facts) atLeastOne(x Expr) (least, more bool) {
	d := x.sub(one())
	if len(x.terms) == 1 {
		// c/p with 0 < p <= c.
		t := x.terms[0]
		if len(t.powers) == 1 && t.powers[0].halfs == -2 && t.coef.Sign() > 0 {
			p := atomic(t.powers[0].atom)
			if _, positive := f.sign(t.powers[0].atom); !positive {
				return false, false
			}
			d = rat(t.coef).sub(p)
		}
	}
	more = f.isPositive(d)
	return more || f.isNonneg(d), more
}

func (f *facts) isPositive(e Expr) bool {
	for _, p := range f.positive {
		if f.follows(e, p) {
			return true
		}
	}
	for _, p := range f.nonneg {
		if n, ok := e.sub(p).number(); ok && n.Sign() > 0 {
			return true
		}
	}
	some := false
	for _, t := range e.terms {
		nonneg, positive := f.termSign(t)
		if !nonneg {
			return false
		}
		some = some || positive
	}
	return some
}

func (f *facts) termSign(t term) (nonneg, positive bool) {
	if t.coef.Sign() < 0 {
		return false, false
	}
	positive = true
	for _, p := range t.powers {
		n, pos := f.sign(p.atom)
		even := p.halfs%4 == 0 && p.halfs > 0
		if !n && !even {
			return false, false
		}
		positive = positive && pos
	}
	return true, positive
}

// isNonneg reports whether e >= 0 follows: from the signs of its terms, after
// maxima and absolute values are told apart, lower bounds are taken off, and
// denominators are multiplied out. It never says so wrongly, and may fail to see it.
func (f *facts) isNonneg(e Expr) bool { return f.search(e, 6) }

func (f *facts) search(e Expr, depth int) bool {
	if f.work != nil {
		f.work.left -= e.size()
		f.work.over()
	}
	if f.spent() {
		return false
	}
	if f.byTerms(e) {
		return true
	}
	for _, p := range slices.Concat(f.nonneg, f.positive) {
		if d := e.sub(p); len(d.terms) < len(e.terms) && f.byTerms(d) {
			return true
		}
	}
	if f.byNumbers(e) {
		return true
	}
	if depth == 0 {
		return false
	}
	// One of its arguments is a maximum, whichever: both cases must hold.
	for _, t := range e.terms {
		for _, p := range t.powers {
			a := p.atom
			switch a.op {
			case maximum, minimum:
				for _, x := range a.args {
					where := f
					for _, y := range a.args {
						if d := x.sub(y); a.op == maximum {
							where = where.and(d)
						} else {
							where = where.and(d.neg())
						}
					}
					d, ok := e.replace(a.name, x)
					if !ok || !where.with(a.name, x).search(d, depth-1) {
						return false
					}
				}
				return true
			case absolute:
				for _, x := range []Expr{a.args[0], a.args[0].neg()} {
					d, ok := e.replace(a.name, x)
					if !ok || !f.and(x).search(d, depth-1) {
						return false
					}
				}
				return true
			}
		}
	}
	// Multiplying by a positive denominator keeps the sign.
	for _, t := range e.terms {
		for _, p := range t.powers {
			if p.halfs >= 0 {
				continue
			}
			if _, positive := f.sign(p.atom); !positive {
				return false
			}
			times := atomic(p.atom)
			if p.atom.op == sum {
				times = p.atom.args[0]
			}
			var d Expr
			for _, u := range e.terms {
				at := slices.IndexFunc(u.powers, func(q power) bool { return q.atom.name == p.atom.name })
				if at < 0 || u.powers[at].halfs != -2 {
					d = d.add(Expr{[]term{u}}.mul(times))
					continue
				}
				d = d.add(Expr{[]term{{u.coef, slices.Delete(slices.Clone(u.powers), at, at+1)}}})
			}
			return f.search(d, depth-1)
		}
	}
	// x = low + y, y >= 0, where only whole positive powers of x stand.
	for _, low := range f.lowerBounds(e) {
		y := atomic(&atom{name: low.atom.name + "'", nonneg: true})
		d, ok := e.replace(low.atom.name, low.least.add(y))
		if ok && f.search(d, depth-1) {
			return true
		}
	}
	return false
}

// and are the facts with one more, e >= 0.
func (f *facts) and(e Expr) *facts {
	if len(e.terms) == 0 {
		return f
	}
	return &facts{append(f.nonneg[:len(f.nonneg):len(f.nonneg)], e), f.positive, f.asked, f.work}
}

// with are the facts where an atom is x: also of those that are made of it.
func (f *facts) with(name string, x Expr) *facts {
	g := f
	for i, p := range f.nonneg {
		if !p.has(name) {
			continue
		}
		if q, ok := p.replace(name, x); ok {
			if g == f {
				g = &facts{slices.Clone(f.nonneg), f.positive, f.asked, f.work}
			}
			g.nonneg[i] = q
		}
	}
	return g
}

// byTerms: no term is negative.
func (f *facts) byTerms(e Expr) bool {
	for _, t := range e.terms {
		if nonneg, _ := f.termSign(t); !nonneg {
			return false
		}
	}
	return true
}

type lowerBound struct {
	atom  *atom
	least Expr
}

// lowerBounds are those of the atoms of e: of a parameter what a fact says, of exp(x)
// 1 + x.
func (f *facts) lowerBounds(e Expr) (all []lowerBound) {
	seen := map[string]bool{}
	for _, t := range e.terms {
		for _, p := range t.powers {
			a := p.atom
			if seen[a.name] || p.halfs < 0 || p.halfs%2 != 0 {
				continue
			}
			seen[a.name] = true
			if a.op == exponential {
				all = append(all, lowerBound{a, integer(1).add(a.args[0])})
			}
			if a.op != parameter {
				continue
			}
			for _, p := range slices.Concat(f.nonneg, f.positive) {
				// p = x - least.
				least := atomic(a).sub(p)
				if n, ok := least.number(); ok && n.Sign() > 0 {
					all = append(all, lowerBound{a, least})
				}
			}
		}
	}
	return all
}

// byNumbers compares numbers whose only atoms are roots, logarithms and
// exponentials of numbers, with a margin far above the error of float64.
func (f *facts) byNumbers(e Expr) bool {
	value, size := 0.0, 0.0
	for _, t := range e.terms {
		v, ok := t.near()
		if !ok {
			return false
		}
		value += v
		size += max(v, -v)
	}
	return value > 1e-9*size
}

// near is the value of a term with a relative error below 1e-11, if it is of numbers alone
// and float64 is that close to all that it is made of: there is no overflow, what
// underflows, no logarithm near that of 1, and no exponential of what is large.
func (t term) near() (float64, bool) {
	fits := func(v float64) bool { return v > 1e-100 && v < 1e100 }
	v, _ := t.coef.Float64()
	if !fits(max(v, -v)) {
		return 0, false
	}
	for _, p := range t.powers {
		x := 0.0
		switch a := p.atom; {
		case a.op == rootOf:
			x = a.eval(nil)
		case a.op == logarithm || a.op == exponential:
			if len(a.args[0].terms) != 1 {
				return 0, false
			}
			y, ok := a.args[0].terms[0].near()
			switch {
			case !ok:
				return 0, false
			case a.op == exponential && max(y, -y) < 100:
				x = math.Exp(y)
			case a.op == logarithm && y > 0 && (y < 0.99 || y > 1.01):
				x = math.Log(y)
			}
		}
		by := math.Pow(x, float64(p.halfs)/2)
		if v *= by; !fits(max(x, -x)) || !fits(max(by, -by)) || !fits(max(v, -v)) {
			return 0, false
		}
	}
	return v, true
}

// abs returns |e|.
func (f *facts) abs(e Expr) Expr {
	if len(e.terms) == 0 || f.isNonneg(e) { // 0 is itself where no work is left, too
		return e
	}
	if f.isNonneg(e.neg()) {
		return e.neg()
	}
	if len(e.terms) > 1 {
		// |e| and |-e| are one atom.
		if e.terms[0].coef.Sign() < 0 {
			e = e.neg()
		}
		return call(absolute, "abs", e)
	}
	product := rat(new(big.Rat).Abs(e.terms[0].coef))
	for _, p := range e.terms[0].powers {
		a := p.atom
		if nonneg, _ := f.sign(a); !nonneg {
			a = call(absolute, "abs", atomic(a)).terms[0].powers[0].atom
		}
		product = product.mul(Expr{[]term{{big.NewRat(1, 1), []power{{a, p.halfs}}}}})
	}
	return product
}

// root is the square root. That of c² is |c|, and that of cd is no product of roots
// where both are negative: factors are told apart only where they are known to be no
// less than 0, as the one is that the sign of the whole hangs on.
func (f *facts) root(e Expr) Expr {
	unknown, even := 0, false
	if len(e.terms) == 1 {
		for _, p := range e.terms[0].powers {
			if nonneg, _ := f.sign(p.atom); !nonneg {
				unknown++
				even = even || p.halfs%4 == 0
			}
		}
	}
	if even || unknown > 1 {
		return Expr{[]term{{big.NewRat(1, 1), []power{{asAtom(e), 1}}}}}
	}
	return e.sqrt()
}

// max returns the larger of two, one of them where it is known to be.
func (f *facts) max(x, y Expr) Expr {
	if f.isNonneg(x.sub(y)) {
		return x
	}
	if f.isNonneg(y.sub(x)) {
		return y
	}
	if y.is(x.neg()) {
		return f.abs(x)
	}
	return call(maximum, "max", sorted([]Expr{x, y})...)
}

func (f *facts) min(x, y Expr) Expr {
	if f.isNonneg(x.sub(y)) {
		return y
	}
	if f.isNonneg(y.sub(x)) {
		return x
	}
	return call(minimum, "min", sorted([]Expr{x, y})...)
}
