// Package mechanism turns exact numbers into differentially private releases: how much
// noise a guarantee needs, which event a release makes, and how accurate it is.
//
// It guarantees that a release reveals at most what its event states, if the query's
// sensitivity is at most the one that was given. It calibrates by closed forms only
// (Δ/ε, Δ²/2ρ); searches live in package accountant.
//
// It does not guarantee the sensitivity, and charges nothing: the caller answers for both.
package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ErrParameter is wrapped by the refusal of parameters that no guarantee covers.
var ErrParameter = errors.New("bad mechanism parameter")

// An Additive mechanism adds independent noise to integers.
type Additive interface {
	// AddTo adds independent noise to each value in place; on an error all values
	// are nil.
	AddTo(bits noise.Bits, values []*big.Int) error
	// Event is what releasing the noisy values reveals.
	Event() privacy.Event
	// Bound returns a q such that the noise on one value lies in [−q, q] but
	// with probability at most beta: the half width of an interval with
	// confidence 1−beta, the accuracy at beta. Bound(beta/n) holds for n values
	// together.
	Bound(beta *big.Rat) (*big.Int, error)
	// Variance is that of the noise on one value, for Gaussian noise an upper
	// bound; rounded to float64.
	Variance() float64
	// ScaleIn returns the noise's scale (Laplace) or standard deviation
	// (Gaussian) in a unit of which one integer is worth grid.
	ScaleIn(grid *big.Rat) float64
}

func checkPositive(name string, r *big.Rat) error {
	if r == nil || r.Sign() <= 0 {
		return fmt.Errorf("%w: %s is missing or not positive", ErrParameter, name)
	}
	return nil
}

// LaplaceOptions say what discrete Laplace noise must hide.
type LaplaceOptions struct {
	// Sensitivity is the L1 distance of the integers between neighbours. Required.
	Sensitivity *big.Rat
	// Epsilon is the pure guarantee of all values together. Required.
	Epsilon privacy.Epsilon
}

// laplace is discrete Laplace noise that hides a sensitivity.
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
	if err := checkPositive("the sensitivity", o.Sensitivity); err != nil {
		return nil, err
	}
	if err := checkPositive("epsilon", o.Epsilon.Rat()); err != nil {
		return nil, err
	}
	n, err := noise.NewDiscreteLaplace(new(big.Rat).Quo(o.Sensitivity, o.Epsilon.Rat()))
	if err != nil {
		return nil, fmt.Errorf("calibrate Laplace noise: %w: %w", ErrParameter, err)
	}
	return laplace{n, new(big.Rat).Set(o.Sensitivity)}, nil
}

func (l laplace) Event() privacy.Event {
	return privacy.DiscreteLaplace{Scale: l.Scale(), Sensitivity: new(big.Rat).Set(l.sensitivity)}
}

// Variance is 2p/(1−p)² with p = exp(−1/t), which is 1/(2·sinh²(1/2t)).
func (l laplace) Variance() float64 {
	t, _ := l.Scale().Float64()
	s := math.Sinh(1 / (2 * t))
	return 1 / (2 * s * s)
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
	// Rho is the zCDP guarantee of all values together, or Variance the parameter σ²
	// of noise that was calibrated elsewhere. Exactly one is required.
	Rho      privacy.Rho
	Variance *big.Rat
}

// gaussian is discrete Gaussian noise that hides a sensitivity.
type gaussian struct {
	*noise.DiscreteGaussian
	sensitivitySquared *big.Rat
}

// NewGaussian returns the mechanism that adds discrete Gaussian noise of
// variance parameter Δ₂²/(2ρ), or the one given, to each integer.
//
// Theorem (Canonne, Kamath and Steinke 2020, Theorem 14): for integers at L2
// distance Δ₂, independent noise P(k) ∝ exp(−k²/2σ²) on each is Δ₂²/(2σ²)-zCDP.
func NewGaussian(o GaussianOptions) (Additive, error) {
	if err := checkPositive("the sensitivity", o.SensitivitySquared); err != nil {
		return nil, err
	}
	if (o.Rho.Sign() > 0) == (o.Variance != nil) {
		return nil, fmt.Errorf("%w: exactly one of rho and a variance must be given", ErrParameter)
	}
	variance := o.Variance
	if variance == nil {
		twice := o.Rho.Rat()
		variance = new(big.Rat).Quo(o.SensitivitySquared, twice.Add(twice, twice))
	}
	n, err := noise.NewDiscreteGaussian(variance)
	if err != nil {
		return nil, fmt.Errorf("calibrate Gaussian noise: %w: %w", ErrParameter, err)
	}
	return gaussian{n, new(big.Rat).Set(o.SensitivitySquared)}, nil
}

func (g gaussian) Event() privacy.Event {
	return privacy.DiscreteGaussian{Variance: g.DiscreteGaussian.Variance(), SensitivitySquared: new(big.Rat).Set(g.sensitivitySquared)}
}

func (g gaussian) Variance() float64 {
	v, _ := g.DiscreteGaussian.Variance().Float64()
	return v
}

// ScaleIn returns σ, which bounds the standard deviation from above.
func (g gaussian) ScaleIn(grid *big.Rat) float64 {
	v := new(big.Rat).Mul(grid, grid)
	v.Mul(v, g.DiscreteGaussian.Variance())
	f, _ := new(big.Float).Sqrt(new(big.Float).SetPrec(100).SetRat(v)).Float64()
	return f
}
