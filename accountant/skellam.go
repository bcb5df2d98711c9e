package accountant

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// skellamClaims: the Rényi divergence of Skellam noise of variance μ on integers, with the
// sensitivities Δ1 in L1 and Δ2 in L2, is of every whole order α > 1 at most
//
//	αΔ2²/(2μ) + min(((2α-1)Δ2² + 6Δ1)/(4μ²), 3Δ1/(2μ))
//
// (Agarwal, Kairouz and Liu 2021, "The Skellam Mechanism for Differentially Private
// Federated Learning", Theorem 3.5). Between whole orders (α-1)R(α) lies below its chord,
// as for givenRDP. No ε-DP, zCDP or μ is known: the theorem is of whole orders, and
// just above 1 its chord is twice as high as a ρ would have it.
func skellamClaims(e privacy.Skellam) claims {
	l1 := upFloat(e.L1)
	over := upFloat(new(big.Rat).Quo(e.SensitivitySquared, e.Variance)) // Δ2²/μ
	mu := toFloat(e.Variance)
	cumulant := func(n float64) float64 { // (n-1)R(n)
		return (n - 1) * (n*over/2 + math.Min(((2*n-1)*over+6*l1/mu)/(4*mu), 3*l1/(2*mu)))
	}
	rdp := each(func(a float64) float64 {
		n := math.Floor(a)
		w := a - n
		k := (1-w)*cumulant(n) + w*cumulant(n+1)
		return k * (1 + rdpError) / (a - 1)
	})
	return claims{rdp: rdp, curve: curveOfRDP(rdp)}
}
