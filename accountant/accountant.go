// Package accountant turns plans that are fixed in advance into guarantees, and
// searches for the parameter of a plan that meets a guarantee. What it finds is
// valid for that plan only: with adaptively chosen queries, package filter alone
// decides.
//
// It guarantees that a calibrated parameter meets the guarantee asked for, with
// every rounding on the safe side; it does not guarantee that the parameter is
// the least that would.
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
