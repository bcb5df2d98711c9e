package local

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// newThreshold returns THE: it reports only whether each of SHE's noisy numbers is above θ (Wang et
// al. 2017, section 4.2). Such a report is a unary encoding with p = 1 − e^(ε(θ−1)/2)/2 and q =
// e^(−εθ/2)/2, and drawn as that. θ is the one of least variance in [1/2, 1]. Its ε is that of the
// encoding, less than SHE's.
func newThreshold(k int, e privacy.Epsilon) *unary {
	theta := bestThreshold(e.Float64())
	t := new(big.Rat)
	t.SetFloat64(theta)                         // finite
	tail := func(x *big.Rat) numeric.Interval { // P(noise > x), x >= 0
		return exp(e, times(big.NewRat(-1, 2), x)).Mul(numeric.Of(half()))
	}
	p := down(not(tail(not(t)).Hi()))
	q := up(tail(t).Hi())
	return &unary{k: k, protocol: THE, threshold: theta, p: newChance(p), q: newChance(q)}
}

// bestThreshold is where the variance is least, by golden section: it has one minimum.
func bestThreshold(eps float64) float64 {
	variance := func(theta float64) float64 {
		above, q := math.Exp(eps*(theta-1)/2)/2, math.Exp(-eps*theta/2)/2
		d := 1 - above - q
		return q * (1 - q) / (d * d)
	}
	lo, hi, golden := 0.5, 1.0, (math.Sqrt(5)-1)/2
	for range 80 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if variance(a) < variance(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return (lo + hi) / 2
}
