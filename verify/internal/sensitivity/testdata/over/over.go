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

// InElement rounds in an element.
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func InElement(n int, eps float64, src *noise.Source) []float64 {
	h := make([]float64, 1)
	for i := range h {
		h[i] = float64(min(max(n, -1000), 1000))
		h[i] += 0.3
		h[i] -= 0.3
		h[i] += src.Laplace(1 / eps)
	}
	return h
}

// LessThanThree: 0.1*3*10 is 3.0000000000000004.
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func LessThanThree(n int, eps float64, src *noise.Source) float64 {
	t := 0.1
	return min(float64(min(max(n, -1000), 1000)), t*3*10) + src.Laplace(1/eps)
}

// LessThanQuotient: 0.3/0.1 is 2.9999999999999996.
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func LessThanQuotient(n int, eps float64, src *noise.Source) float64 {
	t, w := 0.3, 0.1
	return min(float64(min(max(n, -1000), 1000)), t/w) + src.Laplace(1/eps)
}

// LessThanSum: ten times 0.1 are 0.9999999999999999.
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func LessThanSum(n int, eps float64, src *noise.Source) float64 {
	u := 0.0
	for range 10 {
		u += 0.1
	}
	return min(float64(min(max(n, -1000), 1000)), u) + src.Laplace(1/eps)
}
