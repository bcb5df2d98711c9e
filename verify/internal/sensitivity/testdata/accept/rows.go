package accept

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

type vectors struct {
	x [4]float64
	s []float64
	y float64
}

// RowsRanged clips each vector in a loop over its own elements, however many there are.
//
// want: accepted: rows: c
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsRanged(rows []vectors, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, r := range rows {
		s := 0.0
		for _, x := range r.s {
			s += x * x
		}
		f := min(1, c/math.Sqrt(s))
		for j, x := range r.s {
			sum[j] += x * f
		}
	}
	return sum
}

// RowsOfArrays is of vectors of a length that is known: in l1, √4 times as much.
//
// want: accepted: rows: 2*c
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = 2 * c
func RowsOfArrays(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		s := 0.0
		for _, x := range r.x {
			s += x * x
		}
		for j, x := range r.x {
			if n := math.Sqrt(s); n > c {
				x *= c / n
			}
			sum[j] += x
		}
	}
	return sum
}

// RowsInBranches are clipped where they are added.
//
// want: accepted: rows: c
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c
func RowsInBranches(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, r := range rows {
		n := 0.0
		for j := range d {
			if j < len(r) {
				n += math.Abs(r[j])
			}
		}
		for j := range d {
			if j < len(r) {
				if n <= c {
					sum[j] += r[j]
				} else {
					sum[j] += r[j] * c / n
				}
			}
		}
	}
	return sum
}

// RowsBySquares compares squares.
//
// want: accepted: rows: c
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsBySquares(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		s, f := 0.0, 1.0
		for _, x := range r.x {
			s += x * x
		}
		if s > c*c {
			f = c / math.Sqrt(s)
		}
		for j, x := range r.x {
			sum[j] += f * x
		}
	}
	return sum
}

// ClippedInBranch is the vector of an input.
//
// want: accepted: v: 1
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func ClippedInBranch(v []float64, c float64) []float64 {
	n := euclid(v)
	out := make([]float64, len(v))
	for i, x := range v {
		if n > c {
			x = x * c / n
		}
		out[i] = x
	}
	return out
}

// Slopes is a step of logistic regression: a slope below 1, times a point that is clipped.
//
// want: accepted: rounds/(2*sigma*sigma)
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0 && sigma > 0 && rounds >= 0
//dp:cost zcdp(float64(rounds) / (2 * sigma * sigma))
func Slopes(rows []vectors, start []float64, rounds int, rate, c, sigma float64, src *noise.Source) []float64 {
	w := make([]float64, 4)
	copy(w, start)
	for range rounds {
		g := make([]float64, 4)
		for _, r := range rows {
			z, s := 0.0, 0.0
			for j, x := range r.x {
				z += w[j] * x
			}
			for _, x := range r.x {
				s += x * x
			}
			f := min(1, c/math.Sqrt(s))
			slope := max(-1, min(1, 1/(1+math.Exp(-z))-r.y))
			for j, x := range r.x {
				g[j] += slope * (f * x)
			}
		}
		for j := range w {
			w[j] -= rate * (g[j] + src.Gaussian(c*sigma))
		}
	}
	return w
}
