// Package scaled has neighbours at a distance that is a parameter: right programs, and
// wrong ones that differ from them in one place. "want:" is the known verdict; what is
// wrong and stays unknown says why it is not refuted.
package scaled

import "github.com/discreet-dp/discreet/noise"

// AboveThreshold is of queries that each move by at most c.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func AboveThreshold(q []float64, t, c, eps float64, src *noise.Source) int {
	t += src.Laplace(2 * c / eps)
	for i, x := range q {
		if x+src.Laplace(4*c/eps) >= t {
			return i
		}
	}
	return -1
}

// AboveThresholdInt is AboveThreshold over the integers: all shifts are whole.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c >= 1 && eps > 0
//dp:cost eps
func AboveThresholdInt(q []int64, t, c int64, eps float64, src *noise.Source) int {
	t += src.DiscreteLaplace(2 * float64(c) / eps)
	for i, x := range q {
		if x+src.DiscreteLaplace(4*float64(c)/eps) >= t {
			return i
		}
	}
	return -1
}

// SVT gives n answers above the threshold.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0 && n > 0
//dp:cost eps
func SVT(q []float64, t, c, eps float64, n int, src *noise.Source) []bool {
	var above []bool
	t += src.Laplace(2 * c / eps)
	for i, count := 0, 0; i < len(q) && count < n; i++ {
		over := q[i]+src.Laplace(4*c*float64(n)/eps) >= t
		if over {
			count++
		}
		above = append(above, over)
	}
	return above
}

// SVTRising is of queries that only rise, with half of the noise.
//
// want: proved
//
//dp:adjacent each(q) in [0, c]
//dp:requires c > 0 && eps > 0 && n > 0
//dp:cost eps
func SVTRising(q []float64, t, c, eps float64, n int, src *noise.Source) []bool {
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

// A Limit is how far queries move.
type Limit struct{ bound, eps float64 }

// Gap shows by how much the first query above the threshold is above it; the bound is
// a field.
//
// want: proved
//
//dp:adjacent each(q) <= l.bound
//dp:requires l.bound > 0 && l.eps > 0
//dp:cost l.eps
func Gap(l Limit, q []float64, t float64, src *noise.Source) (int, float64) {
	t += src.Laplace(2 * l.bound / l.eps)
	for i, x := range q {
		if noisy := x + src.Laplace(4*l.bound/l.eps); noisy >= t {
			return i, noisy - t
		}
	}
	return -1, 0
}

// NoisyMax is of scores that each move by at most c.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func NoisyMax(q []float64, c, eps float64, src *noise.Source) int {
	best, arg := 0.0, -1
	for i, x := range q {
		noisy := x + src.Laplace(2*c/eps)
		if arg < 0 || noisy > best {
			best, arg = noisy, i
		}
	}
	return arg
}

// NoisyMaxGeometric has one-sided noise over the integers.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func NoisyMaxGeometric(q []int64, c int64, eps float64, src *noise.Source) int {
	var best int64
	arg := -1
	for i, x := range q {
		noisy := x + src.Geometric(2*float64(c)/eps)
		if arg < 0 || noisy > best {
			best, arg = noisy, i
		}
	}
	return arg
}

// Exponential is the exponential mechanism.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0 && len(q) > 0
//dp:cost eps
func Exponential(q []float64, c, eps float64, src *noise.Source) int {
	return src.Choose(q, eps/c)
}

// Sum is of rows that are clipped to 2c: one of them moves by at most 4c.
//
// want: proved
//
//dp:adjacent one(q) <= 4*c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Sum(q []float64, c, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	return sum + src.Laplace(4*c/eps)
}

// Prefixes are the sums of all beginnings, with noise on each element.
//
// want: proved
//
//dp:adjacent one(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Prefixes(q []float64, c, eps float64, src *noise.Source) []float64 {
	var sums []float64
	sum := 0.0
	for _, x := range q {
		sum += x + src.Laplace(c/eps)
		sums = append(sums, sum)
	}
	return sums
}

// Answers adds fresh noise to what is above the threshold.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0 && n > 0
//dp:cost eps
func Answers(q []float64, t, c, eps float64, n int, src *noise.Source) []float64 {
	var out []float64
	t += src.Laplace(3 * c / eps)
	for i, count := 0, 0; i < len(q) && count < n; i++ {
		if q[i]+src.Laplace(6*c*float64(n)/eps) >= t {
			out = append(out, q[i]+src.Laplace(3*c*float64(n)/eps))
			count++
		} else {
			out = append(out, 0)
		}
	}
	return out
}

// Margin compares with a constant, of which the proof uses nothing.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Margin(q []float64, t, c, eps float64, src *noise.Source) int {
	t += src.Laplace(2 * c / eps)
	for i, x := range q {
		if x+src.Laplace(4*c/eps)-t >= 16 {
			return i
		}
	}
	return -1
}

// Two inputs move, each by its own unit.
//
// want: proved
//
//dp:adjacent one(q) <= c && |x| <= d
//dp:requires c > 0 && d > 0 && eps > 0
//dp:cost eps
func Two(q []float64, x, c, d, eps float64, src *noise.Source) (float64, float64) {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	return sum + src.Laplace(2*c/eps), x + src.Laplace(2*d/eps)
}

// Told has its shifts given, in terms of c.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Told(q []float64, t, c, eps float64, src *noise.Source) int {
	//dp:align c
	noise := src.Laplace(2 * c / eps)
	t += noise
	for i, x := range q {
		//dp:align cond(x+noise >= t, c-diff(x), 0)
		noise := src.Laplace(4 * c / eps)
		if x+noise >= t {
			return i
		}
	}
	return -1
}

// Known has noise of two scales, of which the requirements say how they compare.
//
// want: proved
//
//dp:adjacent |x| <= 1 && |y| <= 1
//dp:requires a > 0 && b == 2*a
//dp:cost 1.5 / a
func Known(x, y, a, b float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(a), y + src.Laplace(b)
}

// Multiplied multiplies noise of scale 1.
//
// want: proved
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Multiplied(x, c, eps float64, src *noise.Source) float64 {
	return x + c/eps*src.Laplace(1)
}

// MultipliedMax is noisy max with such noise.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func MultipliedMax(q []float64, eps float64, src *noise.Source) int {
	best, arg := 0.0, 0
	for i, x := range q {
		noisy := x + 2*src.Exponential(1)/eps
		if i == 0 || noisy > best {
			best, arg = noisy, i
		}
	}
	return arg
}

// MultipliedThreshold has noise by a scale that is computed first.
//
// want: proved
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func MultipliedThreshold(q []float64, t, c, eps float64, src *noise.Source) int {
	scale := 2 * c / eps
	t += scale * src.Laplace(1)
	for i, x := range q {
		if x+2*scale*src.Laplace(1) >= t {
			return i
		}
	}
	return -1
}
