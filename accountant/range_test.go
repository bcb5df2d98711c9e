package accountant

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// The sensible range: ε from 1e-6 to 100, δ to 1e-300, up to 10^9 steps, rates from
// 1e-9 to 1. Every accountant answers or refuses, none with a negative bound, with NaN
// or with a contradiction (which Epsilon and Delta refuse); and the best one is finite. CI takes a third,
// others in each run, DISCREET_SOAK all.
func TestRange(t *testing.T) {
	replace := Options{Neighbours: privacy.ReplaceOne}
	taken := share(3)
	for i, tc := range []struct {
		plan  string
		delta float64
		o     Options
	}{
		{"1000000000*poisson(1e-9, gaussian(1))", 1e-6, Options{}},
		{"1000000000*poisson(1e-5, gaussian(10))", 1e-12, Options{}},
		{"1000000000*gaussian(1e5)", 1e-300, Options{}},
		{"1000000000*pure(1e-6)", 1e-9, Options{}},
		{"1000000*pure(1e-6)", 1e-300, Options{}},
		{"pure(100)", 1e-9, Options{}},
		{"pure(1e-6)", 1e-9, Options{}},
		{"10*poisson(1e-9, pure(100))", 1e-12, Options{}},
		{"laplace(1e6)", 1e-9, Options{}},
		{"laplace(1e-2)", 1e-300, Options{}},
		{"1000*laplace(1000)", 1e-100, Options{}},
		{"100*poisson(0.999999, gaussian(0.6))", 1e-6, Options{}},
		{"poisson(1e-9, gaussian(0.1))", 1e-6, Options{}},
		{"poisson(1e-9, gaussian(0.1))", 1e-12, Options{}},
		{"gaussian(1e6)", 1e-9, Options{}},
		{"gaussian(0.01)", 1e-300, Options{}},
		{"1000000*zcdp(1e-12)", 1e-300, Options{}},
		{"zcdp(5000)", 1e-6, Options{}},
		{"approx(1e-6, 1e-290)", 1e-280, Options{}},
		{"10*exponential(1e-6)", 1e-9, Options{}},
		{"100*discrete_laplace(10, sensitivity=1000)", 1e-6, Options{}},
		{"100*discrete_gaussian(1000)", 1e-9, Options{}},
		{"1000*poisson(1e-3, gaussian(1))", 1e-300, Options{}},
		{"1000*poisson(1e-3, gaussian(1))", 1e-6, replace},
		{"1000*without_replacement(10, 1000000000, gaussian(1))", 1e-6, replace},
		{"1000*without_replacement(10, 1000, pure(1))", 1e-9, replace},
		{"1000*randomized_response(0.5000001)", 1e-9, replace},
		{"discrete_laplace(3, sensitivity=2.5)", 1e-6, Options{}},
		{"10*poisson(0.1, 3*laplace(2))", 1e-6, Options{}},
		{"10*poisson(0.1, poisson(0.1, 2*gaussian(2)+gdp(1)))", 1e-6, Options{}},
	} {
		if !taken(i) {
			continue
		}
		r, err := Epsilon(t.Context(), parse(t, tc.plan), tc.delta, tc.o)
		if err != nil {
			t.Errorf("%s at δ = %v: %v", tc.plan, tc.delta, err)
			continue
		}
		best, ok := r.Best()
		if !ok {
			t.Errorf("%s at δ = %v: no finite ε: %+v", tc.plan, tc.delta, r.Refused)
			continue
		}
		if testing.Verbose() {
			fmt.Printf("%s at %g: %s %v %s\n", tc.plan, tc.delta, best.Accountant, *best.Epsilon, best.Note)
		}
		d, err := Delta(t.Context(), parse(t, tc.plan), best.Epsilon.High, tc.o)
		if err != nil {
			t.Errorf("%s at ε = %v: %v", tc.plan, best.Epsilon.High, err)
			continue
		}
		if back, _ := d.Best(); back.Delta != nil && back.Delta.Low > tc.delta*(1+1e-3) {
			t.Errorf("%s: ε(%v) = %v, whose δ is %v by %s", tc.plan, tc.delta, best.Epsilon, back.Delta, back.Accountant)
		}
	}
}

// A thousand different events, and the cost that they may have, are a matter of a
// second or two.
func BenchmarkThousandEvents(b *testing.B) {
	var terms []string
	for i := range 1000 {
		terms = append(terms, fmt.Sprintf("%d*poisson(%g, gaussian(%g))", 1+i%7, 0.001+1e-5*float64(i), 1+math.Mod(0.003*float64(i), 3)))
	}
	e := parse(b, strings.Join(terms, " + "))
	for _, name := range Names() {
		b.Run(string(name), func(b *testing.B) {
			for b.Loop() {
				_, _ = Epsilon(b.Context(), e, 1e-6, Options{Accountant: name})
			}
		})
	}
}
