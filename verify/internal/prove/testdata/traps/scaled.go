package traps

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// What follows has neighbours at a distance that is a parameter.

// ThresholdHalf has half of the noise on the threshold.
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func ThresholdHalf(q []float64, t, c, eps float64, src *noise.Source) int {
	t += src.Laplace(c / eps)
	for i, x := range q {
		if x+src.Laplace(4*c/eps) >= t {
			return i
		}
	}
	return -1
}

// Signed does not say that c is positive: noise of a negative scale is none.
//
//dp:adjacent each(q) <= c
//dp:requires eps > 0
//dp:cost eps
func Signed(q []float64, t, c, eps float64, src *noise.Source) int {
	t += src.Laplace(2 * c / eps)
	for i, x := range q {
		if x+src.Laplace(4*c/eps) >= t {
			return i
		}
	}
	return -1
}

// BothWays has the noise that is enough for queries that only rise.
//
//dp:adjacent each(q) in [-c, c]
//dp:requires c > 0 && eps > 0 && n > 0
//dp:cost eps
func BothWays(q []float64, t, c, eps float64, n int, src *noise.Source) []bool {
	var above []bool
	t += src.Laplace(2 * c / eps)
	for i, count := 0, 0; i < len(q) && count < n; i++ {
		over := q[i]+src.Laplace(2*c*float64(n)/eps) >= t
		if over {
			count++
		}
		above = append(above, over)
	}
	return above
}

// Forgotten does not multiply the noise by the number of answers.
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0 && n > 0
//dp:cost eps
func Forgotten(q []float64, t, c, eps float64, n int, src *noise.Source) []bool {
	var above []bool
	t += src.Laplace(2 * c / eps)
	for i, count := 0, 0; i < len(q) && count < n; i++ {
		over := q[i]+src.Laplace(4*c/eps) >= t
		if over {
			count++
		}
		above = append(above, over)
	}
	return above
}

// Bare reveals the query that is above the threshold beside its index.
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Bare(q []float64, t, c, eps float64, src *noise.Source) (int, float64) {
	t += src.Laplace(2 * c / eps)
	for i, x := range q {
		if noisy := x + src.Laplace(4*c/eps); noisy >= t {
			return i, noisy
		}
	}
	return -1, 0
}

// Rounded rounds to a grid, which may move neighbours apart by a step more than c.
//
//dp:adjacent |x| <= c
//dp:requires 0 < c && 0 < eps && c < 1000000*eps
//dp:cost eps
func Rounded(x, c, eps float64, src *noise.Source) float64 {
	return src.Round(x, c/eps) + src.Laplace(c/eps)
}

// Steps counts whole steps of x, of which there may be one more than x moves.
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Steps(x, c, eps float64, src *noise.Source) float64 {
	return math.Floor(x) + src.Laplace(c/eps)
}

// KnownAtMost has a second scale of at most what it should be.
//
//dp:adjacent |x| <= 1 && |y| <= 1
//dp:requires a > 0 && 0 < b && b <= 2*a
//dp:cost 1.5 / a
func KnownAtMost(x, y, a, b float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(a), y + src.Laplace(b)
}

// KnownOr has a second scale that may be another.
//
//dp:adjacent |x| <= 1 && |y| <= 1
//dp:requires a > 0 && b > 0 && (b == 2*a || b == a)
//dp:cost 1.5 / a
func KnownOr(x, y, a, b float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(a), y + src.Laplace(b)
}

// KnownNot has a second scale that is another.
//
//dp:adjacent |x| <= 1 && |y| <= 1
//dp:requires a > 0 && b > 0 && b != 2*a
//dp:cost 1.5 / a
func KnownNot(x, y, a, b float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(a), y + src.Laplace(b)
}

// KnownOther has a second scale that compares with a third.
//
//dp:adjacent |x| <= 1 && |y| <= 1
//dp:requires a > 0 && c > 0 && b == 2*c
//dp:cost 1.5 / a
func KnownOther(x, y, a, b, c float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(a), y + src.Laplace(b)
}

// Mixed moves down by 1, and has noise for c.
//
//dp:adjacent x in [-1, c]
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Mixed(x, c, eps float64, src *noise.Source) float64 {
	return x + src.Laplace(c/eps)
}
