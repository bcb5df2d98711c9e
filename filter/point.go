package filter

import (
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// What the events guarantee, each with its theorem. An event that is in none of
// these lists, such as one that is amplified by sampling, enters a filter by a
// certified guarantee that an accountant found for it.

// point returns epsilon and delta of an event that is (ε, δ)-DP.
func point(e privacy.Event) (epsilon, delta *big.Rat, ok bool) {
	zero := new(big.Rat)
	switch e := e.(type) {
	// A shift by S of noise with scale b changes no probability by more than
	// e^(S/b) (Dwork et al. 2006; over a grid, Ghosh et al. 2009).
	case privacy.Laplace:
		return new(big.Rat).Quo(e.Sensitivity, e.Scale), zero, true
	case privacy.DiscreteLaplace:
		return new(big.Rat).Quo(e.Sensitivity, e.Scale), zero, true
	case privacy.Pure:
		return e.Epsilon.Rat(), zero, true
	case privacy.Exponential:
		return e.Epsilon.Rat(), zero, true
	case privacy.PermuteAndFlip:
		return e.Epsilon.Rat(), zero, true
	case privacy.NoisyMax:
		return e.Epsilon.Rat(), zero, true
	case privacy.SparseVector:
		return e.Epsilon.Rat(), zero, true
	case privacy.RandomizedResponse:
		return responseEpsilon(e), zero, true
	case privacy.Pair:
		ratio, only := e.Worst()
		eps := numeric.CeilDigits(numeric.Of(ratio).Log().Hi(), 60)
		if eps.Sign() < 0 { // ln 1, rounded
			eps = zero
		}
		return eps, only, true
	case privacy.Approx:
		return e.Epsilon.Rat(), e.Delta.Rat(), true
	case privacy.Selection:
		return e.Epsilon.Rat(), e.Delta.Rat(), true
	}
	return nil, nil, false
}

// responseEpsilon returns |ln(p/q)|, rounded up, where q = (1-p)/(k-1) is the
// probability of each untrue answer: an answer has one of the two probabilities,
// whatever is true.
func responseEpsilon(e privacy.RandomizedResponse) *big.Rat {
	q := new(big.Rat).Sub(big.NewRat(1, 1), e.P)
	q.Quo(q, big.NewRat(int64(e.K-1), 1))
	ratio := new(big.Rat).Quo(e.P, q)
	if ratio.Cmp(big.NewRat(1, 1)) < 0 {
		ratio.Inv(ratio)
	}
	return numeric.CeilDigits(numeric.Of(ratio).Log().Hi(), 60)
}

// gaussianSquare returns μ² of an event that is exactly as hard to tell apart as
// N(0,1) and N(μ,1), or harder.
func gaussianSquare(e privacy.Event) (*big.Rat, bool) {
	switch e := e.(type) {
	// Gaussian noise is S/σ-GDP (Dong, Roth and Su 2022, Theorem 1).
	case privacy.Gaussian:
		return new(big.Rat).Quo(e.SensitivitySquared, e.Variance), true
	// A unit is in one leaf and the nodes above it, each with its own noise.
	case privacy.Tree:
		ratio := new(big.Rat).Quo(e.Sensitivity, e.Sigma)
		ratio.Mul(ratio, ratio)
		return ratio.Mul(ratio, big.NewRat(treeNodes(e), 1)), true
	case privacy.GDP:
		return new(big.Rat).Mul(e.Mu, e.Mu), true
	}
	return nil, false
}

func treeNodes(e privacy.Tree) int64 { return int64(bits.Len64(uint64(e.Leaves-1))) + 1 }

// concentrated returns rho of an event that is ρ-zCDP.
func concentrated(e privacy.Event) (*big.Rat, bool) {
	// What is μ-GDP is post-processing of N(0,1) or N(μ,1) (Dong, Roth and Su 2022,
	// Theorem 2, after Blackwell), which is μ²/2-zCDP (Bun and Steinke 2016,
	// Proposition 1.6).
	if square, ok := gaussianSquare(e); ok {
		return square.Quo(square, big.NewRat(2, 1)), true
	}
	switch e := e.(type) {
	// Discrete Gaussian noise, with independent coordinates on the grid, is
	// S²/(2σ²)-zCDP as well (Canonne, Kamath and Steinke 2020, Theorem 4 and its
	// multivariate form), but not S/σ-GDP.
	case privacy.DiscreteGaussian:
		rho := new(big.Rat).Quo(e.SensitivitySquared, e.Variance)
		return rho.Quo(rho, big.NewRat(2, 1)), true
	case privacy.Skellam:
		return e.Rho()
	case privacy.ZCDP:
		return e.Rho.Rat(), true
	// A log-ratio that stays in an interval of length ε is, centred, sub-Gaussian
	// with variance ε²/4 (Hoeffding's lemma), which is ε²/8-zCDP (Cesar and Rogers
	// 2021, "Bounding, Concentrating, and Truncating", Lemma 3.4). Permute-and-flip
	// has no such interval.
	case privacy.Exponential:
		eps := e.Epsilon.Rat()
		return eps.Quo(eps.Mul(eps, eps), big.NewRat(8, 1)), true
	}
	return nil, false
}
