// Package exact has functions and the numbers of which a verdict on them speaks.
package exact

import "github.com/discreet-dp/discreet/noise"

// over: integers
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func Whole(q []int64, t int64, eps float64, src *noise.Source) int {
	t += src.DiscreteLaplace(2 / eps)
	for i, x := range q {
		if x+src.DiscreteLaplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// over: integers
//
//dp:adjacent |answer| <= 1
//dp:cost eps
func Coin(answer int, eps float64, src *noise.Source) float64 {
	if src.Bernoulli(eps/4+0.5) == (answer > 0) {
		return 0.5
	}
	return 1.5
}

// over: integers
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func PublicFloats(q []int64, t, eps float64, src *noise.Source) (float64, int64) {
	t = t*2 + 1
	return t / 3, src.DiscreteLaplace(t/eps) + q[0]
}

// over: grid
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func Rounded(q []float64, t, eps float64, src *noise.Source) int {
	noisy := src.Round(t, 2/eps) + src.Laplace(2/eps)
	for i, x := range q {
		if src.Round(x, 4/eps)+src.Laplace(4/eps) >= noisy {
			return i
		}
	}
	return -1
}

// over: grid
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func Max(q []float64, eps float64, src *noise.Source) (arg int) {
	best := 0.0
	for i, x := range q {
		noisy := src.Round(x, 2/eps) + src.Laplace(2/eps)
		if i == 0 || noisy > best {
			arg, best = i, noisy
		}
	}
	return arg
}

// over: grid
//
//dp:adjacent each(scores) <= 1
//dp:cost eps
func Choose(scores []float64, eps float64, src *noise.Source) int { return src.Choose(scores, eps) }

// over: grid
//
//dp:adjacent |x| <= 1
//dp:cost eps
func Compared(x, eps float64, src *noise.Source) bool { return x > 0.3 || src.Laplace(eps) > 1 }

// over: reals, line 86: x + laplace1 may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func OffGrid(x, eps float64, src *noise.Source) float64 {
	return x + src.Laplace(1/eps)
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func OtherGrid(x, eps float64, src *noise.Source) float64 {
	return src.Round(x, 2/eps) + src.Laplace(1/eps)
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func OffThreshold(x, t, eps float64, src *noise.Source) bool {
	return src.Round(x, 1/eps)-t+src.Laplace(1/eps) > 0
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func Thrice(x, eps float64, src *noise.Source) float64 {
	return src.Round(x, 1/eps) + src.Laplace(1/eps) + src.Laplace(1/eps)
}

// over: reals, may round
//
//dp:adjacent one(q) <= 1
//dp:cost eps
func Sum(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range q {
		sum += src.Round(x, 1/eps)
	}
	return sum + src.Laplace(1/eps)
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func SumFirst(x, y, eps float64, src *noise.Source) float64 {
	return src.Round(x+y, 1/eps) + src.Laplace(1/eps)
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func ScaleChanges(x, eps float64, src *noise.Source) float64 {
	y := src.Round(x, 1/eps)
	eps /= 3
	return y + src.Laplace(1/eps)
}

// over: reals, may round
//
//dp:adjacent |n| <= 1
//dp:cost eps
func Converted(n int64, eps float64, src *noise.Source) float64 {
	return float64(n+src.DiscreteLaplace(1/eps)) / 3
}

// over: reals, may round
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func Budget(q []int64, eps float64, src *noise.Source) int {
	spent := 0.0
	for i, x := range q {
		if x+src.DiscreteLaplace(1/eps) > 0 {
			spent += eps / 7
		}
		if spent > eps {
			return i
		}
	}
	return -1
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func PrivateScale(x int64, eps float64, src *noise.Source) float64 {
	b := 1.0
	if x > 0 {
		b = 3
	}
	return src.Round(1, b) + src.Laplace(b)
}

// over: reals, need not be a multiple of the grid
//
//dp:adjacent |x| <= c
//dp:cost eps
func AnyDistance(x, c, eps float64, src *noise.Source) bool {
	return x < src.Laplace(c/eps)
}

// over: reals, 1 / 3 need not be a multiple of the grid
//
//dp:adjacent |x| <= 1.0/3
//dp:cost eps
func Third(x, eps float64, src *noise.Source) bool {
	return x < src.Laplace(1/(3*eps))
}

// over: grid
//
//dp:adjacent each(q) <= c
//dp:cost eps
func Chosen(q []float64, c, eps float64, src *noise.Source) int {
	return src.Choose(q, eps/c)
}

// over: grid
//
//dp:adjacent |x| <= 1
//dp:cost eps
func NamedScale(x, eps float64, src *noise.Source) float64 {
	budget := eps / 2
	scale := 1 / budget
	return src.Round(x, scale) + src.Laplace(1/(eps/2))
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func ScaleOfTwo(x, eps float64, n int, src *noise.Source) float64 {
	scale := 1 / eps
	y := src.Round(x, scale)
	if n > 3 {
		scale = 2 / eps
	}
	return y + src.Laplace(scale)
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func ScaleInLoop(x, eps float64, src *noise.Source) float64 {
	y := 0.0
	for i := range 3 {
		scale := float64(i+1) / eps
		y += src.Round(x, 1/eps) + src.Laplace(scale)
	}
	return y
}

// over: reals, delta
//
//dp:adjacent |x| <= 1
//dp:cost 1/b, 0.5
func TailOfNoise(x int64, b float64, src *noise.Source) bool {
	return x > 0 && src.Laplace(b) >= 0
}

// over: reals, may round
//
//dp:adjacent bag(rows) <= 1
//dp:cost eps
func HowManyRows(rows []int64, eps float64, src *noise.Source) float64 {
	return src.Round(float64(len(rows))/10, 1/eps) + src.Laplace(1/eps)
}

// over: reals, may round
//
//dp:adjacent |x| <= 1
//dp:cost eps
func PrivatePlace(x int, eps float64, src *noise.Source) float64 {
	hot := make([]float64, 3)
	hot[x] = 1
	return src.Round(hot[0]+1e16-1e16, 1/eps) + src.Laplace(1/eps)
}
