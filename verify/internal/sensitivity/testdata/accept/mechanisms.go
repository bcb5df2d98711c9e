package accept

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Winner chooses the most frequent of public candidates.
//
// want: accepted: eps
//
//dp:adjacent bag(votes) <= 1
//dp:cost eps
func Winner(votes []int, candidates int, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{
		Sensitivity: big.NewRat(1, 1),
		Epsilon:     eps,
	})
	if err != nil {
		return 0, fmt.Errorf("make the mechanism: %w", err)
	}
	scores := make([]float64, candidates)
	for _, v := range votes {
		if v >= 0 && v < candidates {
			scores[v]++
		}
	}
	return m.Choose(bits, scores)
}

// Podium is the first three.
//
// want: accepted: eps
//
//dp:adjacent each(scores) <= 1
//dp:cost eps
func Podium(scores []float64, eps privacy.Epsilon, bits noise.Bits) ([]int, error) {
	m, err := mechanism.NewTopK(mechanism.TopKOptions{
		ScoreOptions: mechanism.ScoreOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps},
		K:            3,
	})
	if err != nil {
		return nil, err
	}
	return m.Choose(bits, scores)
}

// Loudest is noisy max.
//
// want: accepted: eps
//
//dp:adjacent each(scores) <= 2
//dp:cost eps
func Loudest(scores []float64, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	m, err := mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: mechanism.ScoreOptions{Sensitivity: big.NewRat(2, 1), Epsilon: eps}})
	if err != nil {
		return -1, err
	}
	i, err := m.Choose(bits, scores)
	if err != nil {
		return -1, err
	}
	return i, nil
}

// SumAndCount are released together: 5 and 1 in l1.
//
// want: accepted: eps
//
//dp:adjacent bag(xs) <= 1
//dp:cost eps
func SumAndCount(xs []float64, eps privacy.Epsilon, bits noise.Bits) ([]float64, error) {
	var sum, n float64
	for _, x := range xs {
		sum += clampTo(x, 0, 5)
		n++
	}
	v, err := mechanism.NewVector(mechanism.VectorOptions{Length: 2, L1: big.NewRat(6, 1), Epsilon: eps})
	if err != nil {
		return nil, err
	}
	return v.Release(bits, []float64{sum, n})
}

// HistogramRelease is by Gaussian noise at l2 distance 1.
//
// want: accepted: rho
//
//dp:adjacent bag(rows) <= 1
//dp:cost zcdp(rho)
func HistogramRelease(rows []int, bins int, rho privacy.Rho, bits noise.Bits) ([]float64, error) {
	counts := make([]float64, bins)
	for _, r := range rows {
		counts[clampTo(r, 0, bins-1)]++
	}
	v, err := mechanism.NewVector(mechanism.VectorOptions{Length: bins, L2: big.NewRat(1, 1), Rho: rho})
	if err != nil {
		return nil, err
	}
	noisy, err := v.Release(bits, counts)
	if err != nil {
		return nil, err
	}
	for i := range noisy {
		noisy[i] = max(0, noisy[i])
	}
	return noisy, nil
}

// Survey responds for each, each is one of a public number of people: all are paid for by each of
// the answers that moves.
//
// want: accepted: eps
//
//dp:adjacent |answer| <= 1
//dp:cost eps
func Survey(answer int, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	r, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Answers: 4, Epsilon: eps})
	if err != nil {
		return 0, err
	}
	return r.Respond(bits, answer)
}

// FirstAbove asks until the first is above.
//
// want: accepted: eps
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func FirstAbove(q []float64, eps privacy.Epsilon, bits noise.Bits) (int, error) {
	m, err := mechanism.NewAboveThreshold(mechanism.AboveThresholdOptions{Threshold: 100, Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return -1, err
	}
	for i, x := range q {
		a, err := m.Ask(bits, x)
		if err != nil {
			return -1, err
		}
		if a.Above {
			return i, nil
		}
	}
	return -1, nil
}

// Alerts counts above each of public cuts, and asks one run of them.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:cost eps
func Alerts(rows []float64, cuts []float64, eps privacy.Epsilon, bits noise.Bits) ([]bool, error) {
	m, err := mechanism.NewSparseVector(mechanism.SparseVectorOptions{Threshold: 50, Sensitivity: big.NewRat(1, 1), Answers: 3, Epsilon: eps})
	if err != nil {
		return nil, err
	}
	var alerts []bool
	for _, c := range cuts {
		n := 0.0
		for _, r := range rows {
			if r > c {
				n++
			}
		}
		a, err := m.Ask(bits, n)
		if err != nil {
			return alerts, err
		}
		alerts = append(alerts, a.Above)
	}
	return alerts, nil
}

// Staged chooses, and releases what it chose: two prices.
//
// want: accepted: eps1 + eps2
//
//dp:adjacent each(scores) <= 1
//dp:cost eps1 + eps2
func Staged(scores []float64, eps1, eps2 privacy.Epsilon, bits noise.Bits) (int, float64, error) {
	m, err := mechanism.NewPermuteAndFlip(mechanism.PermuteAndFlipOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps1})
	if err != nil {
		return 0, 0, err
	}
	i, err := m.Choose(bits, scores)
	if err != nil {
		return 0, 0, err
	}
	v, err := mechanism.NewVector(mechanism.VectorOptions{L1: big.NewRat(1, 1), Epsilon: eps2})
	if err != nil {
		return 0, 0, err
	}
	noisy, err := v.Release(bits, []float64{scores[i]})
	if err != nil {
		return 0, 0, err
	}
	return i, noisy[0], nil
}

// Rounds chooses in k rounds.
//
// want: accepted: eps*k
//
//dp:adjacent each(scores) <= 1
//dp:requires k >= 0
//dp:cost float64(k) * eps
func Rounds(scores []float64, k int, eps privacy.Epsilon, bits noise.Bits) ([]int, error) {
	m, err := mechanism.NewExponential(mechanism.ExponentialOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return nil, err
	}
	picked := make([]int, 0, k)
	for range k {
		i, err := m.Choose(bits, scores)
		if err != nil {
			return nil, err
		}
		picked = append(picked, i)
	}
	return picked, nil
}

// Peeled asks again for the best of those that are left.
//
// want: accepted: eps*k
//
//dp:adjacent bag(rows) <= 1
//dp:requires k >= 0
//dp:cost float64(k) * eps
func Peeled(rows []int, n, k int, eps privacy.Epsilon) ([]int, error) {
	m, err := mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: mechanism.ScoreOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps}})
	if err != nil {
		return nil, err
	}
	scores := make([]float64, n)
	for _, r := range rows {
		if r >= 0 && r < n {
			scores[r]++
		}
	}
	var out []int
	for range k {
		i, err := m.Choose(noise.System(), scores)
		if err != nil {
			return nil, err
		}
		out = append(out, i)
		scores[i] = -1
	}
	return out, nil
}

// Shares is asked at a third of ε, and at two.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:cost eps
func Shares(rows []float64, eps privacy.Epsilon) (float64, float64, error) {
	count, err := mechanism.NewVector(mechanism.VectorOptions{L1: big.NewRat(1, 1), Epsilon: eps.MulRat(big.NewRat(1, 3))})
	if err != nil {
		return 0, 0, err
	}
	sum, err := mechanism.NewVector(mechanism.VectorOptions{L1: big.NewRat(5, 1), Epsilon: eps.MulRat(big.NewRat(2, 3))})
	if err != nil {
		return 0, 0, err
	}
	total := 0.0
	for _, r := range rows {
		total += max(-5, min(5, r))
	}
	n, err := count.Release(noise.System(), []float64{float64(len(rows))})
	if err != nil {
		return 0, 0, err
	}
	s, err := sum.Release(noise.System(), []float64{total})
	if err != nil {
		return 0, 0, err
	}
	return n[0], s[0], nil
}
