// Package traps holds functions whose claims are false, with alignments that would
// prove them if one condition of the theorem were forgotten.
package traps

import "github.com/discreet-dp/discreet/noise"

// Interval tells whether noise lies in an interval that shrinks with x. The alignment
// moves what falls out of the interval back in, on top of what is there: it is not
// injective. For small eps the probabilities are as 4 to 3.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && x >= 0 && x <= 1
//dp:cost eps
func Interval(x, eps float64, src *noise.Source) int {
	//dp:align cond(e >= 0 && e < 4-x && e >= 4-x-diff(x) || e >= 4-x && e < 4-x-diff(x), -diff(x), 0)
	e := src.Laplace(1 / eps)
	if e >= 0 && e < 4-x {
		return 1
	}
	return 0
}

// Halved would map samples onto half of the line: a volume that is not kept.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Halved(x, eps float64, src *noise.Source) float64 {
	//dp:align -e / 2 - diff(x)
	e := src.Laplace(1 / eps)
	return x + e
}

// Downwards shifts one-sided noise out of its support: x itself can be seen where the
// noise is 0.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Downwards(x, eps float64, src *noise.Source) float64 {
	//dp:align -diff(x)
	e := src.Exponential(1 / eps)
	return x + e
}

// Fraction shifts whole noise by half.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps/2
func Fraction(x int64, eps float64, src *noise.Source) int64 {
	//dp:align -diff(x) / 2
	k := src.DiscreteLaplace(1 / eps)
	return x + k
}

// Invariant gives an invariant that does not hold.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Invariant(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	//dp:invariant diff(sum) <= 1 && diff(sum) >= -1
	for _, x := range q {
		sum += x
	}
	return sum + src.Laplace(1/eps)
}

// NoneBefore shows something before noise of a scale that is 0 for n = 0, where
// nothing may be paid.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n >= 0
//dp:cost float64(n) * eps
func NoneBefore(x float64, n int, eps float64, src *noise.Source) (float64, float64) {
	y := x + src.Laplace(1/eps)
	if y > 0 {
		return y, 0
	}
	return y, src.Laplace(float64(n) / eps)
}

// Difference claims less than it pays, which the sign of a part does not excuse.
//
//dp:adjacent |x| <= 1
//dp:requires a >= 0 && b >= 0
//dp:cost a - b
func Difference(x, a, b float64, src *noise.Source) float64 {
	return x + src.Laplace(1/a)
}

// MaybeNegative may have that: nothing is required of eps.
//
//dp:adjacent |x| <= 1
//dp:cost eps
func MaybeNegative(x, eps float64, src *noise.Source) float64 {
	return x + src.Laplace(1/eps)
}

// Coarse rounds to the grid of noise that may be so wide that neighbours come to lie
// farther apart.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Coarse(x, eps float64, src *noise.Source) float64 {
	return src.Round(x, 1/eps) + src.Laplace(1/eps)
}

// Replaced writes over its input before it adds noise to what it was.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Replaced(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for i := range q {
		sum += q[i]
	}
	return sum/float64(len(q)) + sum + src.Laplace(1/eps)
}

// Named has an input of the name by which alignments call the outcome.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Named(q []float64, result int, eps float64, src *noise.Source) int {
	arg, best := -1, 0.0
	for i, x := range q {
		noisy := x + src.Laplace(2/eps)
		if i != result {
			noisy = x
		}
		if arg < 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// Early draws with a scale that is set after it.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Early(x, eps float64, n int, src *noise.Source) float64 {
	scale, sum := 0.5, 0.0
	for i := 0; i < n; i++ {
		sum = x + src.Laplace(scale/eps)
		scale = 1
	}
	return sum
}

// OneMore counts its answers by the length of a slice, and stops one too late.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func OneMore(q []float64, t float64, c int, eps float64, src *noise.Source) []int {
	t += src.Laplace(2 / eps)
	var above []int
	for i, x := range q {
		if len(above) > c {
			break
		}
		if x+src.Laplace(4*float64(c)/eps) >= t {
			above = append(above, i)
		}
	}
	return above
}

// Late computes the scale of its noise from a parameter that it has counted down.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n > 1
//dp:cost eps / float64(n)
func Late(x float64, n int, eps float64, src *noise.Source) float64 {
	n--
	return x + src.Laplace(float64(n)/eps)
}

// Spent writes down less than it spends.
//
//dp:adjacent each(q) <= 1
//dp:requires e > 0 && budget > 0
//dp:cost budget
func Spent(q []float64, e, budget float64, src *noise.Source) []float64 {
	var out []float64
	spent := 0.0
	for _, x := range q {
		if spent+e > budget {
			break
		}
		spent += e / 2
		out = append(out, x+src.Laplace(1/e))
	}
	return out
}

// Coarsely returns x as it is, which is never whole in units of c, and else a number
// that has no unit.
//
//dp:adjacent |x| <= c
//dp:adjacent |y| <= 1
//dp:requires eps > 0 && c > 0
//dp:requires 2*x == c || 2*x == 3*c
//dp:cost eps
func Coarsely(x, y, c int64, eps float64, src *noise.Source) int64 {
	if src.Bernoulli(0.5) {
		return x
	}
	z := y + src.DiscreteLaplace(1/eps)
	if z > 0 {
		z = 1
	} else {
		z = 0
	}
	return z
}

// Apart has one element that moves, by exactly 1, and compares two: at an index that is
// the same in both runs as nobody sees.
//
//dp:adjacent one(q) in [1, 1] && |n| <= 0
//dp:requires eps > 0 && n >= 0 && n + 1 < len(q)
//dp:cost eps
func Apart(q []float64, n int, eps float64, src *noise.Source) float64 {
	return q[n] - q[n+1]
}
