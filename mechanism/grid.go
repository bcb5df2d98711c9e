package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A grid is the multiples of 2^exponent. Real numbers are put on one before noise
// is drawn on the same: a sum of floats would show its terms in its low digits
// (Mironov 2012; Haney et al. 2022).
//
// Rounding is ⌊x/g + 1/2⌋, halves up: it is monotone and commutes with adding
// whole steps, so that numbers at distance <= n·g are rounded to integers at
// distance <= n. Halves to even would not: 1/2 and 3/2 would go to 0 and 2.
type grid struct{ exponent int }

// maxExponent bounds the exponents of grids: more is a mistake, and what float64
// does not reach.
const maxExponent = 1000

// newGrid returns the grid of the option r, or, if it is nil, one on which size
// is at least 2^places steps, and less than twice that.
func newGrid(r, size *big.Rat, places int) (grid, error) {
	g := grid{floorLog2(size) - places}
	if r != nil {
		if err := checkPositive("the grid", r); err != nil {
			return grid{}, err
		}
		if g.exponent = floorLog2(r); r.Cmp(g.step()) != 0 {
			return grid{}, fmt.Errorf("%w: the grid is not a power of two", ErrParameter)
		}
	}
	if g.exponent < -maxExponent || g.exponent > maxExponent {
		return grid{}, fmt.Errorf("%w: a grid of 2^%d is beyond what a float64 holds", ErrParameter, g.exponent)
	}
	return g, nil
}

// floorLog2 returns the largest e with 2^e <= r, r > 0.
func floorLog2(r *big.Rat) int {
	e := r.Num().BitLen() - r.Denom().BitLen() // off by at most one, upwards
	if (grid{e}).step().Cmp(r) > 0 {
		e--
	}
	return e
}

// step returns g.
func (g grid) step() *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(g.exponent, -g.exponent)))
	if g.exponent < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// in returns x in steps.
func (g grid) in(x *big.Rat) *big.Rat { return new(big.Rat).Quo(x, g.step()) }

// maxSteps bounds what round returns: two such numbers and two draws of
// noise.DiscreteLaplace.Int64 add up to an int64.
const maxSteps = 1 << 60

// power returns 2^n as a float64, for n from -1022 to 1023, which newGrid's exponents are far
// within.
func power(n int) float64 { return math.Float64frombits(uint64(1023+n) << 52) }

// round returns x in whole steps, clamped to ±maxSteps; NaN counts as the lowest.
// All of it is exact: scaling by a power of two; the floor; and its distance to y,
// which is a multiple of y's last digit or, for y in [-1/2, 0), above 1/2 anyway. What is
// scaled down to where floats are less dense is far below a step, and stays there.
func (g grid) round(x float64) int64 {
	y := x * power(-g.exponent)
	switch {
	case y >= maxSteps:
		return maxSteps
	case !(y > -maxSteps):
		return -maxSteps
	}
	f := math.Floor(y)
	if y-f >= 0.5 {
		f++
	}
	return int64(f)
}

// float returns k steps as a float64.
func (g grid) float(k int64) float64 { return float64(k) * power(g.exponent) }

// upper returns r steps as a float64 that is not below.
func (g grid) upper(r *big.Rat) float64 {
	return upFloat(new(big.Rat).Mul(r, g.step()))
}

// LaplaceAccuracy returns ln(1/β)·Δ/ε: Laplace noise of scale Δ/ε over the reals
// exceeds it in size with probability β exactly (P(|X| > x) = exp(−xε/Δ)). It is
// rounded up.
func LaplaceAccuracy(sensitivity *big.Rat, epsilon privacy.Epsilon, beta *big.Rat) (float64, error) {
	if err := checkPositive("the sensitivity", sensitivity); err != nil {
		return 0, err
	}
	if err := checkPositive("epsilon", epsilon.Rat()); err != nil {
		return 0, err
	}
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	scale := numeric.Of(new(big.Rat).Quo(sensitivity, epsilon.Rat()))
	return upFloat(numeric.Of(beta).Log().Neg().Mul(scale).Hi()), nil
}

// roundBig is round without a clamp, for finite x.
func (g grid) roundBig(x float64) *big.Int {
	if k := g.round(x); -maxSteps < k && k < maxSteps {
		return big.NewInt(k)
	}
	// So large a multiple of the grid is whole: its last digit is above a step.
	f := new(big.Float).SetFloat64(x)
	k, _ := f.SetMantExp(f, -g.exponent).Int(nil)
	return k
}
