// Package mechanism turns exact numbers into differentially private releases:
// what noise a guarantee needs, what event it makes, and how accurate it is.
//
// It calibrates by closed forms only (Δ/ε, Δ²/2ρ); searches live in package
// accountant. It trusts the sensitivity it is given and charges nothing.
package mechanism

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ErrParameter is wrapped by the refusal of parameters that no guarantee covers.
var ErrParameter = errors.New("bad mechanism parameter")

// An Additive mechanism adds independent noise to integers.
type Additive interface {
	// AddTo adds noise to each value in place; on error the values are undefined
	// and must not be released.
	AddTo(bits noise.Bits, values []*big.Int) error
	// Event is what releasing the noisy values reveals.
	Event() privacy.Event
	// Bound returns a q such that the noise on one value lies in [−q, q] but
	// with probability at most beta.
	Bound(beta *big.Rat) (*big.Int, error)
	// ScaleIn returns the noise's scale (Laplace) or standard deviation
	// (Gaussian) in a unit of which one integer is worth grid.
	ScaleIn(grid *big.Rat) float64
}

// LaplaceOptions say what discrete Laplace noise must hide.
type LaplaceOptions struct {
	// Sensitivity is the L1 distance of the integers between neighbours. Required.
	Sensitivity *big.Rat
	// Epsilon is the pure guarantee of all values together. Required.
	Epsilon privacy.Epsilon
}

type laplace struct {
	*noise.DiscreteLaplace
	sensitivity *big.Rat
}

// NewLaplace returns the mechanism that adds discrete Laplace noise of scale
// Δ₁/ε to each integer.
//
// Theorem (Ghosh, Roughgarden and Sundararajan 2009; Dwork et al. 2006): for
// integers at L1 distance Δ₁, noise P(k) ∝ exp(−|k|·ε/Δ₁) on each is ε-DP.
func NewLaplace(o LaplaceOptions) (Additive, error) {
	if o.Sensitivity == nil || o.Sensitivity.Sign() <= 0 {
		return nil, fmt.Errorf("%w: the sensitivity is not positive", ErrParameter)
	}
	if o.Epsilon.Sign() <= 0 {
		return nil, fmt.Errorf("%w: epsilon is not positive", ErrParameter)
	}
	n, err := noise.NewDiscreteLaplace(new(big.Rat).Quo(o.Sensitivity, o.Epsilon.Rat()))
	if err != nil {
		return nil, fmt.Errorf("calibrate Laplace noise: %w", err)
	}
	return laplace{n, new(big.Rat).Set(o.Sensitivity)}, nil
}

func (l laplace) Event() privacy.Event {
	return privacy.DiscreteLaplace{Scale: l.Scale(), Sensitivity: new(big.Rat).Set(l.sensitivity)}
}

func (l laplace) ScaleIn(grid *big.Rat) float64 {
	f, _ := new(big.Rat).Mul(l.Scale(), grid).Float64()
	return f
}

// GaussianOptions say what discrete Gaussian noise must hide.
type GaussianOptions struct {
	// SensitivitySquared is the square of the L2 distance of the integers
	// between neighbours. Required.
	SensitivitySquared *big.Rat
	// Rho is the zCDP guarantee of all values together. Required.
	Rho privacy.Rho
}

type gaussian struct {
	*noise.DiscreteGaussian
	sensitivitySquared *big.Rat
}

// NewGaussian returns the mechanism that adds discrete Gaussian noise of
// variance parameter Δ₂²/(2ρ) to each integer.
//
// Theorem (Canonne, Kamath and Steinke 2020, Theorem 14): for integers at L2
// distance Δ₂, independent noise P(k) ∝ exp(−k²/2σ²) on each is Δ₂²/(2σ²)-zCDP.
func NewGaussian(o GaussianOptions) (Additive, error) {
	if o.SensitivitySquared == nil || o.SensitivitySquared.Sign() <= 0 {
		return nil, fmt.Errorf("%w: the sensitivity is not positive", ErrParameter)
	}
	if o.Rho.Sign() <= 0 {
		return nil, fmt.Errorf("%w: rho is not positive", ErrParameter)
	}
	twice := o.Rho.Rat()
	n, err := noise.NewDiscreteGaussian(new(big.Rat).Quo(o.SensitivitySquared, twice.Add(twice, twice)))
	if err != nil {
		return nil, fmt.Errorf("calibrate Gaussian noise: %w", err)
	}
	return gaussian{n, new(big.Rat).Set(o.SensitivitySquared)}, nil
}

func (g gaussian) Event() privacy.Event {
	return privacy.DiscreteGaussian{Variance: g.Variance(), SensitivitySquared: new(big.Rat).Set(g.sensitivitySquared)}
}

// ScaleIn returns σ, which bounds the standard deviation from above.
func (g gaussian) ScaleIn(grid *big.Rat) float64 {
	v := new(big.Rat).Mul(g.Variance(), new(big.Rat).Mul(grid, grid))
	f, _ := new(big.Float).Sqrt(new(big.Float).SetPrec(100).SetRat(v)).Float64()
	return f
}
