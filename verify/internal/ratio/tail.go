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
//
// Gaussian noise of deviation s: P(x > t) <= e^(−t²/2s²)/2 for t >= 0 (the quotient of the two
// decreases from 1). Discrete Gaussian noise is subgaussian with s (Canonne, Kamath and Steinke
// 2020): P(x >= t) <= e^(−t²/2s²).
func (p *prover) tail(law program.Law, scale fraction, t amount, strict, whole bool) (fraction, error) {
	if law == program.Gaussian || law == program.DiscreteGaussian {
		if len(t.logs) > 0 || !p.nonnegative(t.rest.num) {
			return fraction{}, undecided("that %v is not negative", t)
		}
		x, err := p.quo(t.rest, scale)
		if err != nil {
			return fraction{}, err
		}
		square, err := p.squared(x.times(x))
		if err != nil {
			return fraction{}, err
		}
		return p.bell(law, square)
	}
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

// bell is the bound of the tail of Gaussian noise from a square of deviations on.
func (p *prover) bell(law program.Law, square amount) (fraction, error) {
	power, err := p.raise(square.times(rational(big.NewRat(-1, 2))))
	if law == program.Gaussian {
		power = power.times(rational(half))
	}
	return power, err
}

// gaussian is what it costs that the sum of Gaussian noise and of what moves by at most d
// is equal.
//
// For noise x of deviation s that is shifted by −d, the densities have the ratio
// e^((d²−2xd)/2s²), which exceeds e^ε only where −x is above t = εs²/d − d/2 (Dwork and Roth
// 2014, Appendix A): that is the bad event. Its probability is bounded by the tail from
// (t/s)² = (εs/d)² − ε + (d/2s)² >= (εs/d)² − ε on, if t >= 0, that is (εs/d)² >= ε/2. A smaller
// shift is a smaller event: t falls with d.
func (p *prover) gaussian(law program.Law, scale, d fraction) (cost, error) {
	if len(d.num) == 0 {
		return free(), nil
	}
	if p.share == nil {
		return cost{}, undecided("Gaussian noise costs a delta, and the claim has none")
	}
	x, err := p.quo(p.share.times(scale), d)
	if err != nil {
		return cost{}, err
	}
	square, err := p.squared(x.times(x))
	if err != nil {
		return cost{}, err
	}
	if !p.covers(square, fixed(p.share.times(rational(half)))) {
		return cost{}, undecided("that Gaussian noise of deviation %v is enough for %v", scale, p.share)
	}
	delta, err := p.bell(law, square.plus(fixed(p.share.neg())))
	return cost{fixed(*p.share), delta}, err
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
