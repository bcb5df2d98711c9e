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

// Otherwise has a pair in the other branch.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Otherwise(x int64, eps float64, src *noise.Source) int64 {
	y := int64(0)
	if src.Bernoulli(0.5) {
		y = 1
	} else {
		y = x + src.Geometric(1/eps) - src.Geometric(1/eps)
	}
	return y
}

// Rounds has a pair in each round, and loops within.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Rounds(x int64, eps float64, src *noise.Source) int64 {
	y := int64(0)
outer:
	for i := range 2 {
		a, b := src.Geometric(1/eps), src.Geometric(1/eps)
		for j := range 2 {
			if i+j == 2 {
				break outer
			}
			if y > 2 {
				continue outer
			}
		}
		y += x + a - b
		if y < -2 {
			break
		}
	}
	return y
}

// Negative adds what is less than nothing.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Negative(x int64, eps float64, src *noise.Source) int64 {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	return x + a + -b
}

// Less takes the first away, and more.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Less(x int64, eps float64, src *noise.Source) int64 {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	return b - (a + x)
}

// Leaves may return between the two.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Leaves(x int64, eps float64, src *noise.Source) int64 {
	a := src.Geometric(1 / eps)
	if x > 1 {
		return 0
	}
	b := src.Geometric(1 / eps)
	return x + a - b
}

// wrong: First shows the first of the two as well.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func First(x int64, eps float64, src *noise.Source) (int64, int64) {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	return x + a - b, a
}

// wrong: Replaced has something else in the place of the first.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Replaced(x int64, eps float64, src *noise.Source) int64 {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	if x > 0 {
		a = 1
	}
	return x + a - b
}

// wrong: ReplacedSecond has it in the place of the second.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ReplacedSecond(x int64, eps float64, src *noise.Source) int64 {
	a, b := src.Geometric(1/eps), src.Geometric(1/eps)
	if x > 0 {
		b = 1
	}
	return x + a - b
}

// wrong: Laws are not the same.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Laws(x int64, eps float64, src *noise.Source) int64 {
	return x + src.Geometric(1/eps) - src.DiscreteLaplace(1/eps)
}

// wrong: Alone is a sum of nothing else.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Alone(x int64, eps float64, src *noise.Source) int64 {
	y := src.Geometric(1/eps) + src.Geometric(1/eps)
	return x + y
}

// wrong: Aligned says how the first is shifted.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Aligned(x int64, eps float64, src *noise.Source) int64 {
	//dp:align -diff(x)
	a := src.Geometric(1 / eps)
	b := src.Geometric(1 / eps)
	return x + a - b
}

// wrong: AlignedSecond says how the second is shifted.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func AlignedSecond(x int64, eps float64, src *noise.Source) int64 {
	a := src.Geometric(1 / eps)
	//dp:align diff(x)
	b := src.Geometric(1 / eps)
	return x + a - b
}

// wrong: Input shows an input that may be one of the two.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Input(x, b int64, eps float64, src *noise.Source) int64 {
	y := int64(0)
	if x > 0 {
		a := src.Geometric(1 / eps)
		b = src.Geometric(1 / eps)
		y = x + a - b
	}
	return y + b
}

// wrong: Before shows what was drawn in the round before.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Before(x, a, b int64, eps float64, src *noise.Source) int64 {
	y := x
	for range 2 {
		y += a - b
		a = src.Geometric(1 / eps)
		b = src.Geometric(1 / eps)
	}
	return y
}

// wrong: Widened has another scale by the second draw, in some cases.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Widened(x int64, eps float64, src *noise.Source) int64 {
	scale := 1.0
	a := src.Geometric(scale)
	if x > 0 {
		scale = 2 / eps
	}
	b := src.Geometric(scale)
	return x + a - b
}
