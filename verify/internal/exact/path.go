package exact

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A draw is one of noise on a path.
type draw struct {
	law       program.Law
	parameter rational
}

func (d draw) continuous() bool {
	return d.law == program.Laplace || d.law == program.Exponential || d.law == program.Gaussian
}

// A limit is a number, or none.
type limit struct {
	rational
	set bool
}

// A bound is lo <= Σ terms <= hi, the first coefficient being 1.
type bound struct {
	terms          []formTerm
	lo, hi         limit
	loOpen, hiOpen bool
	continuous     bool
}

// empty reports whether nothing but a null set is left.
func (b bound) empty() bool {
	if !b.lo.set || !b.hi.set {
		return false
	}
	c := b.lo.cmp(b.hi.rational)
	return c > 0 || c == 0 && (b.continuous || b.loOpen || b.hiOpen)
}

// A region is what one path asks of its draws, which are otherwise independent, and
// the probability of its coins.
type region struct {
	draws  []draw
	bounds []bound
	coins  *numeric.Interval // nil is 1
}

// canonical writes f >= 0, or f > 0, as a comparison of a linear part with leading
// coefficient 1: it is at least v, or where flipped is set at most v.
func canonical(f *form) (terms []formTerm, v rational, flipped bool) {
	lead := f.terms[0].coefficient
	if lead.cmp(integer(1)) == 0 {
		return f.terms, f.c.negated(), false
	}
	g := f.times(lead.inverse())
	return g.terms, g.c.negated(), lead.sign() < 0
}

func sameTerms(f, g []formTerm) bool {
	return slices.EqualFunc(f, g, func(s, t formTerm) bool {
		return s.draw == t.draw && s.coefficient.cmp(t.coefficient) == 0
	})
}

// bound finds what the region says of a linear part.
func (r *region) bound(terms []formTerm) (bound, int) {
	for i, b := range r.bounds {
		if sameTerms(b.terms, terms) {
			return b, i
		}
	}
	b := bound{terms: terms}
	for _, t := range terms {
		b.continuous = b.continuous || r.draws[t.draw].continuous()
	}
	return b, -1
}

// decide reports whether Σ terms >= v, or > v, and if the region says so at all.
// Ties of continuous noise have no probability, and count either way.
func (r *region) decide(terms []formTerm, v rational, strict bool) (holds, decided bool) {
	b, _ := r.bound(terms)
	if b.lo.set {
		if c := b.lo.cmp(v); c > 0 || c == 0 && (!strict || b.loOpen || b.continuous) {
			return true, true
		}
	}
	if b.hi.set {
		if c := b.hi.cmp(v); c < 0 || c == 0 && (strict || b.hiOpen || b.continuous) {
			return false, true
		}
	}
	return false, false
}

// assume narrows the region to Σ terms >= v (> v) or, with below, to < v (<= v),
// and reports whether anything is left.
func (r *region) assume(terms []formTerm, v rational, strict, below bool) bool {
	b, i := r.bound(terms)
	if below {
		if !b.hi.set || v.cmp(b.hi.rational) < 0 || v.cmp(b.hi.rational) == 0 && !strict {
			b.hi, b.hiOpen = limit{v, true}, !strict
		}
	} else if !b.lo.set || v.cmp(b.lo.rational) > 0 || v.cmp(b.lo.rational) == 0 && strict {
		b.lo, b.loOpen = limit{v, true}, strict
	}
	if i < 0 {
		r.bounds = append(slices.Clip(r.bounds), b)
	} else {
		r.bounds = slices.Clone(r.bounds)
		r.bounds[i] = b
	}
	return !b.empty()
}

// blur pays for a comparison of a form that has a slack: where draws put it so close
// to what it is compared with that the slack matters, which has at most the
// probability of twice the slack times the density of any one draw in it. It
// reports false where there is no such density.
//
// What is explored is a function with rationals in place of some numbers. With the
// same noise it takes the path of the function itself unless one of its comparisons
// is that close; so all comparisons of all paths together, those that are cut off
// too, bound the error of an event's probability.
//
// Whole noise has no density, and needs none where no whole number lies between the two.
func (x *explorer) blur(r *region, f *form) bool {
	if f.slack == 0 || r.apart(f) {
		return true
	}
	least := math.Inf(1)
	for _, t := range f.terms {
		if d := r.draws[t.draw]; d.continuous() {
			least = min(least, size(d.parameter.times(t.coefficient.abs()).inverse()))
		}
	}
	x.slack = above(x.slack + 3*f.slack*least)
	return !math.IsInf(least, 1)
}

// apart reports whether f is a whole combination of whole draws whose constant is on one
// side of all whole numbers, whatever its slack hides.
func (r *region) apart(f *form) bool {
	for _, t := range f.terms {
		if r.draws[t.draw].continuous() || !t.coefficient.isInt() {
			return false
		}
	}
	slack := new(big.Rat).SetFloat64(f.slack)
	if slack == nil {
		return false
	}
	lo, hi := new(big.Rat).Sub(f.c.rat(), slack), new(big.Rat).Add(f.c.rat(), slack)
	return numeric.Ceil(lo).Cmp(numeric.Floor(hi)) > 0
}

// toss multiplies the probability of the region's coins.
func (r *region) toss(p numeric.Interval) {
	if r.coins != nil {
		p = r.coins.Mul(p)
	}
	r.coins = &p
}

// atLeast decides f >= 0, or f > 0.
func (x *explorer) atLeast(s *state, f *form, strict bool) (bool, error) {
	if f.concrete() {
		sign, ok := f.sign()
		if !ok {
			return false, unsupported("a comparison of irrational numbers that are equal, or nearly")
		}
		return sign > 0 || sign == 0 && !strict, nil
	}
	if !x.blur(&s.region, f) {
		return false, unsupported("whole noise beside an irrational number")
	}
	terms, v, flipped := canonical(f)
	// At most v is not above v; below v is not at least v.
	holds, decided := s.decide(terms, v, strict != flipped)
	if !decided {
		return false, &undecided{terms, v, strict != flipped}
	}
	return holds != flipped, nil
}

// isZero decides f = 0.
func (x *explorer) isZero(s *state, f *form) (bool, error) {
	if f.concrete() {
		sign, ok := f.sign()
		if !ok {
			return false, unsupported("a comparison of irrational numbers that are equal, or nearly")
		}
		return sign == 0, nil
	}
	if !x.blur(&s.region, f) {
		return false, unsupported("whole noise beside an irrational number")
	}
	terms, v, _ := canonical(f)
	if b, _ := s.bound(terms); b.continuous {
		return false, nil // with probability 1
	}
	for _, strict := range []bool{false, true} {
		holds, decided := s.decide(terms, v, strict)
		if !decided {
			return false, &undecided{terms, v, strict}
		}
		if holds == strict {
			return false, nil
		}
	}
	return true, nil
}
