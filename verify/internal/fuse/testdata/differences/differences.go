// Package differences has functions with differences of one-sided noise.
package differences

import "github.com/discreet-dp/discreet/noise"

// Integers adds a difference of geometric noise.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Integers(x int64, eps float64, src *noise.Source) int64 {
	return x + src.Geometric(1/eps) - src.Geometric(1/eps)
}

// Named has names for both, and something between.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Named(x int64, eps float64, src *noise.Source) int64 {
	a := src.Geometric(1 / eps)
	y := 2 * x
	b := src.Geometric(1 / eps)
	z := y - x
	return b + z - a
}

// Branches has a pair in one branch.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Branches(x int64, eps float64, src *noise.Source) int64 {
	if src.Bernoulli(0.5) {
		return x - (src.Geometric(1/eps) - src.Geometric(1/eps))
	}
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	return -a + x + b
}

// Repeated adds the difference in each round of a loop, and the same each time.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Repeated(x int64, eps float64, src *noise.Source) int64 {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	y := int64(0)
	for i := range 3 {
		if i == 1 {
			continue
		}
		y += x + a - b
	}
	return y
}

// wrong: OnceMore shows one of the two after the loop.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func OnceMore(x int64, eps float64, src *noise.Source) int64 {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	y := int64(0)
	for range 2 {
		y += x + a - b
	}
	return y + b
}

// wrong: Scales are not the same.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Scales(x int64, eps float64, src *noise.Source) int64 {
	return x + src.Geometric(1/eps) - src.Geometric(2/eps)
}

// wrong: Sum has noise of one sign.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Sum(x int64, eps float64, src *noise.Source) int64 {
	return x + src.Geometric(1/eps) + src.Geometric(1/eps)
}

// wrong: Twice shows one of the two as well.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Twice(x int64, eps float64, src *noise.Source) (int64, int64) {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	return x + a - b, b
}

// wrong: Nonlinear is no difference.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Nonlinear(x int64, eps float64, src *noise.Source) int64 {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	return max(x+a, -b)
}

// wrong: Between shows the first before the second is drawn.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Between(x int64, eps float64, src *noise.Source) int64 {
	a := src.Geometric(1 / eps)
	if x+a > 0 {
		return 0
	}
	b := src.Geometric(1 / eps)
	return x + a - b
}

// wrong: Scaled has another scale by the second draw.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Scaled(x int64, eps float64, src *noise.Source) int64 {
	scale := 1 / eps
	a := src.Geometric(scale)
	scale = 2 * scale
	b := src.Geometric(scale)
	return x + a - b
}
