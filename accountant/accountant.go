// Package accountant turns plans that are fixed in advance into guarantees: ε at a δ and δ at an ε
// by several accountants, curves, trade-offs, and the one event as which a whole plan enters a
// filter. It searches for the unknown number of a plan. Its results are valid for that plan only:
// with adaptively chosen queries, package filter alone decides.
//
// It guarantees that the High of every bound holds for every mechanism that the plan
// describes, with every rounding and approximation counted in, and that Low is no more
// than the worst of them really costs; that a calibrated number meets its target by
// such a bound; and that what cannot be bounded is refused by name. A NaN or a lost
// sign is an error, never a small ε.
//
// It does not guarantee that a bound is the least one: each names its theorem. Nor does it check
// that the plan describes what was done, such as how batches were drawn (see Warning), or that
// Sensitivity is right.
package accountant

import (
	"fmt"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// GaussianRho returns the rho at which Gaussian noise, discrete or continuous, is
// (epsilon, delta)-DP: the noise of L2 sensitivity S then has variance parameter
// σ² = S²/(2·rho). Epsilon and delta must be positive.
//
// Theorem (Canonne, Kamath and Steinke 2020): the discrete Gaussian with
// independent coordinates is S²/(2σ²)-zCDP in any number of dimensions, and
// Corollary 13 there converts zCDP to (ε, δ). Unlike the exact curve of the
// continuous Gaussian, which the discrete one may exceed, this holds for both.
func GaussianRho(epsilon privacy.Epsilon, delta privacy.Delta) (privacy.Rho, error) {
	rho, err := filter.ZCDPRho(epsilon, delta)
	if err != nil {
		return privacy.Rho{}, fmt.Errorf("calibrate Gaussian noise: %w", err)
	}
	return rho, nil
}
