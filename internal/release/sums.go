package release

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// Len is how many groups a table has.
func (t *Table) Len() int { return len(t.keys) }

// noiseOfSums returns rewrite's SumColumns for a component: a, b and c such that the noise of
// a sum over m rows is at most √(m·a) for m up to rewrite.MostExact, and √(m·b) + c for any m,
// but with probability beta. Each is rounded up; false of a law that is not known here.
//
// Let L = ln(2/β). For m draws of discrete Laplace noise of scale s, ln E exp(λX) is
// −ln(1 − (sinh(λ/2)/sinh(1/2s))²) ≤ −ln(1−(λs)²), since sinh(x)/x grows, and that is at most
// (λs)²/(1−λs): the sum is sub-gamma with variance factor 2ms² and scale s, so that
// P(|S| > 2s√(mL) + sL) ≤ β (Boucheron, Lugosi and Massart 2013, Theorem 2.3). For few rows the
// exact tail of continuous Laplace noise is used (noise.DiscreteLaplace.BoundOfSum says why a
// discrete sum lies within m of it). Discrete Gaussian noise has ln E exp(λX) ≤ λ²σ²/2
// (Canonne, Kamath and Steinke 2020), so that P(|S| > σ√(2mL)) ≤ β; and a sum of m is at most
// the normal one and m (noise.DiscreteGaussian.BoundOfSum), which is less for large σ.
func (r *Release) noiseOfSums(component int, beta *big.Rat) (a, b, c float64, ok bool) {
	grid, _ := r.Components[component].Grid.Float64()
	return sumsOf(r.Noise[component].Additive, beta, grid)
}

// sumsOf is noiseOfSums of a law, in units of which one integer is worth grid.
func sumsOf(additive mechanism.Additive, beta *big.Rat, grid float64) (a, b, c float64, ok bool) {
	parties := 1.0 // draws a row
	switch s := additive.(type) {
	case gathered: // of which the law is not known
		return 0, 0, 0, false
	case summed:
		additive, parties = s.Additive, float64(s.parties)
	case added:
		additive, parties = s.Additive, float64(s.terms)
	}
	if own, is := additive.(averaged); is { // sub-Gaussian as the law that it stands for, and rounded
		additive = blended{own.Additive, []*big.Rat{big.NewRat(1, 1)}}
	}
	p, _ := beta.Float64()
	if !(p > 0 && p < 1) {
		return 0, 0, 0, false
	}
	if own, is := additive.(blended); is {
		if a, b, c, ok = own.noiseOfSum(p); !ok {
			return 0, 0, 0, false
		}
		if parties > 1 { // √(mn)·b + c is at most √m·(√n·b + c)
			b *= math.Sqrt(parties)
			a = b + c
		}
		return finite(a*a*grid*grid*above, b*b*grid*grid*above, c*grid*above)
	}
	log := math.Log(2/p) * above
	const rows = rewrite.MostExact
	switch e := additive.Event().(type) {
	case privacy.DiscreteLaplace:
		scale, _ := e.Scale.Float64()
		scale *= grid * above
		b, c = 4*scale*scale*log*parties, scale*log
		a = (2*math.Sqrt(log*parties) + log) * scale // of one row, and less of each of more: see below
		a *= a
		if most, steps := sumsOfLaplace(p, int(parties)); most > 0 {
			// Within a row's step of the continuous sum, of which there are parties a row.
			near := most*scale + steps*grid*above
			a = min(a, near*near)
		}
	case privacy.DiscreteGaussian:
		variance, _ := e.Variance.Float64()
		variance *= grid * grid * above * parties
		a, b = 2*variance*log, 2*variance*log
		// z·σ·√m + m·parties ≤ √m·(z·σ + √rows·parties)
		z := math.Sqrt2 * math.Erfcinv(p) * above
		near := z*math.Sqrt(variance) + math.Sqrt(rows)*parties*grid
		a = min(a, near*near)
	default:
		return 0, 0, 0, false
	}
	return finite(a*above, b*above, c*above)
}

// finite says no of numbers that are none.
func finite(a, b, c float64) (float64, float64, float64, bool) {
	if sum := a + b + c; math.IsNaN(sum) || math.IsInf(sum, 0) || a <= 0 {
		return 0, 0, 0, false
	}
	return a, b, c, true
}

// above makes up for what floating point loses here, and where the engine adds up.
const above = 1 + 1e-9

// sumsOfLaplace returns the largest of x(m)/√m for m up to rewrite.MostExact, where the sum of m·parties
// Laplace variables of scale 1 lies in [−x(m), x(m)] but with probability p, and the largest
// number of variables over √m; 0 where these are too many to look at.
func sumsOfLaplace(p float64, parties int) (most, steps float64) {
	if parties > 4 || p < 1e-200 {
		return 0, 0
	}
	for m := 1; m <= rewrite.MostExact; m++ {
		n := m * parties
		low, high := 0.0, 2*math.Sqrt(float64(n)*math.Log(2/p))+math.Log(2/p)
		for range 40 {
			if x := (low + high) / 2; tailOfLaplaces(n, x) > p/above {
				low = x
			} else {
				high = x
			}
		}
		most = max(most, high/math.Sqrt(float64(m)))
		steps = max(steps, float64(n)/math.Sqrt(float64(m)))
	}
	return most * above, steps
}

// tailOfLaplaces is P(|S| > x) for the sum S of n Laplace variables of scale 1. S is a mixture:
// of n signs k are positive, and then S is the difference of sums of k and n−k exponential
// variables. Integrating the density of noise.DiscreteLaplace.BoundOfSum term by term,
//
//	P(|S| > x) = e^(−x)·Σ_{j<n} w(j)·Σ_{i≤n−1−j} x^i/i!, w(j) = C(n−1+j, j)/2^(n−1+j),
//
// whose terms are all positive, so that nothing cancels.
func tailOfLaplaces(n int, x float64) float64 {
	// sums[k] is e^(−x)·Σ_{i≤k} x^i/i!.
	sums := make([]float64, n)
	term := math.Exp(-x)
	for k := range sums {
		sums[k] = term
		if k > 0 {
			sums[k] += sums[k-1]
		}
		term *= x / float64(k+1)
	}
	weight, tail := math.Exp2(float64(1-n)), 0.0 // w(0)
	for j := range n {
		tail += weight * sums[n-1-j]
		weight *= float64(n+j) / float64(j+1) / 2
	}
	return tail
}
