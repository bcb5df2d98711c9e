package more

import (
	"iter"
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// AboveThresholdOneSided has one-sided noise on threshold and queries, with less
// variance: both only ever move up (Durfee 2023, arXiv 2305.01177).
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func AboveThresholdOneSided(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Exponential(2 / eps)
	for i, x := range q {
		if x+src.Exponential(4/eps) >= t {
			return i
		}
	}
	return -1
}

// AboveThresholdOneSidedInt is AboveThresholdOneSided over the integers.
//
// want: proved
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func AboveThresholdOneSidedInt(counts []int64, t int64, eps float64, src *noise.Source) int {
	t += src.Geometric(2 / eps)
	for i, x := range counts {
		if x+src.Geometric(4/eps) >= t {
			return i
		}
	}
	return -1
}

// AboveThresholdDown has one-sided noise that lowers the queries: they cannot make up
// for a threshold that rises.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func AboveThresholdDown(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Exponential(2 / eps)
	for i, x := range q {
		if x-src.Exponential(4/eps) >= t {
			return i
		}
	}
	return -1
}

// BelowThreshold is SVT in a mirror: n answers below, and those above are free.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func BelowThreshold(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		if q[i]+src.Laplace(4*float64(n)/eps) >= t {
			above = append(above, true)
		} else {
			above = append(above, false)
			count++
		}
	}
	return above
}

// BelowThresholdLacksN has the noise of one answer below for n of them.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func BelowThresholdLacksN(q []float64, t float64, n int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		if q[i]+src.Laplace(4/eps) >= t {
			above = append(above, true)
		} else {
			above = append(above, false)
			count++
		}
	}
	return above
}

// Outside returns the index of the first query that is noisily outside of an interval,
// which one draw widens on both sides.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Outside(q []float64, low, high, eps float64, src *noise.Source) (int, bool) {
	wider := src.Laplace(2 / eps)
	low -= wider
	high += wider
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if noisy > high {
			return i, true
		}
		if noisy < low {
			return i, false
		}
	}
	return -1, false
}

// OutsideHalf widens the interval above, and not below.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OutsideHalf(q []float64, low, high, eps float64, src *noise.Source) (int, bool) {
	high += src.Laplace(2 / eps)
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if noisy > high {
			return i, true
		}
		if noisy < low {
			return i, false
		}
	}
	return -1, false
}

// BetweenNarrow has no distance between the thresholds.
//
// Retries asks each query up to a number of times, with fresh noise: what is below stays
// free, however often.
//
// RetriesAll reports how many of the tries were above, and counts that as one.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func RetriesAll(q []float64, t float64, n, retries int, eps float64, src *noise.Source) []int {
	t += src.Laplace(2 / eps)
	var above []int
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		found := 0
		for try := 0; try < retries; try++ {
			if q[i]+src.Laplace(4*float64(n)/eps) >= t {
				found++
			}
		}
		if found > 0 {
			count++
		}
		above = append(above, found)
	}
	return above
}

// Rethreshold draws the threshold again after each answer above but the last: Dwork and
// Roth 2014, Algorithm 2, as one would write it.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func Rethreshold(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	noisy := t + src.Laplace(2*float64(c)/eps)
	var above []bool
	count := 0
	for _, x := range q {
		if x+src.Laplace(4*float64(c)/eps) < noisy {
			above = append(above, false)
			continue
		}
		above = append(above, true)
		count++
		if count == c {
			break
		}
		noisy = t + src.Laplace(2*float64(c)/eps)
	}
	return above
}

// RethresholdShort has the noise of a run with one answer for c of them.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func RethresholdShort(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	noisy := t + src.Laplace(2/eps)
	var above []bool
	count := 0
	for _, x := range q {
		if x+src.Laplace(4/eps) < noisy {
			above = append(above, false)
			continue
		}
		above = append(above, true)
		count++
		if count == c {
			break
		}
		noisy = t + src.Laplace(2/eps)
	}
	return above
}

// Stream answers queries as they come, until n of them were above.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func Stream(q iter.Seq[int64], t int64, n int, eps float64, src *noise.Source) iter.Seq[bool] {
	return func(yield func(bool) bool) {
		t := t + src.DiscreteLaplace(2/eps)
		count := 0
		for x := range q {
			above := x+src.DiscreteLaplace(4*float64(n)/eps) >= t
			if !yield(above) {
				return
			}
			if above {
				count++
			}
			if count == n {
				return
			}
		}
	}
}

// StreamForever never halts.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func StreamForever(q iter.Seq[int64], t int64, n int, eps float64, src *noise.Source) iter.Seq[bool] {
	return func(yield func(bool) bool) {
		t := t + src.DiscreteLaplace(2/eps)
		for x := range q {
			if !yield(x+src.DiscreteLaplace(4*float64(n)/eps) >= t) {
				return
			}
		}
	}
}

// GapOrValue answers with the gap where a query is far above, and with a fresh value
// where it is above: the numeric and the gap form of SVT in one.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func GapOrValue(q []float64, t, far float64, n int, eps float64, src *noise.Source) []float64 {
	t += src.Laplace(3 / eps)
	var values []float64
	count := 0
	for i := 0; i < len(q) && count < n; i++ {
		gap := q[i] + src.Laplace(6*float64(n)/eps) - t
		if gap < 0 {
			values = append(values, 0)
			continue
		}
		if gap >= far {
			values = append(values, gap)
		} else {
			values = append(values, q[i]+src.Laplace(3*float64(n)/eps))
		}
		count++
	}
	return values
}

// PartitionSelection releases the counts of declared groups that are noisily large, with
// fresh noise: two phases of eps/2.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartitionSelection(counts []int64, least int64, eps float64, src *noise.Source) []int64 {
	released := make([]int64, len(counts))
	for i, n := range counts {
		if n+src.DiscreteLaplace(2/eps) >= least {
			released[i] = n + src.DiscreteLaplace(2/eps)
		}
	}
	return released
}

// PartitionSelectionRaw selects by the counts themselves.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartitionSelectionRaw(counts []int64, least int64, eps float64, src *noise.Source) []int64 {
	released := make([]int64, len(counts))
	for i, n := range counts {
		if n >= least {
			released[i] = n + src.DiscreteLaplace(2/eps)
		}
	}
	return released
}

// HiddenGroup releases the count of a group that may not be there: it needs a delta,
// with which the noisy count of one unit passes the threshold (Korolova et al. 2009;
// Desfontaines, Voss, Gipson and Mandayam 2022).
//
// want: proved
//
//dp:adjacent |count| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.5 && count >= 0
//dp:cost eps, delta
func HiddenGroup(count, eps, delta float64, src *noise.Source) float64 {
	if count > 0 {
		noisy := count + src.Laplace(1/eps)
		if noisy > 1+1/eps*math.Log(1/(2*delta)) {
			return noisy
		}
	}
	return 0
}

// HiddenGroupLow has a threshold that forgets the unit itself.
//
// want: refuted
//
//dp:adjacent |count| <= 1
//dp:requires eps > 0 && delta > 0 && delta < 0.5 && count >= 0
//dp:cost eps, delta
func HiddenGroupLow(count, eps, delta float64, src *noise.Source) float64 {
	if count > 0 {
		noisy := count + src.Laplace(1/eps)
		if noisy > 1/eps*math.Log(1/(2*delta)) {
			return noisy
		}
	}
	return 0
}
