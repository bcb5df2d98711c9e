package accountant

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// What a plan costs at least, by the mechanisms that it describes: Gaussian noise is
// ρ-zCDP with μ² = 2ρ and attains that at every order (Bun and Steinke 2016, Proposition
// 1.6), so that it is one of those that zcdp(ρ) stands for, as events that are as bad as
// μ-GDP are what they are. Together they are Gaussian noise of Σμ², and to look at these
// results alone is post-processing.

// floor is that μ, rounded down, and 0 where nothing is known.
func (p *flat) floor() float64 {
	sum := new(big.Rat)
	for _, t := range p.terms {
		var mu2 *big.Rat
		if e, ok := t.event.(privacy.ZCDP); ok {
			mu2 = e.Rho.Rat()
			mu2.Add(mu2, mu2)
		} else if t.exact {
			mu2 = t.gdp()
		} else {
			continue
		}
		sum.Add(sum, new(big.Rat).Mul(mu2, new(big.Rat).SetFloat64(t.count)))
		if sum.Denom().BitLen() > 1<<12 {
			sum = numeric.FloorDigits(sum, 60)
		}
	}
	mu := down(down(math.Sqrt(toFloat(sum))))
	if !(mu > 0x1p-500) || math.IsInf(mu, 1) { // the square underflowed or overflowed
		return 0
	}
	return mu
}

func (p *flat) floorEpsilon(delta float64) float64 {
	if mu := p.floor(); mu > 0 {
		if b := gaussianEpsilon(mu, math.Log(delta)); b.check() == nil {
			return max(0, down(b.Low))
		}
	}
	return 0
}

func (p *flat) floorDelta(epsilon float64) float64 {
	if mu := p.floor(); mu > 0 {
		if b := gaussianDelta(mu, epsilon); b.check() == nil {
			return max(0, down(b.Low))
		}
	}
	return 0
}
