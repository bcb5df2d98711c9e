package privacy

import (
	"errors"
	"math/big"
)

// Skellam is noise over the integers, in each coordinate of a vector of integers the
// difference of two Poisson variables of mean Variance/2. Noise of several parties adds up
// to Skellam noise, which makes it one for sums of which no party sees a part. Of
// the vector it knows the L1 sensitivity beside the L2 one, whose square is kept.
//
// As of DiscreteGaussian, the privacy loss distribution is that of one number: accountants
// that use it ask that both sensitivities are the same whole number.
type Skellam struct{ Variance, SensitivitySquared, L1 *big.Rat }

func (Skellam) event() {}

// LeastSkellam is the least variance for which Rho is proved.
const LeastSkellam = 16

// Rho is a ρ for which the noise is ρ-zCDP, of integer vectors; not for variances below LeastSkellam.
//
// Theorem. Skellam noise of variance μ ≥ 16 is Δ²/2(μ−3)-zCDP for vectors of integers of L2 distance Δ.
//
// Let P be the noise and Q the noise moved by 1, M(t) the mean of (P/Q)^t under P, and R(α) = ln M(α−1)/(α−1) the Rényi
// divergence; P and Q are mirror images of each other, so that M(−1−t) = M(t).
//
// (1) Of whole orders α ≥ 2, R(α) ≤ α/2μ + (2α+5)/4μ² (Agarwal, Kairouz and Liu 2021, "The Skellam Mechanism for Differentially
// Private Federated Learning", Theorem 3.5, with both sensitivities 1), which is at most αr, r = (1+2.25/μ)/2μ. So
// M(n) ≤ e^(r·n(n+1)) for n = 1, 2, …
//
// (2) g(t) = (M(t)−1)/t(t+1) is log-convex, and the same at −1−t. For e^(tx) − 1 − t(1−e^−x) is t(t+1) times the integral
// of (1−e^(u−x))·e^(tu) from u = 0 to x, whose integrand has the sign of x. With x = ln(P/Q), the mean under P of
// 1−e^−x is 0: g is a mean of exponentials e^(tu) with weights that are not negative.
//
// (3) For 0 < t < 1, g(t) ≤ g(1) by (2), and (e^2r−1)/2 ≤ r·e^1.01r. For n ≤ t ≤ n+1, ln g(t) lies below the chord of F(t) =
// ln((e^rz−1)/z), z = t(t+1), which exceeds F by at most an eighth of F″; with L(y) = ln((e^y−1)/y), of which L′ < 1 and L″ ≤
// min(1/12, 1/y²), F″ ≤ 2r + r²(4z+1)·L″(rz) ≤ 3.3r. Both ways M(t)−1 ≤ s·(e^rz−1), s = e^1.01r or e^0.42r, in the former case even s·rz; and
// s·(e^rz−1) ≤ e^srz − 1 by Bernoulli's inequality. So R(α) ≤ α·r·e^1.01r for all α > 1, and that is at most α·(1+3/μ)/2μ ≤ α/2(μ−3),
// from μ = 16 on.
//
// (4) A number that moves by m moves m times by 1: m² times that (Bun and Steinke 2016, Proposition 1.9); the numbers
// of a vector have independent noise, and the squares add up.
//
// The bound of (1) is coarse: computed, R(α)/α is no more than (1+0.08/μ²)/2μ.
func (e Skellam) Rho() (rho *big.Rat, ok bool) {
	if e.Variance.Cmp(big.NewRat(LeastSkellam, 1)) < 0 {
		return nil, false
	}
	rho = new(big.Rat).Sub(e.Variance, big.NewRat(3, 1))
	rho.Add(rho, rho)
	return rho.Quo(e.SensitivitySquared, rho), true
}

// Validate implements Event.
func (e Skellam) Validate() error {
	if err := validate("skellam", e.Variance, e.SensitivitySquared); err != nil {
		return err
	}
	switch {
	case e.L1 == nil || e.L1.Sign() <= 0:
		return errors.New("skellam: the L1 sensitivity is missing or not positive")
	case new(big.Rat).Mul(e.L1, e.L1).Cmp(e.SensitivitySquared) < 0:
		return errors.New("skellam: the L1 sensitivity l1 is below the L2 one, which no vector has: of one number both are the same")
	}
	return nil
}

func (e Skellam) String() string               { return text(e) }
func (e Skellam) MarshalJSON() ([]byte, error) { return encode(e) }
