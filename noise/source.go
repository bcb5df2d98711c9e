package noise

import (
	"fmt"
	"math"
	"math/big"
)

// A Source draws noise for programs that are written plainly: parameters are
// float64, draws are numbers, and there are no errors to handle. Its methods are
// what package verify knows of randomness.
//
// A float64 is a rational, and the parameter of a draw is exactly that one. Draws
// of real laws lie on a public grid, the multiples of
//
//	g = 2^(⌊log₂ scale⌋−40),
//
// and are exactly g·K for K of the law over the integers with scale/g. Noise alone
// does not hide a number off the grid: x + s.Laplace(b) shows x in its low digits.
// Put it there with Round(x, b) first: then the sum is exact, an integer of steps.
//
// Draws saturate at ±2^52 steps, which has probability below e^−2048. What a Source
// cannot draw exactly it refuses: scales that are not at least 2^−900 and below
// 2^40, where the grid no longer holds the integers.
//
// A parameter that is refused, and a source of bits that fails, end the call with a
// panic whose value is a *Failure: so no value without noise can be taken for one
// with it. Try makes an error of it.
//
// A Source is not safe for concurrent use.
type Source struct {
	stream *Stream
	// What was drawn from last, by scale in steps: calibrating costs more than
	// drawing. A float has a scale in [2^40, 2^41), an integer one below 2^40.
	laplaces  map[float64]*DiscreteLaplace
	gaussians map[float64]*DiscreteGaussian
}

// NewSource returns a source of noise made of the bits of b.
func NewSource(b Bits) *Source {
	return &Source{
		stream:    NewStream(b),
		laplaces:  make(map[float64]*DiscreteLaplace),
		gaussians: make(map[float64]*DiscreteGaussian),
	}
}

const (
	gridPlaces = 40              // a scale has at least 2^40 steps, and less than 2^41
	maxDraw    = 1 << 52         // steps
	maxRound   = 1 << 51         // steps; with a draw, less than 2^53
	minScale   = 0x1p-900        // 2^-940 times 2^53 steps: far from denormal
	maxScale   = 1 << gridPlaces // g <= 1/2
	maxKept    = 64              // scales; a program has a few
)

// Laplace returns a draw x with probability proportional to exp(−|x|/scale).
func (s *Source) Laplace(scale float64) float64 {
	e, steps := gridOf(scale)
	k, err := s.laplace(steps).Int64(s.stream)
	return onGrid(k, err, e)
}

// Exponential returns a draw x >= 0 with probability proportional to exp(−x/scale).
func (s *Source) Exponential(scale float64) float64 {
	e, steps := gridOf(scale)
	k, err := s.laplace(steps).magnitude64(s.stream)
	return onGrid(k, err, e)
}

// Gaussian returns a draw x with probability proportional to exp(−x²/2σ²).
func (s *Source) Gaussian(sigma float64) float64 {
	e, steps := gridOf(sigma)
	k, err := s.gaussian(steps)
	return onGrid(k, err, e)
}

// Round returns the multiple of the grid of the scale that is nearest to x, halves
// up, at most 2^51 steps in size; NaN counts as the lowest. It is monotone, and
// commutes with adding whole steps: numbers at most n steps apart stay so.
func (s *Source) Round(x, scale float64) float64 {
	e, _ := gridOf(scale)
	y := math.Ldexp(x, -e) // exact, or beyond all bounds: e < 0
	switch {
	case y >= maxRound:
		y = maxRound
	case !(y > -maxRound):
		y = -maxRound
	}
	f := math.Floor(y)
	if y-f >= 0.5 {
		f++
	}
	return math.Ldexp(float64(int64(f)), e) // no −0
}

// DiscreteLaplace returns a draw k with probability proportional to exp(−|k|/scale).
func (s *Source) DiscreteLaplace(scale float64) int64 {
	checkScale(scale)
	k, err := s.laplace(scale).Int64(s.stream)
	check(err)
	return k
}

// Geometric returns a draw k >= 0 with probability proportional to exp(−k/scale).
func (s *Source) Geometric(scale float64) int64 {
	checkScale(scale)
	k, err := s.laplace(scale).magnitude64(s.stream)
	check(err)
	return k
}

// DiscreteGaussian returns a draw k with probability proportional to exp(−k²/2σ²),
// for σ from 2^−450.
func (s *Source) DiscreteGaussian(sigma float64) int64 {
	checkScale(sigma)
	k, err := s.gaussian(sigma)
	check(err)
	return k
}

// Bernoulli returns true with probability p.
func (s *Source) Bernoulli(p float64) bool {
	if !(p >= 0 && p <= 1) {
		panic(refused("the probability is not from 0 to 1"))
	}
	r := new(big.Rat).SetFloat64(p)
	ok, err := s.stream.bernoulli(r.Num(), r.Denom())
	check(err)
	return ok
}

// Uniform returns each integer from 0 to n−1 with probability 1/n, for n > 0.
func (s *Source) Uniform(n int) int {
	if n <= 0 {
		panic(refused("uniform below a number that is not positive"))
	}
	k, err := s.stream.below(uint64(n))
	check(err)
	return int(k)
}

// Choose returns i with probability proportional to exp(eps·scores[i]/2): the
// exponential mechanism, ε-DP if each score differs by at most 1 between neighbours.
// Scores beyond what a float64 holds count as its extremes, and NaN as the lowest.
//
// It proposes indices uniformly, and accepts i with probability
// exp(−eps·(best−scores[i])/2): what is accepted has probabilities in that
// proportion. The best is always accepted, so that len(scores) proposals suffice on
// average.
func (s *Source) Choose(scores []float64, eps float64) int {
	switch {
	case len(scores) == 0:
		panic(refused("there is nothing to choose from"))
	case !(eps > 0) || math.IsInf(eps, 1):
		panic(refused("epsilon is not positive and finite"))
	}
	best := finite(scores[0])
	for _, x := range scores[1:] {
		best = max(best, finite(x))
	}
	half := new(big.Rat).SetFloat64(eps)
	half.Quo(half, big.NewRat(2, 1))
	most, x := new(big.Rat).SetFloat64(best), new(big.Rat)
	for {
		i, err := s.stream.below(uint64(len(scores)))
		check(err)
		x.Sub(most, x.SetFloat64(finite(scores[i])))
		x.Mul(x, half)
		ok, err := s.stream.bernoulliExp(x.Num(), x.Denom())
		check(err)
		if ok {
			return int(i)
		}
	}
}

func finite(x float64) float64 {
	if math.IsNaN(x) {
		return -math.MaxFloat64
	}
	return min(max(x, -math.MaxFloat64), math.MaxFloat64)
}

// gridOf returns log₂ g, and the scale in steps.
func gridOf(scale float64) (exponent int, steps float64) {
	checkScale(scale)
	f, e := math.Frexp(scale) // scale = f·2^e, 1/2 <= f < 1
	return e - 1 - gridPlaces, math.Ldexp(f, 1+gridPlaces)
}

// onGrid returns k steps, saturated.
func onGrid(k int64, err error, exponent int) float64 {
	check(err)
	return math.Ldexp(float64(min(max(k, -maxDraw), maxDraw)), exponent)
}

func (s *Source) laplace(steps float64) *DiscreteLaplace {
	d := s.laplaces[steps]
	if d == nil {
		var err error
		d, err = NewDiscreteLaplace(new(big.Rat).SetFloat64(steps))
		check(err)
		keep(s.laplaces, steps, d)
	}
	return d
}

func (s *Source) gaussian(steps float64) (int64, error) {
	d := s.gaussians[steps]
	if d == nil {
		variance := new(big.Rat).SetFloat64(steps)
		var err error
		d, err = NewDiscreteGaussian(variance.Mul(variance, variance))
		check(err)
		keep(s.gaussians, steps, d)
	}
	var z big.Int
	if err := d.draw(s.stream, &z); err != nil {
		return 0, err
	}
	if !z.IsInt64() { // σ < 2^41: probability below exp(−2^40)
		return 0, errRange()
	}
	return z.Int64(), nil
}

// keep forgets all when there are too many: scales that never come again are no
// reason to grow.
func keep[D any](all map[float64]D, scale float64, d D) {
	if len(all) >= maxKept {
		clear(all)
	}
	all[scale] = d
}

// A Failure is what a Source panics with. It wraps ErrParameter, or the error of the
// source of bits.
type Failure struct{ err error }

// Error says what failed.
func (f *Failure) Error() string { return f.err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.err }

// Try returns what f returns, or the *Failure of a Source in it as an error, and
// then no value: what f had computed may lack its noise. Other panics go on.
func Try[T any](f func() T) (x T, err error) {
	defer func() {
		if r := recover(); r != nil {
			failure, ok := r.(*Failure)
			if !ok {
				panic(r)
			}
			err = failure
		}
	}()
	return f(), nil
}

func check(err error) {
	if err != nil {
		panic(&Failure{err})
	}
}

func checkScale(scale float64) {
	if !(scale >= minScale && scale < maxScale) {
		panic(refused("the scale is not from 2^-900 to below 2^40"))
	}
}

// refused does not quote the parameter: it may come from the data.
func refused(why string) *Failure { return &Failure{fmt.Errorf("%w: %s", ErrParameter, why)} }
