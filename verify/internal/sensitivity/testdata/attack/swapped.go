package attack

import "github.com/discreet-dp/discreet/noise"

// Beside the programs of accept/swapped.go, each wrong in one thing.

// want: rejected: at most 2*eps
//
//dp:adjacent one(yes) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedWidth(yes []bool, eps float64, src *noise.Source) int {
	n := 0
	for _, y := range yes {
		if y {
			n++
		} else {
			n--
		}
	}
	return n + int(src.DiscreteLaplace(1/eps)) // it moves by 2
}

// want: rejected
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
		bins[i] += src.DiscreteLaplace(1 / eps) // two bins move
	}
	return bins
}

// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedRises(q []float64, eps float64, src *noise.Source) float64 {
	n, last := 0.0, 0.0
	for _, x := range q {
		if x > last { // of two elements
			n++
		}
		last = x
	}
	return n + src.Laplace(1/eps)
}

// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedPairs(q []float64, eps float64, src *noise.Source) float64 {
	n := 0.0
	for _, x := range q {
		for _, y := range q {
			if x > y {
				n++
			}
		}
	}
	return n + src.Laplace(1/eps)
}

// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedTwice(q []float64, eps float64, src *noise.Source) float64 {
	n := 0.0
	for range 2 {
		for _, x := range q {
			if x > 0 {
				n++
			}
		}
	}
	return n + src.Laplace(1/eps)
}

// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedLength(q []float64, eps float64, src *noise.Source) int {
	var above []float64
	for _, x := range q {
		if x > 0 {
			above = append(above, x)
		}
	}
	return len(above) // as many are in q, but not above
}

// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedFirst(q []float64, eps float64, src *noise.Source) float64 {
	n := 0.0
	for _, x := range q {
		if x > 0 {
			break
		}
		n++
	}
	return n + src.Laplace(1/eps)
}

// SwappedInner is of records that come or go.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedInner(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0.0
	for _, x := range rows {
		if x > 0 {
			n++
		}
	}
	return n + src.Laplace(1/eps)
}

// want: rejected: at most 2*eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedCall(q []float64, eps float64, src *noise.Source) float64 {
	return SwappedInner(q, eps, src) // one goes, and another one comes
}

// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SwappedJump(q []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, x := range q {
		if x > 0 {
			s += x // has no bound
		}
		if x > 1 {
			s++
		}
	}
	return s + src.Laplace(1/eps)
}
