package accept

import "github.com/discreet-dp/discreet/noise"

// Neighbours that differ in one element, where that decides.

// SwappedCount counts elements above a threshold.
//
// want: accepted: eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedCount(q []float64, t, eps float64, src *noise.Source) float64 {
	n := 0.0
	for _, x := range q {
		if x > t {
			n++
		}
	}
	return n + src.Laplace(1/eps)
}

// SwappedVotes counts those for and those against, which are never both.
//
// want: accepted: eps
//
//dp:adjacent one(yes) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedVotes(yes []bool, eps float64, src *noise.Source) int {
	n := 0
	for i := 0; i < len(yes); i++ {
		if yes[i] {
			n++
		} else {
			n--
		}
	}
	return n + int(src.DiscreteLaplace(2/eps))
}

// SwappedHistogram has one record leave a bin and another one come.
//
// want: accepted: eps
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0 && k > 0
//dp:cost eps
func SwappedHistogram(rows []int, k int, eps float64, src *noise.Source) []int64 {
	bins := make([]int64, k)
	for _, r := range rows {
		if r >= 0 && r < k {
			bins[r]++
		}
	}
	for i := range bins {
		bins[i] += src.DiscreteLaplace(2 / eps)
	}
	return bins
}

// SwappedMean knows how many records there are.
//
// want: accepted: eps
//
//dp:adjacent one(rows) <= 1000
//dp:requires eps > 0 && len(rows) > 0
//dp:cost eps
func SwappedMean(rows []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += min(max(r, -3), 3)
	}
	n := float64(len(rows))
	return s/n + src.Laplace(6/(n*eps))
}
