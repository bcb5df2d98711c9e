package fresh

import (
	"errors"
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// What is counted first, and looked at then.

// StableBins shows the bins that somebody is in, if they are far from empty.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1 && k > 0
//dp:cost eps, delta
func StableBins(rows []int, k int, eps, delta float64, src *noise.Source) []float64 {
	counts := make([]float64, k)
	for _, r := range rows {
		if r >= 0 && r < k {
			counts[r]++
		}
	}
	out := make([]float64, k)
	for i, c := range counts {
		if c > 0 {
			noisy := c + src.Laplace(1/eps)
			if noisy > 1+math.Log(1/delta)/eps {
				out[i] = noisy
			}
		}
	}
	return out
}

// StableBinsTwice counts each record for two.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1 && k > 0
//dp:cost eps, delta
func StableBinsTwice(rows []int, k int, eps, delta float64, src *noise.Source) []float64 {
	counts := make([]float64, k)
	for _, r := range rows {
		if r >= 0 && r < k {
			counts[r] += 2
		}
	}
	out := make([]float64, k)
	for i, c := range counts {
		if c > 0 {
			noisy := c + src.Laplace(1/eps)
			if noisy > 1+math.Log(1/delta)/eps {
				out[i] = noisy
			}
		}
	}
	return out
}

// QuantileAbove is the first of a public grid with as many records below it as are wanted.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func QuantileAbove(rows, grid []float64, want, eps float64, src *noise.Source) int {
	want += src.Laplace(2 / eps)
	for i, g := range grid {
		n := 0
		for _, r := range rows {
			if r <= g {
				n++
			}
		}
		if float64(n)+src.Laplace(4/eps) >= want {
			return i
		}
	}
	return len(grid)
}

// QuantileThree counts three for each record below.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func QuantileThree(rows, grid []float64, eps float64, src *noise.Source) int {
	t := src.Laplace(2 / eps)
	for i, g := range grid {
		diff := 0
		for _, r := range rows {
			if r <= g {
				diff += 3
			} else {
				diff--
			}
		}
		if float64(diff)+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// HeadCount says how many there are, if there are many.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && delta > 0 && delta < 1
//dp:cost eps, delta
func HeadCount(rows []float64, eps, delta float64, src *noise.Source) float64 {
	if len(rows) == 0 {
		return 0
	}
	y := float64(len(rows)) + src.Laplace(1/eps)
	if y <= 1+math.Log(1/delta)/eps {
		return 0
	}
	return y
}

// TooFewRecords says of how many records it says nothing.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func TooFewRecords(rows []float64, eps float64, src *noise.Source) (float64, error) {
	n, s := 0.0, 0.0
	for _, x := range rows {
		n++
		s += min(max(x, 0), 1)
	}
	if n <= 5 {
		return 0, errors.New("too few")
	}
	n += src.Laplace(2 / eps)
	s += src.Laplace(2 / eps)
	return s / n, nil
}

// ReplacedCount counts elements of which one may be any other.
//
// want: proved
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ReplacedCount(q []int, eps float64, src *noise.Source) int64 {
	var n int64
	for i := range q {
		if q[i] > 0 {
			n++
		}
	}
	return n + src.DiscreteLaplace(1/eps)
}

// ReplacedBins has noise for a record that comes, and not for one that goes.
//
// want: refuted
//
//dp:adjacent one(q) <= 1000
//dp:requires eps > 0 && k > 0
//dp:cost eps
func ReplacedBins(q []int, k int, eps float64, src *noise.Source) []int64 {
	bins := make([]int64, k)
	for _, x := range q {
		if x >= 0 && x < k {
			bins[x]++
		}
	}
	for i := range bins {
		bins[i] += src.DiscreteLaplace(1 / eps)
	}
	return bins
}

// WidestClip has noise of the farther of two bounds.
//
// want: proved
//
//dp:adjacent bag(rows) <= 1
//dp:requires lo < hi && eps > 0
//dp:cost eps
func WidestClip(rows []float64, lo, hi, eps float64, src *noise.Source) float64 {
	var s float64
	for i := 0; i < len(rows); i++ {
		s += math.Max(lo, math.Min(hi, rows[i]))
	}
	bound := math.Max(math.Abs(lo), math.Abs(hi))
	return s + src.Laplace(bound/eps)
}

// RangeClip has noise of how far the bounds are apart.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires lo < hi && eps > 0
//dp:cost eps
func RangeClip(rows []float64, lo, hi, eps float64, src *noise.Source) float64 {
	var s float64
	for i := 0; i < len(rows); i++ {
		s += math.Max(lo, math.Min(hi, rows[i]))
	}
	return s + src.Laplace((hi-lo)/eps)
}

// QuantileBare compares counts without noise: of one that grows in between, nothing hides it.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func QuantileBare(rows, grid []float64, want, eps float64, src *noise.Source) int {
	want += src.Laplace(1 / eps)
	for i, g := range grid {
		n := 0
		for _, r := range rows {
			if r <= g {
				n++
			}
		}
		if float64(n) >= want {
			return i
		}
	}
	return len(grid)
}

// ManyOrNone says exactly whether there are three.
//
// want: refuted
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func ManyOrNone(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0
	for _, r := range rows {
		if r > 1 {
			n++
		}
	}
	if n < 3 {
		return -1
	}
	return float64(n) + src.Laplace(1/eps)
}
