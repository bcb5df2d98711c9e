package loss

import (
	"math"
	"testing"
)

// The moment of order a is 1 + a(a-1)·∫ e^((a-1)ε)·(δ(ε) - (1-e^ε)+) dε, by the profile of
// the pair; the bound is above it, and hardly. A g without the part of losses below 0, or
// slices that leave the highest losses out, fail it.
func TestReplacedRenyiIsTheMomentOfThePair(t *testing.T) {
	for name, p := range map[string]Pair{
		"gaussian":         must(t)(Gaussian(1.8)),
		"weak gaussian":    must(t)(Gaussian(0.05)),
		"laplace":          must(t)(Laplace(1.3)),
		"response":         must(t)(RandomizedResponse(2)),
		"discrete laplace": must(t)(DiscreteLaplace(1.5, 4)),
	} {
		for _, q := range [][2]int64{{1, 2}, {256, 60000}, {9, 10}} {
			pair := must(t)(WithoutReplacement(p, q[0], q[1]))
			r, err := WithoutReplacementRenyi(p, q[0], q[1])
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range []float64{1.001, 1.5, 2, 3.7, 12} {
				top := math.Min(p.Max(), a*3.5+16)
				const n = 20000
				sum := 0.0
				for i := range 2 * n {
					x := (float64(i-n) + 0.5) / n // no kink within a step; shorter ones next to 0
					eps := top * math.Pow(x, 5)
					least := math.Max(0, -math.Expm1(eps))
					sum += math.Exp((a-1)*eps) * (pair.Delta(eps) - least) * top * 5 * math.Pow(x, 4) / n
				}
				moment := a * (a - 1) * sum
				want := math.Log1p(moment) / (a - 1)
				if got := r.Divergence(a); !(got > want*(1-1e-4) && got < want*(1+2e-3)) {
					t.Errorf("%s, %v, order %v: %v, by the profile %v", name, q, a, got, want)
				}
			}
		}
	}
}

// Orders, noise and rates of every decade have a bound or none, never one of 0.
func TestReplacedRenyiIsNeverZero(t *testing.T) {
	for mu := 1e-150; mu < 1e6; mu *= 1e3 {
		for n := int64(2); n < 1e12; n *= 100 {
			for _, p := range []Pair{must(t)(Gaussian(mu)), must(t)(Laplace(mu))} {
				r, err := WithoutReplacementRenyi(p, 1, n)
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range []float64{1 + 1e-8, 1.1, 30, 1e5} {
					if d := r.Divergence(a); !(d > 0) {
						t.Errorf("%T of %v, 1 of %d, order %v: %v", p, mu, n, a, d)
					}
				}
			}
		}
	}
}
