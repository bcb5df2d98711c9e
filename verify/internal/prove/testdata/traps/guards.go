package traps

import "github.com/discreet-dp/discreet/noise"

// Squeezed tells whether noise lies in an interval that shrinks with x. Halving what lies in it
// keeps it within, on half of the line.
//
//dp:adjacent x in [0,1]
//dp:requires eps > 0 && x >= 0 && x <= 1
//dp:cost eps
func Squeezed(x, eps float64, src *noise.Source) bool {
	e := src.Laplace(1 / eps)
	return e >= 0 && e <= 2-x
}

// Unbounded moves as far as c, and pays for 1. (There is noise of another scale, so that costs are
// counted in shares of n.)
//
//dp:adjacent |x| <= c
//dp:requires eps > 0 && c > 0 && n > 0
//dp:cost eps
func Unbounded(x, c float64, n int, eps float64, src *noise.Source) (float64, float64) {
	y := x + src.Laplace(1/eps)
	return y, src.Laplace(float64(n) / eps)
}

// Even tells whether x is.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Even(x int64, eps float64, src *noise.Source) int64 {
	k := src.DiscreteLaplace(1 / eps)
	return x + 2*k
}

// LocalIndex returns the element that x says.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && x >= 0 && x <= 1
//dp:cost eps
func LocalIndex(x int, eps float64, src *noise.Source) []int {
	out := []int{0, 1}
	return []int{out[x]}
}

// ChosenBefore pays for a choice by scores, also where n is 0.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n >= 0 && len(q) > 0
//dp:cost 4 * float64(n) * eps
func ChosenBefore(q []float64, n int, eps float64, src *noise.Source) (int, float64) {
	best := src.Choose(q, eps)
	if best > 0 {
		return best, 0
	}
	return best, src.Laplace(float64(n) / eps)
}

// Ways has more paths than are followed, and returns x at the end of the last.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Ways(x float64, a, b, c, d, f, g, h, i, j, k, l, m bool, eps float64, src *noise.Source) float64 {
	var out []float64
	if a {
		out = append(out, 1)
	}
	if b {
		out = append(out, 1)
	}
	if c {
		out = append(out, 1)
	}
	if d {
		out = append(out, 1)
	}
	if f {
		out = append(out, 1)
	}
	if g {
		out = append(out, 1)
	}
	if h {
		out = append(out, 1)
	}
	if i {
		out = append(out, 1)
	}
	if j {
		out = append(out, 1)
	}
	if k {
		out = append(out, 1)
	}
	if l {
		out = append(out, 1)
	}
	if m {
		out = append(out, 1)
	}
	if len(out) > 0 {
		return 0
	}
	return x
}

// ChosenUnit returns x as it is where what is chosen is half of c: in units of c it never is, if
// it were whole there.
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0 && len(w) > 0
//dp:cost eps
func ChosenUnit(x, c int, w []float64, eps float64, src *noise.Source) int {
	best := src.Choose(w, eps)
	if 2*best == c {
		return x
	}
	return x + int(src.DiscreteLaplace(float64(c)/eps))
}

// DrawnUnit does so where what is drawn is.
//
//dp:adjacent |x| <= c
//dp:requires c > 0 && eps > 0 && n > 0
//dp:cost eps
func DrawnUnit(x, c, n int, eps float64, src *noise.Source) int {
	k := src.Uniform(n)
	if 2*k == c {
		return x
	}
	return x + int(src.DiscreteLaplace(float64(c)/eps))
}
