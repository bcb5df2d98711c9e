package learn

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/learn/internal/gaussian"
)

// How the noise keeps to its multiplier although the sum is computed in floating point.
//
// The plan's event says: Gaussian noise whose deviation is z times what a unit can
// move. Let S be the sum, in real numbers, of what the examples of a step add after
// clipping, each a function of that example alone. Adding a unit moves S by at most
// the clip C: its k examples are clipped at C/k each (k = 1 but for Bounded units), or
// per layer at bounds whose squares add up to (C/k)². What is computed is S with
// errors, and those of all examples may change with one more among them:
//
//   - A step of n <= most examples is summed as package network does: within R·C/k of
//     S, R = Rounding(most). Two such steps differ by at most C + 2R·C/k.
//   - A step of more examples is summed one by one on a grid of 2^-40 of C/k, with
//     integers. Each example is then within e = r + √d·2^-41 of its part, r =
//     Rounding(1), in terms of C/k, whoever else is there. The total is projected on
//     the ball of radius 4·most·C/k, which makes no distance larger, and rounded to
//     float32: by f = 4·most·2^-23 of C/k at most, half of it for what the projection is
//     computed in. (Poisson samples never reach that ball, unless the population is
//     several times what the plan says; a run that failed there would show how many
//     there are.) Two such steps differ by at most C + (k·e + 2f)·C/k, and one of either
//     kind by at most C + (R + (most+k)·e + f)·C/k.
//   - Gaussian noise rounds the sum to its own grid first: √d·σ/Steps more.
//
// Where the first would be off by a clip or more, as in steps of some ten thousand examples,
// all steps are summed one by one, and the second alone counts.
//
// With a the worst of the first two in terms of C, less 1, and 2^-20 for what is
// computed in float64 here and in the accountant's z, noise of deviation
//
//	σ = z·C(1+a)/(1 - z√d(1+2^-15)/Steps)
//
// is at least z times all that a unit can move: σ >= z(C(1+a) + √d·σ(1+2^-15)/Steps).
//
// Condition of the bounds: that an example's part is the same function of the example
// whoever else is in the step. Package network computes an example's outputs from its
// own numbers alone, in an order that does not depend on its neighbours, by either engine
// of package gemm; tests hold both packages to that bit by bit
// (TestAnExamplesPartIsItsOwn, TestANumberIsItsOwn).

// An allowance is what rounding adds to the sensitivity of a sum, in terms of the clip.
type allowance struct {
	part float64 // a
	most int     // examples of a step, as samples have them
	fast int     // examples that are summed at once: most, or none where that rounds too much
	d    int     // numbers in the sum
}

// rounding is what a pass says of its sums; see [network.Pass.Rounding].
type rounding interface{ Rounding(n int) float64 }

// maxStep is how many examples are summed at once at most.
const maxStep = 1 << 20

func newAllowance(p Plan, r rounding, d int) (allowance, error) {
	k := 1
	if p.Units.Mode == Bounded {
		k = p.Units.examples()
	}
	// Poisson samples exceed most with a probability below 1e-14 if the population is
	// what the plan says; nothing but speed depends on that.
	mean := float64(p.Batch) * float64(k)
	most := int(mean + 8*math.Sqrt(mean*float64(k)) + 32)
	if most > maxStep {
		return allowance{}, fmt.Errorf("steps of %d examples: at most a million", most)
	}
	at := r.Rounding(most)
	e := r.Rounding(1) + math.Sqrt(float64(d))*0x1p-41
	f := 4 * float64(most) * 0x1p-23
	single := float64(k)*e + 2*f
	for _, way := range []struct {
		worst float64
		fast  int
	}{{max(2*at, single, at+float64(most+k)*e+f), most}, {single, 0}} {
		if part := way.worst/float64(k) + 0x1p-20; part < 1 {
			return allowance{part, most, way.fast, d}, nil
		}
	}
	return allowance{}, fmt.Errorf("rounding in steps of %d examples may double what a unit adds: smaller batches", most)
}

// deviation is the σ of noise on a sum of d numbers that a unit moves by at most
// bound, so that it is at least z times all that a unit can move.
func (a allowance) deviation(z, bound float64, d int) (float64, error) {
	grid := gaussian.Rounding(z, d)
	sigma := z * bound * (1 + a.part) / (1 - grid)
	if !(grid < 0.5) || !positive(sigma) {
		return 0, errors.New("the noise's grid is too coarse for so many numbers")
	}
	return sigma, nil
}

// countDeviation is the σ of noise on the count of Adaptive, so that it is at least the
// given one for each 1/2 that a unit moves the count by. The count is at most 2·most,
// see follow, and rounded to float32 on both sides.
func (a allowance) countDeviation(noise float64) (float64, error) {
	return a.deviation(2*noise, 0.5+float64(a.most)*0x1p-22, 1)
}
