package exact

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A form is an exact linear form over draws, c + Σ coefficient·draw. It is immutable.
type form struct {
	c rational
	// near is set on a constant that is no known rational: exp, log, sqrt. It lies
	// in there, and c is 0.
	near *numeric.Interval
	// slack bounds how far c is from a number that is no known rational and stands
	// beside draws.
	slack float64
	terms []formTerm // by draw, coefficients not zero
}

type formTerm struct {
	draw        int
	coefficient rational
}

func constant(r rational) *form { return &form{c: r} }

func truth(b bool) *form {
	if b {
		return constant(integer(1))
	}
	return constant(rational{})
}

// known reports whether the form is a rational constant.
func (f *form) known() bool { return len(f.terms) == 0 && f.near == nil }

// concrete reports whether the form is a constant.
func (f *form) concrete() bool { return len(f.terms) == 0 }

// enclosure is the interval around a concrete form.
func (f *form) enclosure() numeric.Interval {
	if f.near != nil {
		return *f.near
	}
	return numeric.Of(f.c.rat())
}

// plus is f + by·g, and false where it would be a draw plus an irrational number.
func (f *form) plus(g *form, by rational) (*form, bool) {
	if f.near != nil || g.near != nil {
		if !f.concrete() || !g.concrete() {
			a, ok1 := f.approximate()
			b, ok2 := g.approximate()
			if !ok1 || !ok2 {
				return nil, false
			}
			h, ok := a.plus(b, by)
			return h, ok && len(h.terms) > 0
		}
		near := f.enclosure().Add(g.enclosure().Mul(numeric.Of(by.rat())))
		return &form{near: &near}, true
	}
	h := &form{c: f.c.plus(g.c.times(by)), terms: addTerms(f.terms, g.terms, by), slack: f.slack}
	if g.slack > 0 {
		h.slack = 2 * (h.slack + g.slack*size(by))
	}
	// A constant with a slack is none that can be decided with.
	return h, h.slack == 0 || len(h.terms) > 0 || f.concrete()
}

// addTerms is the linear part of f + by·g.
func addTerms(f, g []formTerm, by rational) []formTerm {
	if len(g) == 0 || by.sign() == 0 {
		return f
	}
	sum := make([]formTerm, 0, len(f)+len(g))
	for len(f) > 0 || len(g) > 0 {
		switch {
		case len(g) == 0 || len(f) > 0 && f[0].draw < g[0].draw:
			sum, f = append(sum, f[0]), f[1:]
		case len(f) == 0 || g[0].draw < f[0].draw:
			sum, g = append(sum, formTerm{g[0].draw, g[0].coefficient.times(by)}), g[1:]
		default:
			if c := f[0].coefficient.plus(g[0].coefficient.times(by)); c.sign() != 0 {
				sum = append(sum, formTerm{f[0].draw, c})
			}
			f, g = f[1:], g[1:]
		}
	}
	return sum
}

// times is c·f.
func (f *form) times(c rational) *form {
	if f.near != nil {
		near := f.near.Mul(numeric.Of(c.rat()))
		return &form{near: &near}
	}
	if c.sign() == 0 {
		return constant(rational{})
	}
	g := &form{c: f.c.times(c), slack: 2 * f.slack * size(c), terms: make([]formTerm, len(f.terms))}
	for i, t := range f.terms {
		g.terms[i] = formTerm{t.draw, t.coefficient.times(c)}
	}
	return g
}

// sign is the sign of a concrete form, and false where its interval holds zero.
func (f *form) sign() (int, bool) {
	if f.near == nil {
		return f.c.sign(), true
	}
	switch {
	case f.near.Positive():
		return 1, true
	case f.near.Neg().Positive():
		return -1, true
	}
	return 0, false
}

// places is the precision, in bits, of a rational that stands for a number that is
// none. What it costs a probability is some 2^-places.
const places = 32

// approximate is the form with a rational and a slack in place of an irrational
// number.
func (f *form) approximate() (*form, bool) {
	if f.near == nil {
		return f, true
	}
	lo := f.near.Lo()
	scaled := numeric.Floor(new(big.Rat).Mul(lo, new(big.Rat).SetInt64(1<<places)))
	c := new(big.Rat).Quo(new(big.Rat).SetInt(scaled), new(big.Rat).SetInt64(1<<places))
	width := new(big.Rat).Sub(f.near.Hi(), c)
	w, _ := width.Float64()
	if !(w < 0x1p-20) {
		return nil, false
	}
	return &form{c: rationalOf(c), slack: 2 * w}, true
}

// size is an upper bound of |x|.
func size(x rational) float64 {
	if x.small() { // the quotient is the nearest float64, as that of a big.Rat is
		return above(math.Abs(float64(x.n)) / float64(max(x.d, 1)))
	}
	f, _ := x.abs().rat().Float64()
	return above(f)
}
