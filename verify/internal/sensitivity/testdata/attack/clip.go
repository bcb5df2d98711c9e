package attack

import "math"

func euclid(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

// EuclidInLinf is √d where each number moves by 1.
//
// want: rejected
//
//dp:sensitivity v = 1 in linf
func EuclidInLinf(v []float64) float64 { return euclid(v) }

// EuclidSquared has no bound.
//
// want: rejected
//
//dp:sensitivity v = 1 in l2
func EuclidSquared(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return s
}

// EuclidFromBelow begins below 0: the root is steeper.
//
// want: rejected
//
//dp:sensitivity v = 1 in l2
func EuclidFromBelow(v []float64) float64 {
	s := -1.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

// EuclidOfPairs adds up products of two vectors.
//
// want: rejected
//
//dp:sensitivity v = 1 in l2
func EuclidOfPairs(v, w []float64) float64 {
	s := 0.0
	for i := range v {
		s += v[i] * w[i]
	}
	return math.Sqrt(s)
}

// ClippedL1 is √d in l1.
//
// want: rejected
//
//dp:requires c > 0
//dp:adjacent one(v) <= 1
//dp:sensitivity v = 1
func ClippedL1(v []float64, c float64) []float64 {
	f := min(1, c/euclid(v))
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * f
	}
	return out
}

// Normalised has the norm c always: near 0 it turns round.
//
// want: rejected
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func Normalised(v []float64, c float64) []float64 {
	f := c / euclid(v)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * f
	}
	return out
}

// ClippedWrongWay scales up what is short.
//
// want: rejected
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func ClippedWrongWay(v []float64, c float64) []float64 {
	f := 1.0
	if n := euclid(v); n < c {
		f = c / n
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * f
	}
	return out
}

// ClippedElsewhere scales down from 2c on, to c: it jumps.
//
// want: rejected
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func ClippedElsewhere(v []float64, c float64) []float64 {
	f := 1.0
	if n := euclid(v); n > 2*c {
		f = c / n
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * f
	}
	return out
}

// ClippedByOther has the norm of another vector.
//
// want: rejected
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func ClippedByOther(v, w []float64, c float64) []float64 {
	f := min(1, c/euclid(w))
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * f
	}
	return out
}

// ClippedLonger was changed after its norm was taken.
//
// want: rejected
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func ClippedLonger(v []float64, c float64) []float64 {
	w := append([]float64(nil), v...)
	f := min(1, c/euclid(w))
	w[0] = 1000
	out := make([]float64, len(w))
	for i, x := range w {
		out[i] = x * f
	}
	return out
}

// ClippedInPlace divides by the norm of what is left, which it changes.
//
// want: rejected
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func ClippedInPlace(v []float64, c float64) []float64 {
	w := append([]float64(nil), v...)
	for i := range w {
		f := min(1, c/euclid(w))
		w[i] = w[i] * f
	}
	return w
}

// SumsInL1 of vectors with a norm of c are √d·c in l1.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l1
func SumsInL1(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		by := math.Max(1, euclid(g)/c)
		for j := range sum {
			sum[j] += g[j] / by
		}
	}
	return sum
}

// ClippedTwice adds twice as much.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func ClippedTwice(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		by := math.Max(1, euclid(g)/c)
		for j := range sum {
			sum[j] += g[j] / by
		}
		for j := range sum {
			sum[j] += g[j] / by
		}
	}
	return sum
}

// SumsOfOne adds one element again and again.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func SumsOfOne(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		by := math.Max(1, euclid(g)/c)
		for j := range sum {
			sum[j] += g[0] / by
		}
	}
	return sum
}

// SumsOfPart has the norm of the first elements alone.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0 && k > 0
//dp:sensitivity rows = c in l2
func SumsOfPart(rows [][]float64, d, k int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		n := 0.0
		for j := 0; j < k; j++ {
			n += g[j] * g[j]
		}
		by := math.Max(1, math.Sqrt(n)/c)
		for j := range sum {
			sum[j] += g[j] / by
		}
	}
	return sum
}

// SumsBelow is clipped at a number that may be below 0, or any.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = c in l2
func SumsBelow(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		f := min(1, c/euclid(g))
		for j := range sum {
			sum[j] += g[j] * f
		}
	}
	return sum
}

// SumsBySquares are clipped by the square of the norm.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func SumsBySquares(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		n := 0.0
		for _, x := range g {
			n += x * x
		}
		f := min(1, c/n)
		for j := range sum {
			sum[j] += g[j] * f
		}
	}
	return sum
}

// SumsHalved has 1/max(n/c, 1/2): twice as much for what is short.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func SumsHalved(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		by := max(0.5, euclid(g)/c)
		for j := range sum {
			sum[j] += g[j] * 2 / by
		}
	}
	return sum
}

// SumsOfLast are clipped by the norm of the record before.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func SumsOfLast(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	n := 1.0
	for _, g := range rows {
		f := min(1, c/n)
		n = euclid(g)
		for j := range sum {
			sum[j] += g[j] * f
		}
	}
	return sum
}

// SumsOfBoth has two norms of one vector, of which the larger one does not bound the other.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l1
func SumsOfBoth(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, 2*d)
	for _, g := range rows {
		n := 0.0
		for _, x := range g {
			n += math.Abs(x)
		}
		for j := range d {
			sum[j] += g[j]*min(1, c/euclid(g)) - g[j]*min(1, c/n)
		}
	}
	return sum
}

// ClippedByTheRest leaves the first number out of the norm.
//
// want: rejected
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func ClippedByTheRest(v []float64, c float64) []float64 {
	n := 0.0
	for _, x := range v[1:] {
		n += x * x
	}
	f := min(1, c/math.Sqrt(n))
	var out []float64
	for _, x := range v {
		out = append(out, x*f)
	}
	return out
}
