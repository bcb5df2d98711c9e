package accept

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

func euclid(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

func inner(v, w []float64) float64 {
	s := 0.0
	for i := 0; i < len(v); i++ {
		s += v[i] * w[i]
	}
	return s
}

// Euclid moves no further than its vector does in l2.
//
// want: accepted: v: 1
//
//dp:sensitivity v = 1 in l2
func Euclid(v []float64) float64 { return euclid(v) }

// Clipped is the nearest vector of a norm of at most c.
//
// want: accepted: v: 1
//
//dp:requires c > 0
//dp:sensitivity v = 1 in l2
func Clipped(v []float64, c float64) []float64 {
	scale := 1.0
	if n := euclid(v); n > c {
		scale = c / n
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = scale * x
	}
	return out
}

// ClippedInL1 has √d of it at most.
//
// want: accepted: v: sqrt(len(v))
//
//dp:adjacent one(v) <= 1
//dp:requires c > 0
//dp:sensitivity v = math.Sqrt(float64(len(v)))
func ClippedInL1(v []float64, c float64) []float64 {
	f := min(1, c/math.Sqrt(inner(v, v)))
	var out []float64
	for _, x := range v {
		out = append(out, x*f)
	}
	return out
}

// ClippedSum is of vectors that are clipped each, as gradients are.
//
// want: accepted: rows: c
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func ClippedSum(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		by := math.Max(1, euclid(g)/c)
		for j := range sum {
			sum[j] += g[j] / by
		}
	}
	return sum
}

// ClippedFields does it for a part of records, by the smaller of two factors.
//
// want: accepted: rows: 2*c
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0 && d >= 0
//dp:sensitivity rows = 2 * c in l2
func ClippedFields(rows []row, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, r := range rows {
		n := 0.0
		for j := 0; j < d; j++ {
			n += r.features[j] * r.features[j]
		}
		n = math.Sqrt(n)
		f := 1.0
		if c < n {
			f = c / n
		}
		for j := 0; j < d; j++ {
			sum[j] -= 2 * r.features[j] * f
		}
	}
	return sum
}

// ClippedSizes is by the sum of sizes, which bounds the sums in l1.
//
// want: accepted: rows: c
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l1
func ClippedSizes(rows [][]float64, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, g := range rows {
		n := 0.0
		for _, x := range g {
			n += math.Abs(x)
		}
		scale := c / max(n, c)
		for j := range sum {
			sum[j] += g[j] * scale
		}
	}
	return sum
}

// Descent is by noisy sums of clipped gradients.
//
// want: accepted: steps/(2*sigma*sigma)
//
//dp:adjacent bag(rows) <= 1
//dp:requires sigma > 0 && c > 0 && d > 0 && steps >= 0
//dp:cost zcdp(float64(steps) / (2 * sigma * sigma))
func Descent(rows [][]float64, d, steps int, c, sigma, rate float64, src *noise.Source) []float64 {
	w := make([]float64, d)
	for range steps {
		g := ClippedSum(rows, d, c)
		for j := range w {
			w[j] -= rate * (g[j] + src.Gaussian(c*sigma))
		}
	}
	return w
}
