package hidden

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// SameByTwoWays returns 0 always; on one way the variable could have been infinite.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:cost 0
func SameByTwoWays(x float64, src *noise.Source) float64 {
	best := math.Inf(-1)
	if x > 0 {
		best = 0
		return best
	}
	return 0
}

type noted struct{ noisy, weight float64 }

// SameInStruct returns what is positive by two ways.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SameInStruct(x, eps float64, src *noise.Source) noted {
	y := x + src.Laplace(1/eps)
	best := math.Inf(-1)
	if y > 0 {
		best = y
	}
	if x > 0 && y > 0 {
		return noted{y, 1}
	}
	return noted{best, 1}
}

// SignOfInfinity tells the sign of x, and is refused: it was proved, as both are infinite.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SignOfInfinity(x, eps float64, src *noise.Source) float64 {
	if x > 0 {
		return math.Inf(1)
	}
	return math.Inf(-1)
}
