package accountant

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// selectClaims: the best of K runs, K of the truncated negative binomial law with shape η
// and parameter γ. If one run has Rényi divergence ε at order λ > 1 and ε̂ at order λ̂ >= 1,
// the best one has at order λ at most
//
//	ε + (1+η)(1-1/λ̂)ε̂ + (1+η)ln(1/γ)/λ̂ + ln(E[K])/(λ-1)
//
// (Papernot and Steinke 2022, "Hyperparameter Tuning with Rényi Differential Privacy",
// Theorem 2; Liu and Talwar 2019 for the geometric law); of ε-DP runs it is (2+η)ε-DP
// (Corollary 3 there). It holds for whichever two inputs the divergences are of.
func selectClaims(meter *work.Meter, e privacy.RepeatAndSelect, rel privacy.Neighbours) (claims, error) {
	inner, err := inside(meter, e.Event, rel)
	if err != nil {
		return claims{}, err
	}
	var c claims
	if inner.point != nil {
		if eps, delta := inner.point(); delta.Sign() == 0 {
			c = pureClaims(new(big.Rat).Mul(eps, new(big.Rat).Add(e.Shape, big.NewRat(2, 1))), false)
		}
	}
	if inner.rdp == nil {
		return c, nil
	}
	shape, mean := upFloat(e.Shape), upFloat(e.Mean)
	logInverse := stops(mean, toFloat(e.Shape))
	constant := math.NaN()
	selected := func(orders, out []float64) {
		if math.IsNaN(constant) {
			hats := slices.Concat(DefaultOrders(), extremeOrders(true), extremeOrders(false))
			rs := make([]float64, len(hats))
			inner.rdp(hats, rs)
			least := math.Inf(1)
			for i, h := range hats {
				x := (1-1/h)*rs[i] + logInverse/h
				if math.IsNaN(x) {
					least = x
					break
				}
				least = math.Min(least, x)
			}
			constant = (1 + shape) * least
		}
		inner.rdp(orders, out)
		for i, a := range orders {
			out[i] = (out[i] + constant + math.Log(mean)/(a-1)) * (1 + 4*rdpError)
		}
	}
	c.rdp = least(selected, c.rdp)
	if c.point == nil {
		c.curve = curveOfRDP(c.rdp)
	}
	return c, nil
}

// stops returns ln(1/γ), rounded up, of the law with that mean and shape: with x = ln(1/γ),
// the mean is η(e^x - 1)/(1 - e^(-ηx)), which increases with x from 1.
func stops(mean, shape float64) float64 {
	if mean == 1 {
		return 0
	}
	enough := func(x float64) bool {
		return shape*math.Expm1(x)/-math.Expm1(-shape*x) >= mean*(1+1e-12)
	}
	_, x := bisect(0, 700, enough)
	return x
}
