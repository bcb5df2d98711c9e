// Package accept holds right programs as working programmers write them: each says why its claim
// holds, and must stay proved at the value that it says. They keep what is refused for
// safety from costing users what they write.
package accept

import (
	"math"
)

// Celsius has slope 5/9.
//
// want: accepted: f: 5/9
//
//dp:sensitivity f = 0.5556
func Celsius(f float64) float64 { return (f - 32) * 5 / 9 }

// Clamp moves no further than x between any bounds.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func Clamp(x, lo, hi float64) float64 { return math.Max(lo, math.Min(hi, x)) }

// Deadzone is x moved towards 0 by w: slope 0 or 1, and 0 at both edges.
//
// want: accepted: x: 1
//
//dp:requires w >= 0
//dp:sensitivity x = 1
func Deadzone(x, w float64) float64 {
	if x > w {
		return x - w
	}
	if x < -w {
		return x + w
	}
	return 0
}

// SoftThreshold is the same by max and min.
//
// want: accepted: x: 2
//
//dp:sensitivity x = 2
func SoftThreshold(x, w float64) float64 {
	return max(x-w, 0) + min(x+w, 0)
}

// Horner evaluates a polynomial in public points, linear in its coefficients.
//
// want: accepted: a: 1, b: t, c: t*t
//
//dp:requires t >= 0
//dp:sensitivity a = 1, b = t, c = t * t
func Horner(a, b, c, t float64) float64 {
	y := c
	y = y*t + b
	y = y*t + a
	return y
}

// Median3 is 1-Lipschitz in each: min and max of numbers are.
//
// want: accepted: a: 1, b: 1, c: 1
//
//dp:sensitivity a = 1, b = 1, c = 1
func Median3(a, b, c float64) float64 {
	return max(min(a, b), min(max(a, b), c))
}

// Interest grows by factor 1+r: twice, (1+r)^2.
//
// want: accepted: x: 1 + 2*r + r*r
//
//dp:requires r >= 0
//dp:sensitivity x = (1 + r) * (1 + r)
func Interest(x, r float64) float64 {
	for range 2 {
		x += r * x
	}
	return x
}

// Choice is by a public switch, 3 at most.
//
// want: accepted: x: 3
//
//dp:sensitivity x = 3
func Choice(x float64, mode string) float64 {
	switch mode {
	case "double":
		return 2 * x
	case "triple":
		return 3 * x
	default:
		return x
	}
}

// Guarded divides by a public number that is not 0.
//
// want: accepted: total: 1/n
//
//dp:requires n > 0
//dp:sensitivity total = 1 / n
func Guarded(total, n float64) float64 {
	if n == 0 {
		return 0
	}
	return total / n
}

type reading struct {
	low, high float64
	weight    float64
}

func (r reading) middle() float64 { return (r.low + r.high) / 2 }

func (r reading) shifted(by float64) reading {
	r.low += by
	r.high += by
	return r
}

// Squared is x² of x in [-b, b]: slope 2b.
//
// want: accepted: x: 2*b
//
//dp:requires b >= 0
//dp:sensitivity x = 2 * b
func Squared(x, b float64) float64 {
	c := math.Max(-b, math.Min(b, x))
	return c * c
}

// Together returns two numbers: one and two.
//
// want: accepted: x: 3
//
//dp:sensitivity x = 3
func Together(x float64) (a, b float64) {
	a = x
	b = 2*x + 1
	return a, b
}

// Swap changes places.
//
// want: accepted: x: 1, y: 1
//
//dp:sensitivity x = 1, y = 1
func Swap(x, y float64) (float64, float64) {
	x, y = y, x
	return x, y
}

// Closed captures a public offset.
//
// want: accepted: x: 2
//
//dp:sensitivity x = 2
func Closed(x, offset float64) float64 {
	shift := func(v float64) float64 { return 2*v - offset }
	return shift(x)
}

type number interface{ ~int | ~int64 | ~float64 }

func clampTo[T number](x, lo, hi T) T {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// ClampedOf uses a generic helper.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func ClampedOf(x float64) float64 { return clampTo(x, 0, 10) }

// ClampedInt does with whole numbers.
//
// want: accepted: n: 1
//
//dp:sensitivity n = 1
func ClampedInt(n int) int { return clampTo(n, -5, 5) }

type money float64

// Cents is of a type of its own.
//
// want: accepted: m: 100
//
//dp:sensitivity m = 100
func Cents(m money) money { return m * 100 }

// Hours converts whole numbers to floats.
//
// want: accepted: minutes: 1/60
//
//dp:sensitivity minutes = 0.0167
func Hours(minutes int) float64 { return float64(minutes) / 60 }

// Distance is |x-y|.
//
// want: accepted: x: 1, y: 1
//
//dp:sensitivity x = 1, y = 1
func Distance(x, y float64) float64 {
	d := x - y
	if d < 0 {
		d = -d
	}
	return d
}

const perDozen = 12

// Dozens has a constant of the package.
//
// want: accepted: n: 12
//
//dp:sensitivity n = 12
func Dozens(n int) int { return n*perDozen + perDozen }

// Unless returns early for public reasons.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func Unless(x float64, off bool) float64 {
	if off {
		return 0
	}
	return x
}

// Block scopes a variable of the same name.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func Block(x float64, deep bool) float64 {
	y := x
	if deep {
		y := 5 * x
		_ = y
	}
	return y
}

// Interpolated has weights w and 1-w.
//
// want: accepted: x: w, y: 1 - w
//
//dp:requires w >= 0 && w <= 1
//dp:sensitivity x = w, y = 1 - w
func Interpolated(x, y, w float64) float64 { return w*x + (1-w)*y }

// Smoothed mixes with what was: (1-r)^n is at most 1.
//
// want: accepted: x: 1
//
//dp:requires r >= 0 && r <= 1
//dp:sensitivity x = 1
func Smoothed(x, r float64, n int) float64 {
	y := x
	for i := 0; i < n; i++ {
		y = (1-r)*y + r*10
	}
	return y
}

// Span is one more and one less.
//
// want: accepted: r.high: 1, r.low: 1
//
//dp:sensitivity r.high = 1, r.low = 1
func Span(r reading) float64 { return r.high - r.low }

// Weighted reads a public field beside private ones.
//
// want: accepted: r.low: r.weight, r.high: r.weight
//
//dp:requires r.weight >= 0
//dp:sensitivity r.low = r.weight, r.high = r.weight
func Weighted(r reading) (w float64) {
	w = r.weight * (r.low + r.high)
	return
}

// Centre returns a struct: half to the middle, and 1 to the width, from each end.
//
// want: accepted: r.low: 3/2, r.high: 3/2
//
//dp:sensitivity r.low = 1.5, r.high = 1.5
func Centre(r reading) reading {
	return reading{low: (r.low + r.high) / 2, high: r.high - r.low}
}

// Moved calls methods that return copies.
//
// want: accepted: r.low: 1/2, r.high: 1/2
//
//dp:sensitivity r.low = 0.5, r.high = 0.5
func Moved(r reading) float64 { return r.shifted(3).shifted(-1).middle() }

// Rated has a factor that public branches choose, 4 at most, and 2 more.
//
// want: accepted: x: 6
//
//dp:sensitivity x = 6
func Rated(x float64, level int) float64 {
	rate := 0.25
	if level > 3 {
		rate = 0.5
	} else if level > 10 {
		rate = 4
	}
	return x*rate + x*2
}

// AllOfRows adds up fifteen numbers, each of which moves by 1.
//
// want: accepted: x: 15
//
//dp:sensitivity x = 15 in linf
func AllOfRows(x [3][5]float64) float64 {
	sum := 0.0
	for _, row := range x {
		for _, v := range row {
			sum += v
		}
	}
	return sum
}

// WithinType is at most 201.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func WithinType(x uint8) uint8 { return min(x, 200) + 1 }

// Widened is computed in 64 bits.
//
// want: accepted: x: 10
//
//dp:sensitivity x = 10
func Widened(x uint8) int { return int(x) * 10 }

// RootsOfPositives are products.
//
// want: accepted: x: sqrt(a)*sqrt(b)
//
//dp:requires a > 0 && b > 0
//dp:sensitivity x = math.Sqrt(a*b)
func RootsOfPositives(x, a, b float64) float64 { return x * math.Sqrt(a) * math.Sqrt(b) }

// AboveAnother is larger than what is positive, and so positive: |hi| is hi.
//
// want: accepted: x: hi
//
//dp:requires 0 < lo && lo < hi
//dp:sensitivity x = hi
func AboveAnother(x, lo, hi float64) float64 { return x * hi }
