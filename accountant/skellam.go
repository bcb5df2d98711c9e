package accountant

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// skellamClaims: the Rényi divergence of Skellam noise of variance μ on integers, with the
// sensitivities Δ1 in L1 and Δ2 in L2, is of every whole order α > 1 at most
//
//	αΔ2²/(2μ) + min(((2α-1)Δ2² + 6Δ1)/(4μ²), 3Δ1/(2μ))
//
// (Agarwal, Kairouz and Liu 2021, "The Skellam Mechanism for Differentially Private
// Federated Learning", Theorem 3.5). Between whole orders (α-1)R(α) lies below its chord,
// as for givenRDP. From it follows ρ = Δ2²/2(μ-3) from μ = 16 on, which is less just above 1
// (privacy.Skellam has the theorem). No ε-DP and no μ is known.
func skellamClaims(meter *work.Meter, e privacy.Skellam) claims {
	l1 := upFloat(e.L1)
	over := upFloat(new(big.Rat).Quo(e.SensitivitySquared, e.Variance)) // Δ2²/μ
	mu := toFloat(e.Variance)
	cumulant := func(n float64) float64 { // (n-1)R(n)
		return (n - 1) * (n*over/2 + math.Min(((2*n-1)*over+6*l1/mu)/(4*mu), 3*l1/(2*mu)))
	}
	whole := each(func(a float64) float64 {
		n := math.Floor(a)
		w := a - n
		k := (1-w)*cumulant(n) + w*cumulant(n+1)
		return k * (1 + rdpError) / (a - 1)
	})
	rho, ok := e.Rho()
	if !ok {
		return claims{rdp: whole, curve: curveOfRDP(whole)}
	}
	c := zcdpClaims(meter, rho)
	rdp := func(orders, out []float64) {
		least := make([]float64, len(out))
		whole(orders, least)
		c.rdp(orders, out)
		for i := range out {
			out[i] = math.Min(out[i], least[i])
		}
	}
	curve := curveOfRDP(rdp)
	return claims{rdp: rdp, zcdp: c.zcdp, curve: func(logDelta float64) float64 { return math.Min(curve(logDelta), c.curve(logDelta)) }}
}
