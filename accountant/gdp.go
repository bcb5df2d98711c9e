package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
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
	sum, exact, limit := new(big.Rat), true, 0.0
	for _, t := range p.terms {
		if t.gdp != nil {
			if mu2 := t.gdp(); mu2 != nil {
				sum.Add(sum, new(big.Rat).Mul(mu2, new(big.Rat).SetFloat64(t.count)))
				exact = exact && t.exact
				if sum.Denom().BitLen() > 1<<12 {
					sum = numeric.CeilDigits(sum, 60)
				}
				continue
			}
		}
		q, mu, ok := poissonGaussian(t.event)
		if !ok || t.rel != privacy.AddRemove {
			return gaussian{}, unsupported(t, "no Gaussian guarantee is known; wrap it as gdp(mu)")
		}
		limit += t.count * q * q * math.Expm1(mu*mu)
	}
	if limit > 0 {
		return gaussian{mu: math.Sqrt(limit + toFloat(sum)), clt: true,
			notes: "an estimate, not a bound: the central limit theorem of Bu, Dong, Long and Su 2020, which can lie below the truth"}, nil
	}
	root := math.Sqrt(toFloat(sum))
	g := gaussian{mu: up(root), notes: fmt.Sprintf("μ = %.9g", root)}
	if exact {
		g.low, g.notes = down(root), g.notes+"; exact"
	} else {
		g.notes += "; an upper bound"
	}
	return g, nil
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
	return answer{b, "both", g.notes}
}
