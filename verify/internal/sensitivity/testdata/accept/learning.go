package accept

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

type sample struct {
	x, y  float64
	label bool
}

type row struct {
	features []float64
	target   float64
}

// SlopeSum is a gradient of least squares, each slope clipped.
//
// want: accepted: rows: c
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c
func SlopeSum(rows []sample, w, c float64) float64 {
	g := 0.0
	for _, r := range rows {
		residual := w*r.x - r.y
		g += math.Max(-c, math.Min(c, residual*r.x))
	}
	return g
}

// SlopeVector clips each coordinate to 1: in linf 1.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1 in linf
func SlopeVector(rows []row, w []float64) []float64 {
	g := make([]float64, len(w))
	for _, r := range rows {
		e := predict(w, r.features) - r.target
		for j := range w {
			g[j] += max(-1, min(1, e*r.features[j]))
		}
	}
	return g
}

func predict(w, x []float64) float64 {
	s := 0.0
	for j := range w {
		s += w[j] * x[j]
	}
	return s
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// Logistic runs rounds of logistic regression on sums of clipped slopes: eps each.
//
// want: accepted: eps*rounds
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && rounds >= 0
//dp:cost float64(rounds) * eps
func Logistic(rows []sample, rounds int, rate, eps float64, src *noise.Source) float64 {
	w := 0.0
	for range rounds {
		g := 0.0
		for _, r := range rows {
			y := 0.0
			if r.label {
				y = 1
			}
			x := clampTo(r.x, -1, 1)
			g += clampTo((sigmoid(w*x)-y)*x, -1, 1)
		}
		w -= rate * (g + src.Laplace(1/eps))
	}
	return w
}

// LogisticVector draws Gaussian noise for each coordinate: l2 distance sqrt(d).
//
// want: accepted: d*rounds/(2*sigma*sigma)
//
//dp:adjacent bag(rows) <= 1
//dp:requires sigma > 0 && rounds >= 0 && d > 0
//dp:cost zcdp(float64(rounds) * float64(d) / (2 * sigma * sigma))
func LogisticVector(rows []row, d, rounds int, rate, sigma float64, src *noise.Source) []float64 {
	w := make([]float64, d)
	for t := 0; t < rounds; t++ {
		g := make([]float64, d)
		for _, r := range rows {
			p := sigmoid(predict(w, r.features))
			for j := range g {
				g[j] += max(-1, min(1, (p-r.target)*r.features[j]))
			}
		}
		for j := range w {
			w[j] -= rate * (g[j] + src.Gaussian(sigma))
		}
	}
	return w
}

// Perceptron counts mistakes, and moves by noisy clipped sums: two queries in each epoch.
//
// want: accepted: 2*epochs*eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && epochs >= 0
//dp:cost 2 * eps * float64(epochs)
func Perceptron(rows []sample, epochs int, eps float64, src *noise.Source) (w, b float64) {
	for e := 0; e < epochs; e++ {
		dw, db := 0.0, 0.0
		for _, r := range rows {
			t := -1.0
			if r.label {
				t = 1
			}
			if t*(w*r.x+b) <= 0 {
				dw += clampTo(t*r.x, -1, 1)
				db += t
			}
		}
		w += dw + src.Laplace(1/eps)
		b += db + src.Laplace(1/eps)
	}
	return w, b
}

// Split counts of a decision tree: each record is in one of four cells.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Split(rows []sample, at float64) [4]int {
	var n [4]int
	for _, r := range rows {
		cell := 0
		if r.x >= at {
			cell += 2
		}
		if r.label {
			cell++
		}
		n[cell]++
	}
	return n
}

// Centroids is one round of k-means on a line: counts and sums at eps each.
//
// want: accepted: 2*eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func Centroids(rows []float64, centres []float64, eps float64, src *noise.Source) []float64 {
	if len(centres) == 0 { // of which the first record would panic
		return nil
	}
	counts := make([]float64, len(centres))
	sums := make([]float64, len(centres))
	for _, x := range rows {
		best := 0
		for i, c := range centres {
			if math.Abs(x-c) < math.Abs(x-centres[best]) {
				best = i
			}
		}
		counts[best]++
		sums[best] += clampTo(x, -1, 1)
	}
	moved := make([]float64, len(centres))
	for i := range centres {
		n := counts[i] + src.Laplace(1/eps)
		s := sums[i] + src.Laplace(1/eps)
		if n < 1 {
			moved[i] = centres[i]
			continue
		}
		moved[i] = s / n
	}
	return moved
}

// Lloyd iterates it.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func Lloyd(rows []float64, start []float64, rounds int, eps float64, src *noise.Source) []float64 {
	centres := start
	each := eps / float64(2*rounds)
	for range rounds {
		centres = Centroids(rows, centres, each, src)
	}
	return centres
}

// ClippedNorm scales a gradient down to norm c before it is summed, in the plane.
//
// want: accepted: rho*rounds
//
//dp:adjacent bag(rows) <= 1
//dp:requires rho > 0 && rounds >= 0
//dp:cost zcdp(float64(rounds) * rho)
func ClippedBoth(rows []sample, rounds int, rho float64, src *noise.Source) (u, v float64) {
	sigma := math.Sqrt(1 / rho)
	for range rounds {
		gu, gv := 0.0, 0.0
		for _, r := range rows {
			e := u*r.x + v - r.y
			gu += max(-1, min(1, e*r.x))
			gv += max(-1, min(1, e))
		}
		u -= 0.1 * (gu + src.Gaussian(sigma))
		v -= 0.1 * (gv + src.Gaussian(sigma))
	}
	return u, v
}

// Stumps boosts weak learners: each round chooses one by Choose and weighs it by noise.
//
// want: accepted: 2*eps*rounds
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && rounds >= 0
//dp:cost 2 * eps * float64(rounds)
func Stumps(rows []sample, cuts []float64, rounds int, eps float64, src *noise.Source) []float64 {
	weights := make([]float64, len(cuts))
	for range rounds {
		scores := make([]float64, len(cuts))
		for _, r := range rows {
			for i, c := range cuts {
				if (r.x > c) == r.label {
					scores[i]++
				}
			}
		}
		k := src.Choose(scores, eps)
		weights[k] += scores[k] + src.Laplace(1/eps)
	}
	return weights
}

// Weighted multiplies weights over a public universe by noisy answers (Hardt, Ligett and McSherry 2012): a
// choice and an answer in each round.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func Multiplied(rows []int, queries [][]float64, universe, rounds int, eps float64, src *noise.Source) []float64 {
	each := eps / float64(2*rounds)
	answers := make([]float64, len(queries))
	for _, r := range rows {
		for i, q := range queries {
			if r >= 0 && r < len(q) {
				answers[i] += min(max(q[r], 0), 1)
			}
		}
	}
	a := make([]float64, universe)
	for x := range a {
		a[x] = 1
	}
	for range rounds {
		scores := make([]float64, len(queries))
		for i, q := range queries {
			guess := 0.0
			for x := range a {
				guess += a[x] * q[x]
			}
			scores[i] = math.Abs(answers[i] - guess)
		}
		k := src.Choose(scores, each)
		m := answers[k] + src.Laplace(1/each)
		for x := range a {
			a[x] *= math.Exp(queries[k][x] * m / 2)
		}
	}
	return a
}

// Regression is by noisy moments: four sums of products in [-1, 1], eps/4 each.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Regression(rows []sample, eps float64, src *noise.Source) (slope, intercept float64) {
	var n, sx, sy, sxx, sxy float64
	for _, r := range rows {
		x, y := clampTo(r.x, -1, 1), clampTo(r.y, -1, 1)
		n++
		sx += x
		sy += y
		sxx += x * x
		sxy += x * y
	}
	b := 5 / eps
	n += src.Laplace(b)
	sx += src.Laplace(b)
	sy += src.Laplace(b)
	sxx += src.Laplace(b)
	sxy += src.Laplace(b)
	d := n*sxx - sx*sx
	if d <= 0 {
		return 0, 0
	}
	slope = (n*sxy - sx*sy) / d
	return slope, (sy - slope*sx) / n
}
