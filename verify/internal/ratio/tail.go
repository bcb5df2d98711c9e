package ratio

import (
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// tail bounds the probability that noise, or its opposite, is above t: at least t
// unless strict.
//
// Laplace of scale b: P(x > t) = e^(−t/b)/2 for t >= 0, and 1−e^(t/b)/2 <= e^(−t/b)/2 for
// t < 0, since u + 1/u >= 2.
//
// Discrete Laplace, a = e^(−1/b): P(x >= m) = a^m/(1+a) for whole m >= 1, and
// 1−a^(1−m)/(1+a) <= a^m/(1+a) for m <= 0, since a^m + a^(1−m), convex in m and the same at 0
// and 1, is least there, 1+a. Of any t, x >= t says x >= ⌈t⌉ >= t, and x > t of a whole t
// says x >= t+1.
func (p *prover) tail(law program.Law, scale fraction, t amount, strict, whole bool) (fraction, error) {
	rate, err := p.quo(rational(one), scale)
	if err != nil {
		return fraction{}, err
	}
	if law == program.DiscreteLaplace && strict && whole {
		t = t.plus(fixed(rational(one)))
	}
	power, err := p.raise(t.times(rate.neg()))
	if err != nil {
		return fraction{}, err
	}
	switch law {
	case program.Laplace:
		return power.times(rational(half)), nil
	case program.DiscreteLaplace:
		a, err := p.raise(fixed(rate.neg()))
		if err != nil {
			return fraction{}, err
		}
		return p.quo(power, rational(one).plus(a))
	}
	return fraction{}, undecided("the tail of %v noise", law)
}

// A form is a sum of private leaves and noise with constant factors, and a public
// amount.
type form struct {
	terms  map[string]*big.Rat
	public amount
}

func (f form) plus(g form, k *big.Rat) form {
	sum := form{map[string]*big.Rat{}, f.public.plus(g.public.times(rational(k)))}
	for v, c := range f.terms {
		sum.terms[v] = c
	}
	for v, c := range g.terms {
		c = new(big.Rat).Mul(c, k)
		if old, ok := sum.terms[v]; ok {
			c = c.Add(c, old)
		}
		sum.terms[v] = c
		if c.Sign() == 0 {
			delete(sum.terms, v)
		}
	}
	return sum
}

func (f form) scale(k *big.Rat) form {
	return form{map[string]*big.Rat{}, nothing()}.plus(f, k)
}

// multiple returns k such that the private terms of f are k times those of g.
func (f form) multiple(g form) (*big.Rat, bool) {
	if len(f.terms) != len(g.terms) || len(f.terms) == 0 {
		return nil, false
	}
	var k *big.Rat
	for v, c := range g.terms {
		d, ok := f.terms[v]
		if !ok {
			return nil, false
		}
		r := new(big.Rat).Quo(d, c)
		if k != nil && k.Cmp(r) != 0 {
			return nil, false
		}
		k = r
	}
	return k, true
}
