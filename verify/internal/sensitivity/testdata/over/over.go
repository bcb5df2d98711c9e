// Package over has functions that are proved, of integers, of floats on the grid of their
// noise, or of real numbers alone.
package over

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func WholeAll(n int64, eps float64, src *noise.Source) int64 {
	return 2*n - n + src.DiscreteLaplace(1/eps)
}

// ThereAndBack moves by 2 at 2^53+1, which float64 has not.
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func ThereAndBack(n int64, eps float64, src *noise.Source) int64 {
	return int64(float64(n)) + src.DiscreteLaplace(1/eps)
}

//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SumBack(q []int64, eps float64, src *noise.Source) int64 {
	sum := 0.0
	for _, x := range q {
		sum += float64(x)
	}
	return int64(sum) + src.DiscreteLaplace(1/eps)
}

// Shifted moves by 16 if at all.
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func Shifted(n int64, eps float64, src *noise.Source) int64 {
	return int64(float64(max(0, min(n, 100)))+1e17-1e17) + src.DiscreteLaplace(1/eps)
}

//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func AnySize(n int64, eps float64, src *noise.Source) float64 {
	return float64(n) + src.Laplace(1/eps)
}

// OfBoundedSize adds what is on the grid, once: it is rounded, if at all, after that.
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func OfBoundedSize(n int64, eps float64, src *noise.Source) float64 {
	return float64(max(0, min(n, 100))) + src.Laplace(1/eps)
}

//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func WeighedAfter(n int64, w, eps float64, src *noise.Source) float64 {
	return w * (float64(max(0, min(n, 100))) + src.Laplace(1/eps))
}

func there(n int64) float64 { return float64(n) }

//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func BackInCallee(n int64, eps float64, src *noise.Source) int64 {
	return int64(there(n)) + src.DiscreteLaplace(1/eps)
}

//dp:adjacent |n| <= 2
//dp:sensitivity n = 1
func HalfOfWhole(n int64) int64 { return int64(float64(n) * 1) }
