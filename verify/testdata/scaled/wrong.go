package scaled

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// QueryHalf has half of the noise on queries.
//
// want: refuted
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func QueryHalf(q []float64, t, c, eps float64, src *noise.Source) int {
	t += src.Laplace(2 * c / eps)
	for i, x := range q {
		if x+src.Laplace(2*c/eps) >= t {
			return i
		}
	}
	return -1
}

// NoUnit has noise as for queries that move by 1.
//
// want: refuted
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func NoUnit(q []float64, t, c, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// Square has queries that move by c², and noise for c.
//
// want: refuted
//
//dp:adjacent each(q) <= c*c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Square(q []float64, t, c, eps float64, src *noise.Source) int {
	t += src.Laplace(2 * c / eps)
	for i, x := range q {
		if x+src.Laplace(4*c/eps) >= t {
			return i
		}
	}
	return -1
}

// Double has queries that move by 2c, and noise for c.
//
// want: refuted
//
//dp:adjacent each(q) <= 2*c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Double(q []float64, c, eps float64, src *noise.Source) int {
	best, arg := 0.0, -1
	for i, x := range q {
		noisy := x + src.Laplace(2*c/eps)
		if arg < 0 || noisy > best {
			best, arg = noisy, i
		}
	}
	return arg
}

// OneWay has noise that is enough in one direction alone: queries that rise cost
// nothing where the answer is above, those that fall do.
//
// want: refuted
//
//dp:adjacent each(q) in [0, c]
//dp:requires c > 0 && eps > 0
//dp:cost eps
func OneWay(q []float64, t, c, eps float64, src *noise.Source) int {
	for i, x := range q {
		if x+src.Laplace(c/eps) >= t {
			return i
		}
	}
	return -1
}

// SumOfAll lets all rows move.
//
// want: refuted
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func SumOfAll(q []float64, c, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	return sum + src.Laplace(c/eps)
}

// Halves divides whole numbers, which rounds: neighbours at a distance of 1 may come
// to lie 1 apart, where half of that is paid for.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Halves(x, c int64, eps float64, src *noise.Source) int64 {
	return x/2 + src.DiscreteLaplace(float64(c)/(2*eps))
}

// Squares adds a square, which is of another degree.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Squares(x, c, eps float64, src *noise.Source) float64 {
	return x*x + src.Laplace(c/eps)
}

// Scores are told apart by the exponential mechanism at ε, as if they moved by 1.
//
// want: refuted
//
//dp:adjacent each(q) <= c
//dp:requires c > 0 && eps > 0 && len(q) > 0
//dp:cost eps
func Scores(q []float64, c, eps float64, src *noise.Source) int {
	return src.Choose(q, eps)
}

// Crossed adds the noise of one unit to what moves by the other.
//
// want: refuted
//
//dp:adjacent |x| <= c && |y| <= d
//dp:requires c > 0 && d > 0 && eps > 0
//dp:cost eps
func Crossed(x, y, c, d, eps float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(2*d/eps), y + src.Laplace(2*c/eps)
}

// CostsUnit claims a cost that is counted in units too.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost c * eps
func CostsUnit(x, c, eps float64, src *noise.Source) float64 {
	return x + src.Laplace(c/eps)
}

// HalvesReal is Halves with real noise: what is divided is whole.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func HalvesReal(x, c int64, eps float64, src *noise.Source) float64 {
	return float64(x/2) + src.Laplace(float64(c)/(2*eps))
}

// Parity adds twice whole noise, which leaves whether x is even.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Parity(x, c int64, eps float64, src *noise.Source) int64 {
	return x + 2*src.DiscreteLaplace(float64(c)/(2*eps))
}

// Less has a constant taken from the scale: it is not multiplied by c.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 1 && eps > 0
//dp:cost eps
func Less(x, c, eps float64, src *noise.Source) float64 {
	return x + src.Laplace((c-1)/eps)
}

// CostIsUnit claims a cost that is no multiple of ε.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0
//dp:cost c
func CostIsUnit(x, c float64, src *noise.Source) float64 {
	return x + src.Laplace(c)
}

// RoundedUnit rounds what moves by c to the grid of noise for 1.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0.001
//dp:cost eps
func RoundedUnit(x, c, eps float64, src *noise.Source) float64 {
	return src.Round(x, 1/eps) + src.Laplace(1/eps)
}

// Assigned takes half of the unit for the unit.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Assigned(x, c, eps float64, src *noise.Source) float64 {
	c /= 2
	return x + src.Laplace(c/eps)
}

// KnownHalf is Known with the scales the other way round.
//
// want: refuted
//
//dp:adjacent |x| <= 1 && |y| <= 1
//dp:requires a > 0 && a == 2*b
//dp:cost 1.5 / a
func KnownHalf(x, y, a, b float64, src *noise.Source) (float64, float64) {
	return x + src.Laplace(a), y + src.Laplace(b)
}

// Forgotten does not multiply the noise by the number of answers.
//
// want: refuted
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

// Rounded rounds to a grid, which may move neighbours apart by a step more than c.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires 0 < c && 0 < eps && c < 1000000*eps
//dp:cost eps
func Rounded(x, c, eps float64, src *noise.Source) float64 {
	return src.Round(x, c/eps) + src.Laplace(c/eps)
}

// Steps counts whole steps of x, of which there may be one more than x moves.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Steps(x, c, eps float64, src *noise.Source) float64 {
	return math.Floor(x) + src.Laplace(c/eps)
}

// Mixed moves down by 1, and has noise for c.
//
// want: refuted
//
//dp:adjacent x in [-1, c]
//dp:requires c > 0 && eps > 0
//dp:cost eps
func Mixed(x, c, eps float64, src *noise.Source) float64 {
	return x + src.Laplace(c/eps)
}

// MultipliedByHalf has half of the noise.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func MultipliedByHalf(x, c, eps float64, src *noise.Source) float64 {
	return x + c/(2*eps)*src.Laplace(1)
}

// MultipliedPrivately has more noise where there is more to hide.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires x > 1 && eps > 0
//dp:cost eps
func MultipliedPrivately(x, eps float64, src *noise.Source) float64 {
	return x + x*src.Laplace(1/eps)
}

// MultipliedAfterwards has another factor where the noise is added.
//
// want: refuted
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0
//dp:cost eps
func MultipliedAfterwards(x, c, eps float64, src *noise.Source) float64 {
	scale := c / eps
	z := src.Laplace(1)
	scale = scale / 2
	return x + scale*z
}
