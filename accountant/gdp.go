package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Gaussian differential privacy (Dong, Roth and Su 2022): events as hard to tell
// apart as N(0,1) and N(μ_i,1) compose to √(Σμ_i²) (Corollary 3.3), and that is
// exact for Gaussian noise. The (ε, δ) curve is that of Balle and Wang 2018,
// Theorem 8.
//
// For Poisson-subsampled Gaussian noise there is a central limit theorem (Bu, Dong,
// Long and Su 2020): μ = q√(T(e^(1/σ²)-1)). It is a limit, not a bound, and can lie
// below the truth; here it is an estimate whose High is +Inf.

type gaussian struct {
	mu    float64 // rounded up, unless clt
	low   float64 // a μ that the plan is at least as bad as
	clt   bool
	notes string
}

func (p *flat) gaussian() (gaussian, error) {
	sum, err := p.muSquaredSum()
	if err != nil {
		limit, ok := p.limit()
		if !ok {
			return gaussian{}, err
		}
		return gaussian{mu: limit, clt: true,
			notes: "an estimate, not a bound: the central limit theorem of Bu, Dong, Long and Su 2020, which can lie below the truth"}, nil
	}
	low, high := numeric.Of(sum).Sqrt().Float64s()
	g := gaussian{mu: high, notes: fmt.Sprintf("μ = %.9g", high)}
	if p.exactlyGaussian() {
		g.low, g.notes = low, g.notes+"; exact"
	} else {
		g.notes += "; an upper bound"
	}
	return g, nil
}

// muSquaredSum adds up μ², rounded up.
func (p *flat) muSquaredSum() (*big.Rat, error) {
	sum := new(big.Rat)
	for _, t := range p.terms {
		p.meter.Spend(perTerm)
		var mu2 *big.Rat
		if t.gdp != nil {
			mu2 = t.gdp()
		}
		if mu2 == nil {
			return nil, unsupported(t, "no Gaussian guarantee is known; wrap it as gdp(mu)")
		}
		sum.Add(sum, new(big.Rat).Mul(mu2, new(big.Rat).SetFloat64(t.count)))
		if sum.Denom().BitLen() > 1<<12 {
			sum = numeric.CeilDigits(sum, 60)
		}
	}
	return sum, nil
}

// exactlyGaussian reports whether the plan is as bad as N(0,1) against N(μ,1).
func (p *flat) exactlyGaussian() bool {
	for _, t := range p.terms {
		if !t.exact {
			return false
		}
	}
	return true
}

// limit is the μ of the central limit theorem.
func (p *flat) limit() (mu float64, ok bool) {
	for i, t := range p.terms {
		g := p.noise(i)
		switch {
		case g.mu == 0 || t.replaces():
			return 0, false
		case g.rate == 1:
			mu += t.count * g.mu * g.mu
		default:
			mu += t.count * g.rate * g.rate * math.Expm1(g.mu*g.mu)
		}
	}
	return math.Sqrt(mu), !math.IsInf(mu, 1)
}

func gdpEpsilon(p *flat, delta float64) (answer, error) {
	g, err := p.gaussian()
	if err != nil {
		return answer{}, err
	}
	logDelta := math.Log(delta)
	return g.answer(func(mu float64) Bracket { return gaussianEpsilon(mu, logDelta) }), nil
}

func gdpDelta(p *flat, epsilon float64) (answer, error) {
	g, err := p.gaussian()
	if err != nil {
		return answer{}, err
	}
	a := g.answer(func(mu float64) Bracket { return gaussianDelta(mu, epsilon) })
	a.High = math.Min(1, a.High)
	return a, nil
}

func (g gaussian) answer(at func(mu float64) Bracket) answer {
	b := at(g.mu)
	switch {
	case g.clt:
		b.Low, b.High = 0, math.Inf(1)
	case g.low > 0:
		b.Low = at(g.low).Low
	default:
		b.Low = 0
	}
	return answer{b, Both, g.notes, nil}
}
