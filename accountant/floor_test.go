package accountant

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A ρ-zCDP event costs at least what Gaussian noise of μ² = 2ρ does, whose curve the
// accountant gdp knows exactly, in every decade; with μ² = 4ρ (a planted fault) that would be
// above what is certified.
func TestFloorOfZCDP(t *testing.T) {
	caught := false
	for _, rho := range []string{"1e-280", "1e-100", "1e-12", "1e-3", "0.1", "1", "30", "1e4"} {
		for _, delta := range []float64{1e-300, 1e-40, 1e-6, 0.3} {
			plan := parse(t, fmt.Sprintf("zcdp(%s)", rho))
			same := parse(t, fmt.Sprintf("gdp(sqrt(2*(%s)))", rho))
			twice := parse(t, fmt.Sprintf("gdp(sqrt(4*(%s)))", rho))
			of := func(o Options) func(e *Report, err error) Bracket {
				return func(r *Report, err error) Bracket {
					if err != nil {
						t.Fatalf("%v at δ = %g: %v", plan, delta, err)
					}
					return r.Bounds[0].value()
				}
			}
			z, g := Options{Accountant: "zcdp"}, Options{Accountant: "gdp"}
			got := of(z)(Epsilon(t.Context(), plan, delta, z))
			truth := of(g)(Epsilon(t.Context(), same, delta, g))
			if got.Low > truth.High || got.High < truth.Low || got.Low < truth.Low*(1-1e-9)-1e-300 && math.Sqrt(got.High) > 1e-140 {
				t.Errorf("%v at δ = %g: %v, Gaussian noise %v", plan, delta, got, truth)
			}
			wrong := of(g)(Epsilon(t.Context(), twice, delta, g))
			caught = caught || wrong.Low > got.High
			for _, eps := range []float64{0, truth.Low / 2, truth.Low} {
				got := of(z)(Delta(t.Context(), plan, eps, z))
				if truth := of(g)(Delta(t.Context(), same, eps, g)); got.Low > truth.High || got.High < truth.Low {
					t.Errorf("%v at ε = %g: %v, Gaussian noise %v", plan, eps, got, truth)
				}
			}
		}
	}
	if !caught {
		t.Error("twice the noise's square passes")
	}
}

// Plans that have other events too are held to what is known of these; and no accountant's
// bound is below, which a report refuses.
func TestFloorOfPlans(t *testing.T) {
	alone := account(t, "gaussian(1) + tree(2, 8) + zcdp(0.1)", 1e-6, Options{})
	for name, b := range account(t, "gaussian(1) + tree(2, 8) + zcdp(0.1) + laplace(3) + poisson(0.1, gaussian(2))", 1e-6, Options{}) {
		if (name == "rdp" || name == "moments") && math.Abs(b.Low-alone["zcdp"].Low) > 1e-9 {
			t.Errorf("%s: %v, want at least %v", name, b, alone["zcdp"])
		}
	}
	if z := alone["zcdp"]; z.Low < 0.9*z.High || z.Low > z.High {
		t.Errorf("%v", z)
	}
}

// A profile with one knot below what an event of its plan costs is refused, wherever that
// knot lies, and no other is.
func TestProfilesBelowTheFloorAreRefused(t *testing.T) {
	e := parse(t, "2*laplace(1)")
	right, err := profileOf(t.Context(), e, []float64{0.1}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range right {
		if at.X > 1 {
			break // from there on little is certain
		}
		wrong := slices.Clone(right)
		wrong[i].Y.High /= 10
		if err := wrong.judge(t.Context(), e, Options{}); err == nil {
			t.Errorf("δ = %v at ε = %v is believed, where %v is true", wrong[i].Y.High, at.X, at.Y.High)
		}
	}
	if err := right.judge(t.Context(), e, Options{}); err != nil {
		t.Error(err)
	}
}
