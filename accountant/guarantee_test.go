package accountant

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

func newFilter(t *testing.T, measure filter.Measure, epsilon, delta, selection string) filter.Filter {
	t.Helper()
	e, err := privacy.ParseEpsilon(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	b := filter.Budget{Measure: measure, Epsilon: e, Delta: parseDelta(t, delta), SelectionDelta: parseDelta(t, selection)}
	f, err := filter.New(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func parseDelta(t testing.TB, s string) privacy.Delta {
	t.Helper()
	d, err := privacy.ParseDelta(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A fixed plan enters a ledger as one event at the ledger's measure; what it is
// charged there is no more than the plan's own guarantee.
func TestGuarantee(t *testing.T) {
	for _, tc := range []struct {
		measure           filter.Measure
		plan, delta, want string
	}{
		{filter.Pure, "10*pure(0.1) + laplace(2, sensitivity=1)", "0", "pure(1.5)"},
		{filter.Pure, "3*poisson(0.2, laplace(0.5))", "0", "pure(24696449716730"},
		{filter.Pure, "gaussian(1)", "0", "error"},
		{filter.Pure, "approx(1, 1e-9)", "0", "error"},
		{filter.Approx, "14063*poisson(256/60000, gaussian(1.1))", "1e-7", "approx(2.98"},
		{filter.Approx, "3*pure(0.1)", "1e-7", "pure(0.3"}, // no δ is better than little ε
		{filter.Approx, "gaussian(1)", "0", "error"},
		{filter.Whitehouse, "25*gaussian(10)", "1e-7", "approx(2.4"},
		{filter.ZCDP, "8*gaussian(2) + 2*exponential(1)", "0", "zcdp(1.25)"},
		{filter.ZCDP, "2*zcdp(0.25) + selection(1, 1e-9)", "0", "zcdp(0.962117157260009"},
		{filter.ZCDP, "14063*poisson(256/60000, gaussian(1.1))", "0", "error"},
		{filter.ZCDP, "14063*poisson(256/60000, gaussian(1.1))", "1e-9", "approx(3.5"},
		{filter.GDP, "9*gaussian(3) + gdp(1)", "0", "gdp(1.41421356237309"},
		{filter.GDP, "9*gaussian(3)", "0", "gdp(1)"},
		{filter.RDP, "2*gaussian(2)", "0", "rdp("},
		{filter.RDP, "1000*poisson(0.01, gaussian(1))", "0", "rdp("},
	} {
		delta, selection := "1e-6", "5e-7"
		if tc.measure == filter.Pure {
			delta = "0"
		}
		if tc.measure == filter.Pure || tc.measure == filter.Approx {
			selection = "0"
		}
		f := newFilter(t, tc.measure, "40", delta, selection)
		e, err := Guarantee(t.Context(), parse(t, tc.plan), f, parseDelta(t, tc.delta), Options{})
		if tc.want == "error" {
			if err == nil {
				t.Errorf("%s as %s is %v, want a refusal", tc.plan, tc.measure, e)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s as %s: %v", tc.plan, tc.measure, err)
			continue
		}
		if !strings.HasPrefix(e.String(), tc.want) {
			t.Errorf("%s as %s is %v, want %s", tc.plan, tc.measure, e, tc.want)
		}
		charge, err := f.Charge([]privacy.Event{e}, privacy.Delta{})
		if err != nil || !charge.Within(f.Budget()) {
			t.Errorf("%s: the filter says %v of %v, want it admitted (%v)", tc.plan, charge, e, err)
		}
	}
}

// What a ledger is charged for groups of units that change together is a guarantee of
// groups, in every measure: native where there is a rule, otherwise as a point, or nothing.
func TestGuaranteeOfGroups(t *testing.T) {
	o := Options{Group: 3, Accountant: "rdp"} // the fastest
	for _, tc := range []struct {
		measure           filter.Measure
		plan, delta, want string
	}{
		{filter.Pure, "10*pure(0.1) + laplace(2, sensitivity=1)", "0", "pure(4.5)"},
		{filter.Pure, "3*poisson(0.2, laplace(0.5))", "0", "error"},
		{filter.Approx, "3*pure(0.1)", "1e-7", "pure(0.9"},
		{filter.Approx, "100*poisson(0.01, gaussian(4))", "1e-7", "approx("},
		{filter.ZCDP, "8*gaussian(2) + 2*exponential(1)", "0", "zcdp(11.25)"},
		{filter.ZCDP, "100*poisson(0.01, gaussian(4))", "1e-7", "approx("},
		{filter.ZCDP, "100*poisson(0.01, gaussian(4))", "0", "error"},
		{filter.GDP, "9*gaussian(3)", "0", "gdp(3)"},
		{filter.GDP, "100*poisson(0.01, gaussian(4))", "1e-7", "approx("},
		{filter.RDP, "100*poisson(0.01, gaussian(4))", "1e-7", "rdp("},
		{filter.RDP, "100*poisson(0.01, gaussian(4))", "0", "rdp("},
		{filter.RDP, "100*poisson(0.01, laplace(4))", "1e-7", "approx("},
		{filter.RDP, "100*poisson(0.01, laplace(4))", "0", "error"},
	} {
		delta, selection := "1e-6", "5e-7"
		switch tc.measure {
		case filter.Pure:
			delta, selection = "0", "0"
		case filter.Approx:
			selection = "0"
		}
		f := newFilter(t, tc.measure, "100", delta, selection)
		plan := parse(t, tc.plan)
		e, err := Guarantee(t.Context(), plan, f, parseDelta(t, tc.delta), o)
		if err != nil {
			if tc.want != "error" {
				t.Errorf("%s of %s: %v", tc.measure, tc.plan, err)
			}
			continue
		}
		if !strings.HasPrefix(e.String(), tc.want) {
			t.Errorf("%s of %s is %v, want %s", tc.measure, tc.plan, e, tc.want)
		}
		// A point is the one of Epsilon for the same groups.
		if point, ok := e.(privacy.Approx); ok {
			r, err := Epsilon(t.Context(), plan, 1e-7, o)
			if err != nil {
				t.Fatal(err)
			}
			if best, ok := r.Best(); !ok || point.Epsilon.Float64() < best.Epsilon.Low || point.Epsilon.Float64() < best.Epsilon.High*(1-1e-6) {
				t.Errorf("%s of %s is %v, less than %v", tc.measure, tc.plan, e, best.Epsilon)
			}
		}
	}
	// Divergences of groups are those of the distance, or none.
	points, err := RenyiCurve(t.Context(), parse(t, "gaussian(2)"), []float64{2}, o)
	if err != nil || points[0].Y.High < 9.0/4 {
		t.Errorf("divergence of order 2 of groups of 3: %v, %v", points, err)
	}
	sampled, err := RenyiCurve(t.Context(), parse(t, "poisson(0.1, gaussian(2))"), []float64{2}, o)
	if err != nil || sampled[0].Y.High < 0.01*9.0/4 || sampled[0].Y.High > 0.1*9.0/4 {
		t.Errorf("divergence of order 2 of groups of 3 on a sample: %v, %v", sampled, err)
	}
	if _, err := RenyiCurve(t.Context(), parse(t, "poisson(0.1, laplace(2))"), []float64{2}, o); err == nil {
		t.Error("divergences of groups of a sampled plan")
	}
}

// A plan in parallel parts enters by its worst part, whichever number that is of.
func TestGuaranteeOfParallelParts(t *testing.T) {
	e, err := Guarantee(t.Context(), parse(t, "parallel(zcdp(1), zcdp(0.1)+selection(0.1, 1e-8))"),
		newFilter(t, filter.ZCDP, "20", "1e-6", "5e-7"), privacy.Delta{}, Options{})
	if err != nil || e.String() != "zcdp(1) + approx(0, 1e-8)" {
		t.Errorf("got %v, %v", e, err)
	}
}

// A plan that is (0, δ)-differentially private has the least epsilon that there is, in
// place of an error.
func TestGuaranteeOfDeltaAlone(t *testing.T) {
	f := newFilter(t, filter.Approx, "1", "0.6", "0")
	p, err := plan.Parse("gaussian(1000)")
	if err != nil {
		t.Fatal(err)
	}
	event, err := p.Event()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Guarantee(t.Context(), event, f, parseDelta(t, "0.5"), Options{})
	if a, ok := e.(privacy.Approx); err != nil || !ok || a.Epsilon.Float64() > 1e-200 {
		t.Errorf("%v, %v", e, err)
	}
}
