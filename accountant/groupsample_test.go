package accountant

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// Groups on samples of Gaussian noise: what dp_accounting 0.6.0 says of the same mixtures
// (MixtureOfGaussiansDpEvent with binomial probabilities, discretization 1e-4, which
// rounds up), within its coarseness; the general rule is far above. CI takes a
// third, others in each run, DISCREET_SOAK all.
func TestGroupsOfSamples(t *testing.T) {
	taken := share(3)
	for i, tc := range []struct {
		plan      string
		g         int
		delta     float64
		published float64
	}{
		{"1000*poisson(0.01, gaussian(1))", 2, 1e-5, 3.979089746742231},
		{"1000*poisson(0.01, gaussian(1))", 3, 1e-5, 6.342935939351913},
		{"10*poisson(0.5, gaussian(1))", 2, 1e-5, 25.431742600476586},
		{"poisson(0.01, gaussian(1))", 2, 1e-5, 0.47008035934171044},
		{"100*poisson(0.01, gaussian(2))", 2, 1e-6, 0.48063221151326435},
		{"14063*poisson(256/60000, gaussian(1.1))", 2, 1e-5, 5.264946684318395},
	} {
		if !taken(i) {
			continue
		}
		got := account(t, tc.plan, tc.delta, Options{Group: tc.g})
		pld := got["pld"]
		if math.Abs(pld.High-tc.published) > 4e-4*tc.published || pld.Low > tc.published || pld.High-pld.Low > 1e-3*pld.High {
			t.Errorf("%s for %d: %v, dp_accounting %v", tc.plan, tc.g, pld, tc.published)
		}
		if rdp := got["rdp"]; rdp.High < pld.Low || rdp.High > 6*pld.High {
			t.Errorf("%s for %d: rdp %v, pld %v", tc.plan, tc.g, rdp, pld)
		}
	}
}

// Groups never cost less than smaller ones, nor than the same units without the sample's
// luck; with nothing left out they cost what the noise does; in every decade of noise and
// rate an accountant that has no bound refuses.
func TestGroupsOfSamplesInEveryDecade(t *testing.T) {
	taken := share(2)
	for _, rel := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		for _, sigma := range []string{"1e-150", "0.1", "1", "1e150"} {
			for i, rate := range []string{"1e-300", "0.5", "1-1e-15"} {
				if sigma != "1" && os.Getenv("DISCREET_SOAK") == "" || !taken(i+int(rel)) {
					continue // TestSweep asks for groups in every decade, too
				}
				plan := parse(t, fmt.Sprintf("poisson(%s, gaussian(%s))", rate, sigma))
				low := 0.0
				for _, g := range []int{2, 3} {
					r, err := Epsilon(t.Context(), plan, 1e-9, Options{Group: g, Neighbours: rel})
					if err != nil {
						continue // a refusal
					}
					b := r.tightest()
					if b.check() != nil || b.High < low || b.Low < 0 {
						t.Errorf("%v for %d, %v: %v, for fewer units at least %v", plan, g, rel, b, low)
					}
					low = max(low, b.Low)
				}
				if low == 0 && rate == "0.5" && sigma == "1" {
					t.Errorf("%v: no bound", plan)
				}
			}
		}
	}
	for _, g := range []int{2, 5} {
		all := account(t, "3*poisson(1, gaussian(2))", 1e-6, Options{Group: g})["gdp"]
		noise := account(t, "3*gaussian(2)", 1e-6, Options{Group: g})["gdp"]
		if math.Abs(all.High-noise.High) > 1e-9*noise.High {
			t.Errorf("a sample of all, for %d: %v, want %v", g, all, noise)
		}
	}
}

// Units that come and units that go count too: of the ways in which two may differ each has
// a bound of its own, and what is said holds for all.
func TestGroupsComeAndGo(t *testing.T) {
	plan := parse(t, "10*poisson(0.3, gaussian(1))")
	plans, err := flattenGroups(nil, plan, Options{Group: 3})
	if err != nil || len(plans) != 2 {
		t.Fatalf("%d plans, %v", len(plans), err)
	}
	seen := map[[2]int64]bool{}
	for _, p := range plans {
		e := p.terms[0].event.(groupSample)
		seen[[2]int64{e.with, e.without}] = true
	}
	if !seen[[2]int64{3, 0}] || !seen[[2]int64{2, 1}] {
		t.Errorf("the ways are %v", seen)
	}
}

// The power of an attack on a group is that on all its units: it was that on one.
func TestPowerOfGroups(t *testing.T) {
	for _, same := range [][2]string{{"gaussian(2)", "gaussian(1)"}, {"laplace(4)", "laplace(2)"}} {
		two, err := Power(t.Context(), parse(t, same[0]), []float64{0.01, 0.1}, Options{Group: 2})
		if err != nil {
			t.Fatal(err)
		}
		one, err := Power(t.Context(), parse(t, same[1]), []float64{0.01, 0.1}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range one {
			if math.Abs(two[i].Y.High-one[i].Y.High) > 1e-9 {
				t.Errorf("power against a pair on %s: %v, that on %s: %v", same[0], two[i], same[1], one[i])
			}
		}
	}
}
