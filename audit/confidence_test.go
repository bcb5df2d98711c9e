package audit_test

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/audit"
)

// law is the binomial law of n, from 0 to n.
func law(n int, p float64) []float64 {
	all := make([]float64, n+1)
	for k := range all {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		all[k] = math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return all
}

// What one run proves exceeds the truth with a probability of at most 1 less the
// confidence, by the law itself and not by sampling: of randomized response about
// every bit, which attains ε; of the same that shows a bit outright with probability δ,
// which attains (ε, δ); of Gaussian noise, which attains μ.
func TestOneRunKeepsItsConfidence(t *testing.T) {
	for _, n := range []int{1, 10, 60, 200} {
		for _, confidence := range []float64{0.9, 0.95, 1 - 1e-6} {
			wrong := func(p float64, proved func(right int) (float64, error), truth float64) (mass float64) {
				for right, q := range law(n, p) {
					if q < 1e-300 {
						continue
					}
					e, err := proved(right)
					if err != nil {
						t.Fatal(err)
					}
					if e > truth {
						mass += q
					}
				}
				return mass
			}
			for _, truth := range []float64{0, 0.1, 1, 3} {
				for _, delta := range []float64{0, 1e-3} {
					if delta > 0 && n > 60 {
						continue
					}
					p := delta + (1-delta)/(1+math.Exp(-truth))
					if got := wrong(p, func(right int) (float64, error) { return audit.OneRunEpsilon(n, n, right, delta, confidence) }, truth); got > (1-confidence)*(1+1e-9) {
						t.Errorf("%d guesses, epsilon %v, delta %v: wrong with %v at confidence %v", n, truth, delta, got, confidence)
					}
				}
				p := 0.5 * math.Erfc(-truth/2/math.Sqrt2)
				if n <= 60 {
					if got := wrong(p, func(right int) (float64, error) { return audit.OneRunMu(n, n, right, confidence) }, truth); got > (1-confidence)*(1+1e-9) {
						t.Errorf("%d guesses, mu %v: wrong with %v at confidence %v", n, truth, got, confidence)
					}
				}
			}
			// A fault: of ten guesses two are free, as where ties are broken by membership.
			if n == 200 && confidence < 0.99 && wrong(0.6, func(right int) (float64, error) { return audit.OneRunEpsilon(n, n, right, 0, confidence) }, 0) < 0.5 {
				t.Error("guesses that are free are not found out")
			}
		}
	}
}

// The same of independent runs: of randomized response, of tests that seldom speak, and
// of those that say nothing, whatever the shares of members.
func TestCountsKeepTheirConfidence(t *testing.T) {
	for _, sides := range [][2]int{{20, 20}, {1, 60}, {45, 8}} {
		members, others := sides[0], sides[1]
		for _, confidence := range []float64{0.9, 0.999} {
			var proved = make(map[audit.Counts]float64)
			for tp := range members + 1 {
				for fp := range others + 1 {
					c := audit.Counts{Members: members, TruePositives: tp, Others: others, FalsePositives: fp}
					e, err := c.EpsilonLowerBound(0, confidence)
					if err != nil {
						t.Fatal(err)
					}
					proved[c] = e
				}
			}
			for _, truth := range []float64{0, 0.5, 2} {
				rr := 1 / (1 + math.Exp(-truth))
				for name, rates := range map[string][2]float64{
					"randomized response": {rr, 1 - rr}, "seldom": {0.05, 0.05 * math.Exp(-truth)}, "nearly always": {1 - 0.05*math.Exp(-truth), 0.95}, "nothing": {0.3, 0.3},
				} {
					at, af := law(members, rates[0]), law(others, rates[1])
					wrong := 0.0
					for c, e := range proved {
						if e > truth {
							wrong += at[c.TruePositives] * af[c.FalsePositives]
						}
					}
					if wrong > (1-confidence)*(1+1e-9) {
						t.Errorf("%s, %v: epsilon %v: wrong with %v at confidence %v", name, sides, truth, wrong, confidence)
					}
				}
			}
		}
	}
}
