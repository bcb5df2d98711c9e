package accountant

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// An accountant that lost its number is refused by name, and the next best one stands,
// whatever kind of event the plan has.
func TestBoundsBelowTheFloorAreRefused(t *testing.T) {
	for _, tc := range []struct {
		plan  string
		small float64 // an ε that the plan certainly exceeds at δ = 1e-6
		o     Options
	}{
		{"2*noisy_max(40)", 39, Options{}},
		{"100*pure(37)", 3600, Options{}},
		{"poisson(0.01, gaussian(1, sensitivity=1e7))", 1e10, Options{}},
		{"1000*gaussian(3) + 5*laplace(1)", 90, Options{}},
		{"parallel(gaussian(1), 3*laplace(0.1))", 9, Options{}},
		{"exponential(5) + zcdp(1e-9)", 4.5, Options{}},
		{"discrete_gaussian(1)", 4, Options{}},
		{"randomized_response(0.999, k=4)", 7, Options{Neighbours: 1}},
		{"without_replacement(1, 10, laplace(0.1))", 10, Options{Neighbours: 1}},
		{"poisson(0.5, gaussian(0.1))", 60, Options{Neighbours: 1}},
		{"5*gaussian(1)", 40, Options{Group: 3}},
	} {
		e := parse(t, tc.plan)
		plans, _, err := prepare(nil, e, tc.o)
		if err != nil {
			t.Fatal(err)
		}
		delta, zero, tiny := 1e-6, bracket(0, 0, 0), bracket(0, 0, math.SmallestNonzeroFloat64)
		small, right := bracket(0, tc.small, tc.small), bracket(0, 1e300, 1e300)
		r := &Report{Plan: e, Delta: &delta, Bounds: []Bound{{Accountant: "a", Epsilon: &zero}, {Accountant: "b", Epsilon: &small}, {Accountant: "c", Epsilon: &right}}}
		if r.judge(floorsOf(plans)); len(r.Bounds) != 1 || r.Bounds[0].Accountant != "c" || len(r.Refused) != 2 || !strings.Contains(r.Refused[1].Why, "costs alone") {
			t.Errorf("%s: bounds %+v, refused %+v", tc.plan, r.Bounds, r.Refused)
		}
		eps := tc.small
		one := bracket(0, 1, 1)
		r = &Report{Plan: e, Epsilon: &eps, Bounds: []Bound{{Accountant: "a", Delta: &tiny}, {Accountant: "b", Delta: &one}}}
		if r.judge(floorsOf(plans)); len(r.Bounds) != 1 || r.Bounds[0].Accountant != "b" {
			t.Errorf("%s: bounds of δ %+v, refused %+v", tc.plan, r.Bounds, r.Refused)
		}
		// No right accountant is refused so.
		real, err := Epsilon(t.Context(), e, delta, tc.o)
		if err != nil {
			t.Fatal(err)
		}
		for _, refused := range real.Refused {
			if strings.Contains(refused.Why, "a fault") {
				t.Errorf("%s: %+v", tc.plan, refused)
			}
		}
		if best, _ := real.Best(); best.Epsilon.High <= tc.small {
			t.Errorf("%s costs %v, which makes %v no test", tc.plan, best.Epsilon, tc.small)
		}
	}
}

// TestNestedSamplings: samplings in samplings, as deep as a plan may have them, are answered;
// what judges bounds does not ask them again for each level.
func TestNestedSamplings(t *testing.T) {
	coins, draws := "pure(1)", "pure(1)"
	for i := range 15 {
		coins = "poisson(0.5, " + coins + ")"
		draws = fmt.Sprintf("without_replacement(%d, %d, %s)", 1<<i, 2<<i, draws)
	}
	for text, n := range map[string]privacy.Neighbours{coins: privacy.AddRemove, draws: privacy.ReplaceOne} {
		if _, err := Epsilon(t.Context(), parse(t, text), 1e-6, Options{Neighbours: n, Accountant: Basic}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Not so deep they are judged.
	text := "poisson(0.5, poisson(0.5, poisson(0.5, gaussian(1))))"
	if _, err := Delta(t.Context(), parse(t, text), 0.1, Options{}); err != nil {
		t.Error(err)
	}
}
