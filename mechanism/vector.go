package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// VectorOptions say what noise on real numbers must hide: an L1 sensitivity and an
// epsilon, by Laplace noise; or an L2 sensitivity and either a rho or the standard
// deviation, by Gaussian noise.
type VectorOptions struct {
	// Length is the number of values; 1 if it is not given.
	Length int
	// L1 and L2 are the distance of the vectors between neighbours, after the
	// values are clamped. Exactly one is required.
	L1, L2 *big.Rat
	// Epsilon is the pure guarantee of all values together, for L1.
	Epsilon privacy.Epsilon
	// Rho is the zCDP guarantee of all values together, or StandardDeviation the
	// parameter σ of noise that was calibrated elsewhere, for L2.
	Rho               privacy.Rho
	StandardDeviation *big.Rat
	// Lower and Upper clamp every value; both are zero if nothing is to be clamped.
	Lower, Upper float64
	// Grid is a power of two whose multiples values and noise are rounded to. If
	// nil it is about 2^-40 of the noise's scale, or less where the rounding of
	// many values would cost more than 2^-20 of the noise.
	Grid *big.Rat
}

// Vector adds noise to a vector of real numbers, on a grid.
//
// Theorem. Let values at distance Δ be rounded to multiples of g by ⌊x/g + 1/2⌋. In
// each coordinate the distance in steps changes by less than 1, so that for length d
// the L2 distance is below Δ₂/g + √d, and the L1 distance below Δ₁/g + d; a whole
// number, it is at most ⌈Δ₁/g⌉ + d − 1. On integers at that distance the theorems of
// NewLaplace and NewGaussian hold. (Rounding before noise: Mironov 2012; the
// rounding's sensitivity: Casacuberta et al. 2022.)
//
// A release never fails for what the values are: NaN counts as Lower, and an
// infinity as the bound, or where none is given as the largest float64 of its sign.
// A Vector is immutable and safe for concurrent use.
type Vector struct {
	grid         grid
	noise        Additive
	length       int
	lower, upper float64
	missing      float64 // in the place of NaN
}

// NewVector returns the mechanism.
func NewVector(o VectorOptions) (*Vector, error) {
	v := &Vector{length: o.Length, lower: o.Lower, upper: o.Upper, missing: o.Lower}
	if v.length == 0 {
		v.length = 1
	}
	if v.length < 0 || v.length > 1<<40 {
		return nil, fmt.Errorf("%w: a vector of %d values", ErrParameter, v.length)
	}
	if v.lower == 0 && v.upper == 0 {
		v.lower, v.upper = -math.MaxFloat64, math.MaxFloat64
	}
	if !(v.lower <= v.upper) || math.IsInf(v.lower, 0) || math.IsInf(v.upper, 0) {
		return nil, fmt.Errorf("%w: no interval between %v and %v", ErrParameter, v.lower, v.upper)
	}
	if (o.L1 == nil) == (o.L2 == nil) {
		return nil, fmt.Errorf("%w: exactly one of an L1 and an L2 sensitivity must be given", ErrParameter)
	}
	var err error
	if o.L1 != nil {
		err = v.laplace(o)
	} else {
		err = v.gaussian(o)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (v *Vector) laplace(o VectorOptions) error {
	if err := checkPositive("the sensitivity", o.L1); err != nil {
		return err
	}
	if err := checkPositive("epsilon", o.Epsilon.Rat()); err != nil {
		return err
	}
	if o.Rho.Sign() != 0 || o.StandardDeviation != nil {
		return fmt.Errorf("%w: rho and standard deviation belong to an L2 sensitivity", ErrParameter)
	}
	if err := v.setGrid(o, o.L1, new(big.Rat).Quo(o.L1, o.Epsilon.Rat())); err != nil {
		return err
	}
	steps := numeric.Ceil(v.grid.in(o.L1))
	steps.Add(steps, big.NewInt(int64(v.length-1)))
	var err error
	v.noise, err = NewLaplace(LaplaceOptions{Sensitivity: new(big.Rat).SetInt(steps), Epsilon: o.Epsilon})
	return err
}

func (v *Vector) gaussian(o VectorOptions) error {
	if err := checkPositive("the sensitivity", o.L2); err != nil {
		return err
	}
	if (o.Rho.Sign() > 0) == (o.StandardDeviation != nil) || o.Epsilon.Sign() != 0 {
		return fmt.Errorf("%w: with an L2 sensitivity, exactly one of rho and the standard deviation must be given", ErrParameter)
	}
	g := GaussianOptions{Rho: o.Rho}
	sigma := o.StandardDeviation
	if sigma == nil { // only to choose a grid by
		sigma = new(big.Rat).Quo(new(big.Rat).Mul(o.L2, o.L2), o.Rho.Rat())
		sigma = numeric.Of(sigma.Mul(sigma, half)).Sqrt().Lo()
	}
	if err := checkPositive("the standard deviation", sigma); err != nil {
		return err
	}
	if err := v.setGrid(o, o.L2, sigma); err != nil {
		return err
	}
	if o.StandardDeviation != nil {
		s := v.grid.in(sigma)
		g.Variance = s.Mul(s, s)
	}
	// A whole number of steps, so that accountants know its discrete law.
	root := numeric.OfInt(int64(v.length)).Sqrt()
	steps := new(big.Rat).SetInt(numeric.Ceil(numeric.Of(v.grid.in(o.L2)).Add(root).Hi()))
	if v.length == 1 {
		steps.SetInt(numeric.Ceil(v.grid.in(o.L2)))
	}
	g.SensitivitySquared = steps.Mul(steps, steps)
	var err error
	v.noise, err = NewGaussian(g)
	return err
}

// setGrid chooses a grid on which the noise has at least 2^40 steps, and the
// sensitivity at least 2^20 for each value.
func (v *Vector) setGrid(o VectorOptions, sensitivity, scale *big.Rat) (err error) {
	size := new(big.Rat).Quo(sensitivity, big.NewRat(int64(v.length), 1<<20)) // Δ·2^20/d
	if size.Cmp(scale) > 0 {
		size = scale
	}
	v.grid, err = newGrid(o.Grid, size, 40)
	return err
}

// Event is what one release reveals, in steps of the grid.
func (v *Vector) Event() privacy.Event { return v.noise.Event() }

// Grid returns the step of the grid.
func (v *Vector) Grid() *big.Rat { return v.grid.step() }

// Scale is the noise's scale (Laplace) or standard deviation (Gaussian); rounded to
// float64.
func (v *Vector) Scale() float64 { return v.noise.ScaleIn(v.grid.step()) }

// Bound returns α such that a released value is at most α from its clamped value,
// but with probability at most beta. Bound(beta/n) holds for n values together. What
// a float64 cannot hold is not counted: noise of scale 1 on 10^17 becomes a multiple
// of 16.
func (v *Vector) Bound(beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	q, err := v.noise.Bound(beta)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return v.grid.upper(new(big.Rat).SetInt(q.Add(q, big.NewInt(1)))), nil // half a step for rounding
}

// Release returns the values with noise. Only a wrong length and failing bits are
// errors.
func (v *Vector) Release(bits noise.Bits, values []float64) ([]float64, error) {
	if len(values) != v.length {
		return nil, fmt.Errorf("release: %w: %d values for a vector of %d", ErrParameter, len(values), v.length)
	}
	steps := make([]*big.Int, len(values))
	for i, x := range values {
		if math.IsNaN(x) {
			x = v.missing
		}
		steps[i] = v.grid.roundBig(min(max(x, v.lower), v.upper))
	}
	if err := v.noise.AddTo(bits, steps); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	noisy := make([]float64, len(values))
	for i, k := range steps {
		f := new(big.Float).SetInt(k)
		x, _ := f.SetMantExp(f, v.grid.exponent).Float64()
		noisy[i] = min(max(x, -math.MaxFloat64), math.MaxFloat64)
	}
	return noisy, nil
}
