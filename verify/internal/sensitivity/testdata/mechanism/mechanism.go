// Package mechanism holds functions that use the mechanisms of package mechanism.
package mechanism

import (
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// want: accepted
//
//dp:adjacent each(scores) <= 1
//dp:cost eps
func Best(scores []float64, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return 0, err
	}
	return m.Choose(bits, scores)
}

// BestOfTwice has scores that move by 2, and says 1.
//
// want: rejected: told a sensitivity of 1, and given what moves by 2
//
//dp:adjacent each(scores) <= 2
//dp:cost 2*eps
func BestOfTwice(scores []float64, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return 0, err
	}
	return m.Choose(bits, scores)
}

// Halved divides what moves by 2.
//
// want: accepted
//
//dp:adjacent each(scores) <= 2
//dp:cost eps
func Halved(scores []float64, eps privacy.Epsilon, bits noise.Bits) (int, float64, error) {
	m, err := mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: mechanism.ScoreOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps}})
	if err != nil {
		return 0, 0, err
	}
	half := make([]float64, len(scores))
	for i, s := range scores {
		half[i] = s / 2
	}
	return m.ChooseGap(bits, half)
}

// Monotone promises what the adjacency does not.
//
// want: rejected: same direction
//
//dp:adjacent each(scores) <= 1
//dp:cost eps
func Monotone(scores []float64, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps, Monotone: true})
	if err != nil {
		return 0, err
	}
	return m.Choose(bits, scores)
}

// Rounds chooses so often.
//
// want: accepted
//
//dp:adjacent each(scores) <= 1
//dp:requires k >= 0
//dp:cost k * eps
func Rounds(scores []float64, k int, eps privacy.Epsilon, bits noise.Bits) ([]int, error) {
	m, err := mechanism.NewPermuteAndFlip(mechanism.PermuteAndFlipOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return nil, err
	}
	var best []int
	for range k {
		i, err := m.Choose(bits, scores)
		if err != nil {
			return nil, err
		}
		best = append(best, i)
	}
	return best, nil
}

// RoundsForOne claims the price of one of them.
//
// want: rejected
//
//dp:adjacent each(scores) <= 1
//dp:requires k >= 0
//dp:cost eps
func RoundsForOne(scores []float64, k int, eps privacy.Epsilon, bits noise.Bits) ([]int, error) {
	m, err := mechanism.NewPermuteAndFlip(mechanism.PermuteAndFlipOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return nil, err
	}
	var best []int
	for range k {
		i, err := m.Choose(bits, scores)
		if err != nil {
			return nil, err
		}
		best = append(best, i)
	}
	return best, nil
}

// Alarms asks one run of the sparse vector technique, which costs the same however
// many it is asked.
//
// want: accepted
//
//dp:adjacent each(queries) <= 1
//dp:cost eps
func Alarms(queries []float64, eps privacy.Epsilon, bits noise.Bits) ([]bool, error) {
	v, err := mechanism.NewSparseVector(mechanism.SparseVectorOptions{Threshold: 10, Sensitivity: big.NewRat(1, 1), Answers: 5, Epsilon: eps})
	if err != nil {
		return nil, err
	}
	var above []bool
	for _, q := range queries {
		a, err := v.Ask(bits, q)
		if err != nil {
			return above, nil
		}
		above = append(above, a.Above)
	}
	return above, nil
}

// AlarmsOfSums asks for running sums, of which each moves by as much as there are.
//
// want: rejected
//
//dp:adjacent each(queries) <= 1
//dp:cost eps
func AlarmsOfSums(queries []float64, eps privacy.Epsilon, bits noise.Bits) ([]bool, error) {
	v, err := mechanism.NewSparseVector(mechanism.SparseVectorOptions{Threshold: 10, Sensitivity: big.NewRat(1, 1), Answers: 5, Epsilon: eps})
	if err != nil {
		return nil, err
	}
	var above []bool
	sum := 0.0
	for _, q := range queries {
		sum += q
		a, err := v.Ask(bits, sum)
		if err != nil {
			return above, nil
		}
		above = append(above, a.Above)
	}
	return above, nil
}

// Fresh starts a run for every query, and each costs all of it.
//
// want: rejected
//
//dp:adjacent each(queries) <= 1
//dp:cost eps
func Fresh(queries []float64, eps privacy.Epsilon, bits noise.Bits) ([]bool, error) {
	var above []bool
	for _, q := range queries {
		v, err := mechanism.NewAboveThreshold(mechanism.AboveThresholdOptions{Threshold: 10, Sensitivity: big.NewRat(1, 1), Epsilon: eps})
		if err != nil {
			return nil, err
		}
		a, err := v.Ask(bits, q)
		if err != nil {
			return above, nil
		}
		above = append(above, a.Above)
	}
	return above, nil
}

// Sum releases a sum of clamped numbers, for rho.
//
// want: accepted
//
//dp:adjacent bag(rows) <= 1
//dp:cost zcdp(rho)
func Sum(rows []float64, rho privacy.Rho, bits noise.Bits) (float64, error) {
	sum := 0.0
	for _, x := range rows {
		sum += min(max(x, 0), 3)
	}
	v, err := mechanism.NewVector(mechanism.VectorOptions{L2: big.NewRat(3, 1), Rho: rho})
	if err != nil {
		return 0, err
	}
	noisy, err := v.Release(bits, []float64{sum})
	if err != nil {
		return 0, err
	}
	return noisy[0], nil
}

// SumOfFour clamps to more than it says.
//
// want: rejected: told a sensitivity of 3, and given what moves by 4
//
//dp:adjacent bag(rows) <= 1
//dp:cost zcdp(rho)
func SumOfFour(rows []float64, rho privacy.Rho, bits noise.Bits) (float64, error) {
	sum := 0.0
	for _, x := range rows {
		sum += min(max(x, 0), 4)
	}
	v, err := mechanism.NewVector(mechanism.VectorOptions{L2: big.NewRat(3, 1), Rho: rho})
	if err != nil {
		return 0, err
	}
	noisy, err := v.Release(bits, []float64{sum})
	if err != nil {
		return 0, err
	}
	return noisy[0], nil
}

// Two releases add up, and their L1 distance is told.
//
// want: accepted
//
//dp:adjacent |x| <= 1
//dp:cost eps + eps
func Two(x float64, eps privacy.Epsilon, bits noise.Bits) ([]float64, int, error) {
	v, err := mechanism.NewVector(mechanism.VectorOptions{Length: 2, L1: big.NewRat(3, 1), Epsilon: eps})
	if err != nil {
		return nil, 0, err
	}
	noisy, err := v.Release(bits, []float64{x, 2 * x})
	if err != nil {
		return nil, 0, err
	}
	r, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Epsilon: eps})
	if err != nil {
		return nil, 0, err
	}
	said := 0
	if x > 3 {
		said = 1
	}
	told, err := r.Respond(bits, said)
	if err != nil {
		return nil, 0, err
	}
	return noisy, told, nil
}

// TwoTold tells the L1 distance less than it is.
//
// want: rejected: told a sensitivity of 2
//
//dp:adjacent |x| <= 1
//dp:cost eps
func TwoTold(x float64, eps privacy.Epsilon, bits noise.Bits) ([]float64, error) {
	v, err := mechanism.NewVector(mechanism.VectorOptions{Length: 2, L1: big.NewRat(2, 1), Epsilon: eps})
	if err != nil {
		return nil, err
	}
	return v.Release(bits, []float64{x, 2 * x})
}

// Changed calibrates by a rational that it changed.
//
// want: rejected: SetInt64 may write
//
//dp:adjacent each(scores) <= 2
//dp:cost eps
func Changed(scores []float64, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	r := big.NewRat(2, 1)
	r.SetInt64(1)
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: r, Epsilon: eps})
	if err != nil {
		return 0, err
	}
	return m.Choose(bits, scores)
}

// Private calibrates by private data.
//
// want: rejected
//
//dp:adjacent each(scores) <= 1
//dp:adjacent |n| <= 1
//dp:cost eps
func Private(scores []float64, n int64, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: big.NewRat(n, 1), Epsilon: eps})
	if err != nil {
		return 0, err
	}
	return m.Choose(bits, scores)
}

// Either chooses by one mechanism or another.
//
// want: accepted
//
//dp:adjacent each(scores) <= 1
//dp:cost eps
func Either(scores []float64, first bool, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return 0, err
	}
	p, err := mechanism.NewPermuteAndFlip(mechanism.PermuteAndFlipOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return 0, err
	}
	if first {
		return m.Choose(bits, scores)
	}
	return p.Choose(bits, scores)
}
