// Package fresh holds programs as somebody writes them who knows the literature and
// the subset, and not what the tool can prove: their wants are the truth.
package fresh

import (
	"iter"

	"github.com/discreet-dp/discreet/noise"
)

// SplitBudget is Lyu, Su and Li's algorithm 7: the budget is split between the
// threshold and the queries as the caller likes.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires e1 > 0 && e2 > 0 && c > 0
//dp:cost e1 + e2
func SplitBudget(q []float64, t float64, c int, e1, e2 float64, src *noise.Source) []bool {
	noisy := t + src.Laplace(1/e1)
	var out []bool
	for _, x := range q {
		if c == 0 {
			break
		}
		above := x+src.Laplace(2*float64(c)/e2) >= noisy
		out = append(out, above)
		if above {
			break
		}
	}
	return out
}

// FirstBelow returns the first query that is noisily below the threshold.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FirstBelow(q []float64, t, eps float64, src *noise.Source) int {
	noisy := t + src.Laplace(2/eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) < noisy {
			return i
		}
	}
	return len(q)
}

// NeverStops answers all queries at the price of one.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NeverStops(q []float64, t, eps float64, src *noise.Source) []bool {
	noisy := t + src.Laplace(2/eps)
	var out []bool
	for _, x := range q {
		out = append(out, x+src.Laplace(4/eps) >= noisy)
	}
	return out
}

// CountsBelow stops after c answers below: it is the mirror image of the sparse vector.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func CountsBelow(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	noisy := t + src.Laplace(2/eps)
	var out []bool
	left := c
	for _, x := range q {
		if left == 0 {
			break
		}
		if x+src.Laplace(4*float64(c)/eps) >= noisy {
			out = append(out, true)
		} else {
			out = append(out, false)
			left--
		}
	}
	return out
}

// NewThreshold draws the threshold again for each query.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NewThreshold(q []float64, t, eps float64, src *noise.Source) int {
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t+src.Laplace(2/eps) {
			return i
		}
	}
	return -1
}

// PrivateThreshold has a threshold that is private too, and pays for it.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:adjacent |t| <= 1
//dp:requires eps > 0
//dp:cost 3*eps/2
func PrivateThreshold(q []float64, t, eps float64, src *noise.Source) int {
	noisy := t + src.Laplace(2/eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= noisy {
			return i
		}
	}
	return -1
}

// PrivateThresholdFree does not.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:adjacent |t| <= 1
//dp:requires eps > 0
//dp:cost eps
func PrivateThresholdFree(q []float64, t, eps float64, src *noise.Source) int {
	noisy := t + src.Laplace(2/eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= noisy {
			return i
		}
	}
	return -1
}

// ClosedThreshold draws its threshold in a closure.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClosedThreshold(q []int64, t int64, eps float64, src *noise.Source) int {
	threshold := func() int64 { return t + src.DiscreteLaplace(2/eps) }
	noisy := threshold()
	above := func(x int64) bool { return x+src.DiscreteLaplace(4/eps) >= noisy }
	for i, x := range q {
		if above(x) {
			return i
		}
	}
	return -1
}

// ClosedThresholdAgain calls the closure for each query.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ClosedThresholdAgain(q []int64, t int64, eps float64, src *noise.Source) int {
	threshold := func() int64 { return t + src.DiscreteLaplace(2/eps) }
	for i, x := range q {
		if x+src.DiscreteLaplace(4/eps) >= threshold() {
			return i
		}
	}
	return -1
}

// TellsTheQuery answers above with the value that was compared.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TellsTheQuery(q []float64, t, eps float64, src *noise.Source) (int, float64) {
	noisy := t + src.Laplace(2/eps)
	for i, x := range q {
		if y := x + src.Laplace(4/eps); y >= noisy {
			return i, y
		}
	}
	return -1, 0
}

// TellsTheThreshold releases the noisy threshold too.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func TellsTheThreshold(q []float64, t, eps float64, src *noise.Source) (int, float64) {
	noisy := t + src.Laplace(2/eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= noisy {
			return i, noisy
		}
	}
	return -1, noisy
}

// SeparateThresholds compares each query with a public threshold of its own.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(t) == len(q)
//dp:cost eps
func SeparateThresholds(q, t []float64, eps float64, src *noise.Source) int {
	shift := src.Laplace(2 / eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t[i]+shift {
			return i
		}
	}
	return -1
}

// PausedVector stops at the first answer of either of two lists.
//
// want: proved
//
//dp:adjacent each(a) <= 1
//dp:adjacent each(b) <= 1
//dp:requires eps > 0 && len(a) == len(b)
//dp:cost eps
func PausedVector(a, b []float64, t, eps float64, src *noise.Source) (int, bool) {
	noisy := t + src.Laplace(2/eps)
	for i := range a {
		if a[i]+src.Laplace(4/eps) > noisy {
			return i, true
		}
		if b[i]+src.Laplace(4/eps) > noisy {
			return i, false
		}
	}
	return len(a), false
}

// HalfNoise has Laplace noise of half the size on the queries.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func HalfNoise(q []float64, t, eps float64, src *noise.Source) int {
	noisy := t + src.Laplace(2/eps)
	for i, x := range q {
		if x+src.Laplace(2/eps) >= noisy {
			return i
		}
	}
	return -1
}

type detector struct {
	limit float64
	scale float64
	rng   *noise.Source
}

func (d *detector) fires(x float64) bool { return x+d.rng.Laplace(d.scale) > d.limit }

// Detector keeps its noisy threshold in a struct.
//
// want: proved
//
//dp:adjacent each(stream) <= 1
//dp:requires epsilon > 0
//dp:cost epsilon
func Detector(stream []float64, limit, epsilon float64, rng *noise.Source) int {
	d := detector{limit: limit + rng.Laplace(2/epsilon), scale: 4 / epsilon, rng: rng}
	for i, x := range stream {
		if d.fires(x) {
			return i
		}
	}
	return -1
}

// DetectorPlain has a threshold without noise, and pays for the query only.
//
// want: refuted
//
//dp:adjacent each(stream) <= 1
//dp:requires epsilon > 0
//dp:cost epsilon
func DetectorPlain(stream []float64, limit, epsilon float64, rng *noise.Source) int {
	d := detector{limit: limit, scale: 2 / epsilon, rng: rng}
	for i, x := range stream {
		if d.fires(x) {
			return i
		}
	}
	return -1
}

// DetectorMany counts its parameter down, of which the noise is a multiple.
//
// want: proved
//
//dp:adjacent each(stream) <= 1
//dp:requires epsilon > 0 && alarms >= 1
//dp:cost epsilon
func DetectorMany(stream []float64, limit float64, alarms int, epsilon float64, rng *noise.Source) []bool {
	d := detector{limit: limit + rng.Laplace(2/epsilon), scale: 4 * float64(alarms) / epsilon, rng: rng}
	answers := make([]bool, 0, len(stream))
	for _, x := range stream {
		fired := d.fires(x)
		answers = append(answers, fired)
		if fired {
			alarms--
			if alarms == 0 {
				return answers
			}
		}
	}
	return answers
}

// DetectorOneMore counts below zero.
//
// want: refuted
//
//dp:adjacent each(stream) <= 1
//dp:requires epsilon > 0 && alarms >= 1
//dp:cost epsilon
func DetectorOneMore(stream []float64, limit float64, alarms int, epsilon float64, rng *noise.Source) []bool {
	d := detector{limit: limit + rng.Laplace(2/epsilon), scale: 4 * float64(alarms) / epsilon, rng: rng}
	answers := make([]bool, 0, len(stream))
	for _, x := range stream {
		fired := d.fires(x)
		answers = append(answers, fired)
		if fired {
			alarms--
			if alarms < 0 {
				return answers
			}
		}
	}
	return answers
}

// SparseFlags sets flags, under one budget split in three.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func SparseFlags(q []float64, cut float64, c int, eps float64, src *noise.Source) []bool {
	flags := make([]bool, len(q))
	level := cut + src.Laplace(3/eps)
	used := 0
	i := 0
	for i < len(q) && used != c {
		if q[i]+src.Laplace(3*float64(c)/eps) >= level {
			flags[i] = true
			used++
		}
		i++
	}
	return flags
}

// SparseMonotone answers counts that grow, with the noise that these allow.
//
// want: proved
//
//dp:adjacent each(q) in [0, 1]
//dp:requires eps > 0 && c > 0
//dp:cost eps
func SparseMonotone(q []int64, cut int64, c int, eps float64, src *noise.Source) []bool {
	var flags []bool
	level := cut + src.DiscreteLaplace(2/eps)
	used := 0
	for i := 0; i < len(q); i++ {
		if used >= c {
			break
		}
		hit := q[i]+src.DiscreteLaplace(2*float64(c)/eps) > level
		if hit {
			used += 1
		}
		flags = append(flags, hit)
	}
	return flags
}

// NumericSplit has three budgets, and counts its answers by the length of a slice.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires e1 > 0 && e2 > 0 && e3 > 0 && c > 0
//dp:cost e1 + e2 + e3
func NumericSplit(q []float64, cut float64, c int, e1, e2, e3 float64, src *noise.Source) ([]int, []float64) {
	var where []int
	var value []float64
	n := float64(c)
	level := cut + src.Laplace(1/e1)
	for i := range q {
		if len(where) >= c {
			break
		}
		if q[i]+src.Laplace(2*n/e2) > level {
			where = append(where, i)
			value = append(value, q[i]+src.Laplace(n/e3))
		}
	}
	return where, value
}

// NumericUnpaid does not pay for the values.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires e1 > 0 && e2 > 0 && e3 > 0 && c > 0
//dp:cost e1 + e2
func NumericUnpaid(q []float64, cut float64, c int, e1, e2, e3 float64, src *noise.Source) ([]int, []float64) {
	var where []int
	var value []float64
	n := float64(c)
	level := cut + src.Laplace(1/e1)
	for i := range q {
		if len(where) >= c {
			break
		}
		if q[i]+src.Laplace(2*n/e2) > level {
			where = append(where, i)
			value = append(value, q[i]+src.Laplace(n/e3))
		}
	}
	return where, value
}

// GapSwitch tells by how much the query is above.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func GapSwitch(q []float64, cut, eps float64, src *noise.Source) (int, float64) {
	level := cut + src.Laplace(2/eps)
	for i, x := range q {
		switch gap := x + src.Laplace(4/eps) - level; {
		case gap >= 0:
			return i, gap
		default:
			continue
		}
	}
	return -1, 0
}

// FirstInSequence reads queries until one is above.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FirstInSequence(q iter.Seq[float64], cut, eps float64, src *noise.Source) (seen int, found bool) {
	level := cut + src.Laplace(2/eps)
	for x := range q {
		if noisy := x + src.Laplace(4/eps); noisy >= level {
			found = true
			break
		}
		seen++
	}
	return seen, found
}

// AdaptiveTwo tries with more noise first: Ding et al. 2022, for one answer.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func AdaptiveTwo(q []float64, cut, margin, eps float64, src *noise.Source) (int, float64) {
	level := cut + src.Laplace(2/eps)
	for i, x := range q {
		high := x + src.Laplace(8/eps) - level
		if high >= margin {
			return i, high
		}
		low := x + src.Laplace(4/eps) - level
		if low >= 0 {
			return i, low
		}
	}
	return -1, 0
}

// AdaptiveBudget does so for as many answers as a budget in halves lasts.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func AdaptiveBudget(q []float64, cut, margin, eps float64, n int, src *noise.Source) []float64 {
	var out []float64
	level := cut + src.Laplace(2/eps)
	left := 2 * n
	for _, x := range q {
		if left < 2 {
			break
		}
		high := x + src.Laplace(8*float64(n)/eps) - level
		if high >= margin {
			out = append(out, high)
			left--
			continue
		}
		low := x + src.Laplace(4*float64(n)/eps) - level
		if low >= 0 {
			out = append(out, low)
			left -= 2
			continue
		}
		out = append(out, 0)
	}
	return out
}

// Comparison compares one number.
//
// want: proved
//
//dp:adjacent |salary| <= 1
//dp:requires eps > 0
//dp:cost eps
func Comparison(salary, limit int64, eps float64, src *noise.Source) bool {
	return salary+src.DiscreteLaplace(1/eps) > limit
}

// DetectorLate takes one from its parameter before the noise is computed.
//
// want: refuted
//
//dp:adjacent each(stream) <= 1
//dp:requires epsilon > 0 && alarms >= 2
//dp:cost epsilon
func DetectorLate(stream []float64, limit float64, alarms int, epsilon float64, rng *noise.Source) []bool {
	var answers []bool
	left := alarms
	alarms--
	level, scale := limit+rng.Laplace(2/epsilon), 4*float64(alarms)/epsilon
	for i := 0; i < len(stream) && left > 0; i++ {
		fired := stream[i]+rng.Laplace(scale) > level
		answers = append(answers, fired)
		if fired {
			left--
		}
	}
	return answers
}

// SharedBudget gives the threshold a share of the budget.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires share > 0 && share < 1 && eps > 0
//dp:cost eps
func SharedBudget(q []float64, cut, share, eps float64, src *noise.Source) int {
	e1 := share * eps
	e2 := eps - e1
	level := cut + src.Laplace(1/e1)
	for i, x := range q {
		if x+src.Laplace(2/e2) >= level {
			return i
		}
	}
	return -1
}

// ThirdBudget gives it a quarter.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ThirdBudget(q []float64, cut, eps float64, src *noise.Source) int {
	e1 := 0.25 * eps
	e2 := eps - e1
	level := cut + src.Laplace(1/e1)
	for i, x := range q {
		if x+src.Laplace(2/e2) >= level {
			return i
		}
	}
	return -1
}

// ThirdBudgetTwice has half of the noise that the queries need.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ThirdBudgetTwice(q []float64, cut, eps float64, src *noise.Source) int {
	e1 := 0.25 * eps
	e2 := eps - e1
	level := cut + src.Laplace(1/e1)
	for i, x := range q {
		if x+src.Laplace(1/e2) >= level {
			return i
		}
	}
	return -1
}

// FirstOf leaves the loop at the bottom.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func FirstOf(q []float64, cut float64, k int, eps float64, src *noise.Source) (answers []bool) {
	level := cut + src.Laplace(2/eps)
	hits := 0
	for i := range len(q) {
		above := q[i]+src.Laplace(4*float64(k)/eps) > level
		if above {
			answers = append(answers, true)
			hits++
		} else {
			answers = append(answers, false)
		}
		if hits == k {
			break
		}
	}
	return answers
}

// BetweenNarrow draws once for both ends, which closes the gap between them.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && low < high
//dp:cost eps
func BetweenNarrow(q []float64, low, high, eps float64, src *noise.Source) []int {
	closer := src.Laplace(2 / eps)
	low += closer
	high -= closer
	var answers []int
	for _, x := range q {
		noisy := x + src.Laplace(4/eps)
		if noisy >= low && noisy <= high {
			return append(answers, 0)
		}
		if noisy < low {
			answers = append(answers, -1)
		} else {
			answers = append(answers, 1)
		}
	}
	return answers
}

// WeightedAnswers gives the threshold a share of the budget, and the answers the rest.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && w > 0 && w < 1 && n > 0
//dp:cost eps
func WeightedAnswers(q []float64, t, w float64, n int, eps float64, src *noise.Source) []bool {
	e1, e2 := w*eps, (1-w)*eps
	bar := t + src.Laplace(1/e1)
	var out []bool
	for used, i := 0, 0; i < len(q); i++ {
		ok := q[i]+src.Laplace(2*float64(n)/e2) >= bar
		out = append(out, ok)
		if ok {
			if used++; used >= n {
				break
			}
		}
	}
	return out
}

// WeightedTwice gives the threshold a share of the budget, and the answers all of it.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && w > 0 && w < 1 && n > 0
//dp:cost eps
func WeightedTwice(q []float64, t, w float64, n int, eps float64, src *noise.Source) []bool {
	e1, e2 := w*eps, eps
	bar := t + src.Laplace(1/e1)
	var out []bool
	for used, i := 0, 0; i < len(q); i++ {
		ok := q[i]+src.Laplace(2*float64(n)/e2) >= bar
		out = append(out, ok)
		if ok {
			if used++; used >= n {
				break
			}
		}
	}
	return out
}
