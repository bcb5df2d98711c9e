package accountant

import (
	"math"
	"testing"
)

// Each theorem of advanced composition says what its source does, whichever is the
// least.
func TestAdvancedForms(t *testing.T) {
	for _, tc := range []struct {
		id, plan, form string
	}{
		{"adv-3", "3*pure(0.5)", "Dwork and Roth 3.20"},
		{"adv-350", "350*pure(0.5)", "Dwork and Roth 3.20"},
		{"adv-tanh-350", "350*pure(0.5)", "Kairouz, Oh and Viswanath 3.5"},
		{"adv-half-350", "350*pure(0.5)", "½Σε²+√(2 ln(1/δ)Σε²)"},
	} {
		p, err := flatten(nil, parse(t, tc.plan), Options{})
		if err != nil {
			t.Fatal(err)
		}
		pts, err := p[0].points(0.1, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		want, found := vectors(t)[tc.id].Expected.(float64), false
		for _, f := range pts.forms(0.1) {
			if f.name == tc.form {
				found = true
				if math.Abs(f.eps/want-1) > 1e-13 || f.eps < want*(1-1e-15) {
					t.Errorf("%s: %s says %.17g, want %.17g", tc.id, f.name, f.eps, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no %s", tc.id, tc.form)
		}
	}
}

// A δ of the events' own is taken from the slack: by sums or by products.
func TestAdvancedWithDeltas(t *testing.T) {
	const k, eps, own, delta = 100, 0.1, 1e-9, 1e-6
	squares := k * eps * eps
	got := account(t, "100*approx(0.1, 1e-9)", delta, Options{})["advanced"].High
	slack := 1 - (1-delta)/math.Pow(1-own, k)
	want := k*eps*math.Tanh(eps/2) + math.Sqrt(2*squares*math.Log(1/slack))
	if math.Abs(got/want-1) > 1e-6 {
		t.Errorf("got %v, want %v", got, want)
	}
}
