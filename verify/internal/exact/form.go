package exact

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A form is an exact linear form over draws, c + Σ coefficient·draw. It is immutable.
type form struct {
	c *big.Rat
	// near is set on a constant that is no known rational: exp, log, sqrt. It lies
	// in there, and c is nil.
	near  *numeric.Interval
	terms []formTerm // by draw, coefficients not zero
}

type formTerm struct {
	draw        int
	coefficient *big.Rat
}

func constant(r *big.Rat) *form { return &form{c: r} }

func truth(b bool) *form {
	if b {
		return constant(big.NewRat(1, 1))
	}
	return constant(new(big.Rat))
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
	return numeric.Of(f.c)
}

// plus is f + by·g, and false where it would be a draw plus an irrational number.
func (f *form) plus(g *form, by *big.Rat) (*form, bool) {
	if f.near != nil || g.near != nil {
		if !f.concrete() || !g.concrete() {
			return nil, false
		}
		near := f.enclosure().Add(g.enclosure().Mul(numeric.Of(by)))
		return &form{near: &near}, true
	}
	h := &form{c: new(big.Rat).Mul(g.c, by)}
	h.c.Add(h.c, f.c)
	h.terms = addTerms(f.terms, g.terms, by)
	return h, true
}

// addTerms is the linear part of f + by·g.
func addTerms(f, g []formTerm, by *big.Rat) []formTerm {
	if len(g) == 0 || by.Sign() == 0 {
		return f
	}
	sum := make([]formTerm, 0, len(f)+len(g))
	for len(f) > 0 || len(g) > 0 {
		switch {
		case len(g) == 0 || len(f) > 0 && f[0].draw < g[0].draw:
			sum, f = append(sum, f[0]), f[1:]
		case len(f) == 0 || g[0].draw < f[0].draw:
			sum, g = append(sum, formTerm{g[0].draw, new(big.Rat).Mul(g[0].coefficient, by)}), g[1:]
		default:
			c := new(big.Rat).Mul(g[0].coefficient, by)
			if c.Add(c, f[0].coefficient).Sign() != 0 {
				sum = append(sum, formTerm{f[0].draw, c})
			}
			f, g = f[1:], g[1:]
		}
	}
	return sum
}

// times is c·f.
func (f *form) times(c *big.Rat) *form {
	if f.near != nil {
		near := f.near.Mul(numeric.Of(c))
		return &form{near: &near}
	}
	if c.Sign() == 0 {
		return constant(new(big.Rat))
	}
	g := &form{c: new(big.Rat).Mul(f.c, c), terms: make([]formTerm, len(f.terms))}
	for i, t := range f.terms {
		g.terms[i] = formTerm{t.draw, new(big.Rat).Mul(t.coefficient, c)}
	}
	return g
}

// sign is the sign of a concrete form, and false where its interval holds zero.
func (f *form) sign() (int, bool) {
	if f.near == nil {
		return f.c.Sign(), true
	}
	switch {
	case f.near.Positive():
		return 1, true
	case f.near.Neg().Positive():
		return -1, true
	}
	return 0, false
}
