package accountant

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// Groups of g units: what is known in closed form, and the general rule, which is
// never better.
func TestGroups(t *testing.T) {
	for _, tc := range []struct {
		plan, same string
		g          int
		o          Options
	}{
		{"2*laplace(3) + gaussian(2)", "2*laplace(1) + gaussian(2/3)", 3, Options{}},
		{"pure(0.1) + exponential(0.2) + noisy_max(0.1)", "pure(0.5) + exponential(1) + noisy_max(0.5)", 5, Options{}},
		{"zcdp(0.01) + gdp(0.1)", "zcdp(0.04) + gdp(0.2)", 2, Options{}},
		{"approx(0.1, 1e-9)", "approx(0.2, 1e-9*(exp(0.2)-1)/(exp(0.1)-1))", 2, Options{}},
		{"rdp(4: 0.1, 16: 0.3, 64: 1)", "rdp(4: 2.7, 16: 9)", 4, Options{}},
		{"randomized_response(0.6)", "3*randomized_response(0.6)", 3, Options{Neighbours: privacy.ReplaceOne}},
		{"discrete_gaussian(5) + discrete_laplace(7)", "discrete_gaussian(5, sensitivity=2) + discrete_laplace(7, sensitivity=2)", 2, Options{}},
		{"tree(9, 8)", "tree(9, 8, sensitivity=2)", 2, Options{}},
		{"gaussian(1)", "gaussian(1)", 1, Options{}},
	} {
		o := tc.o
		o.Group = tc.g
		got, want := account(t, tc.plan, 1e-6, o), account(t, tc.same, 1e-6, tc.o)
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s for %d: %v, want those of %s: %v", tc.plan, tc.g, got, tc.same, want)
		}
		for name, w := range want {
			if g := got[name]; math.Abs(g.High-w.High) > 1e-9*w.High && !math.IsInf(w.High, 1) {
				t.Errorf("%s of %s for %d: %v, want %v", name, tc.plan, tc.g, g, w)
			}
		}
	}
}

// Samples have only the general rule; on Gaussian noise it is above the truth.
func TestGroupsByTheCurve(t *testing.T) {
	for _, m := range methods() {
		if m.name != "gdp" && m.name != "pld" && m.name != "rdp" {
			continue
		}
		p, err := flatten(nil, parse(t, "gaussian(5)"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		general, err := m.forGroups(3).epsilon(p[0], 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		truth := account(t, "gaussian(5/3)", 1e-6, Options{})["gdp"]
		if general.High < truth.High || general.High > 4*truth.High {
			t.Errorf("%s: %v for 3, the truth is %v", m.name, general, truth)
		}
		back, err := m.forGroups(3).delta(p[0], general.High)
		if err != nil || back.High > 1e-6*(1+1e-6) || back.High < 1e-6*0.99 {
			t.Errorf("%s: δ(%v) is %v, %v, want 1e-6", m.name, general.High, back, err)
		}
	}
	one := account(t, "100*poisson(0.01, gaussian(2))", 1e-6, Options{})["pld"]
	two := account(t, "100*poisson(0.01, gaussian(2))", 1e-6, Options{Group: 2})["pld"]
	if two.High < 2*one.Low || two.High > 4*one.High {
		t.Errorf("for one %v, for two %v", one, two)
	}
}

// What groups reveal at least is not above what any event reveals to them, which for a set of
// outputs is what the chain of the greatest probabilities says: each is as far from the one
// before as (ε, δ) allows, either way.
func TestGroupsRevealAtLeast(t *testing.T) {
	const steps = 1 << 12
	for _, g := range []int{2, 3, 8} {
		for _, eps := range []float64{0.01, 0.5, 2} {
			for plan, delta := range map[string]float64{
				"pure": 0, "permute_and_flip": 0, "noisy_max": 0, "sparse_vector": 0, "exponential": 0, "approx": 0.01, "selection": 0.01,
			} {
				text := fmt.Sprintf("%s(%v)", plan, eps)
				if delta > 0 {
					text = fmt.Sprintf("%s(%v, %v)", plan, eps, delta)
				}
				for _, part := range []float64{0, 0.5, 0.9} {
					at, most := part*eps*float64(g), 0.0
					for i := range steps + 1 {
						// More near 0, where the ratio of all is greatest.
						first := math.Pow(float64(i)/steps, 4)
						p := first
						for range g {
							p = min(1, math.Exp(eps)*p+delta, 1-math.Exp(-eps)*(1-delta-p))
						}
						most = max(most, p-math.Exp(at)*first)
					}
					r, err := Delta(t.Context(), parse(t, text), at, Options{Group: g})
					if err != nil {
						t.Fatal(err)
					}
					for _, b := range r.Bounds {
						if b.Delta.Low > most*(1+1e-2) {
							t.Errorf("%s for %d at ε = %v: %s says at least %v, of %v", text, g, at, b.Accountant, b.Delta.Low, most)
						}
						if b.Delta.High < most*(1-1e-9) && plan != "exponential" {
							t.Errorf("%s for %d at ε = %v: %s says at most %v, of %v", text, g, at, b.Accountant, b.Delta.High, most)
						}
					}
				}
			}
		}
	}
}
