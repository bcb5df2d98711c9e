// Package fresh holds programs as somebody writes them who knows the literature and
// the subset, and not what the tool can prove: their wants are the truth.
package fresh

import "github.com/discreet-dp/discreet/noise"

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
