package accountant

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/privacy"
)

// What the sweep would find. Each fault is planted in a right answer, and the judge of
// tests, and where it says so that of every report, must refuse it. There is no chance in
// it: a fault that is listed is found wherever the sweep meets it.

// exactPlans are plans of which the referee knows the profile: both sides are judged.
var exactPlans = []struct {
	plan string
	o    Options
}{
	{"gaussian(1)", Options{}},
	{"gaussian(1e-3, sensitivity=1e3)", Options{}},
	{"1000*gaussian(40)", Options{Neighbours: privacy.ReplaceOne}},
	{"gaussian(1)", Options{Group: 3}},
	{"laplace(1)", Options{}},
	{"laplace(1e-9)", Options{}},
	{"discrete_laplace(2, sensitivity=3)", Options{}},
	{"pure(0.5)", Options{}},
	{"10*pure(0.3)", Options{}},
	{"30*approx(0.1, 1e-9)", Options{}},
	{"randomized_response(0.9, k=3)", Options{Neighbours: privacy.ReplaceOne}},
	{"poisson(0.01, gaussian(1))", Options{}},
	{"poisson(0.3, laplace(1))", Options{}},
	{"without_replacement(1, 10, pure(2))", Options{Neighbours: privacy.ReplaceOne}},
	{"gdp(1) + 4*tree(9, 1000)", Options{}},
}

func TestJudgeFindsWrongBrackets(t *testing.T) {
	reals := map[string]*Report{} // by what is asked of which plan: the same for each fault
	for _, tc := range []struct {
		fault   string
		plant   func(b Bracket) Bracket
		always  bool // also where the referee knows nothing of the plan
		reports bool // every report is refused so, not in tests alone
	}{
		{"High is 0", func(b Bracket) Bracket { return bracket(0, 0, 0) }, false, true},
		{"High is the least number", func(b Bracket) Bracket { return bracket(0, 0, math.SmallestNonzeroFloat64) }, false, true},
		{"High is half of the truth", func(b Bracket) Bracket { return bracket(0, 0, b.Low/2) }, false, true},
		{"High is a billionth below the truth", func(b Bracket) Bracket { return bracket(0, 0, b.Low*(1-1e-9)) }, false, false},
		{"Low is a billionth above the truth", func(b Bracket) Bracket { return bracket(b.High*(1+1e-9), b.High*2, b.High*3) }, false, false},
		{"Low is twice the truth", func(b Bracket) Bracket { return bracket(2*b.High, 2*b.High, 3*b.High) }, false, false},
		{"Low is above High", func(b Bracket) Bracket { return bracket(b.High*2, b.High, b.High) }, true, false},
		{"High is no number", func(b Bracket) Bracket { return bracket(0, 0, math.NaN()) }, true, false},
		{"Low is no number", func(b Bracket) Bracket { return bracket(math.NaN(), b.High, b.High) }, true, false},
		{"Low is negative", func(b Bracket) Bracket { return bracket(-1, b.Low, b.High) }, true, false},
	} {
		planted := 0
		for _, p := range exactPlans {
			e := parse(t, p.plan)
			b := referee.Of(groupOf(e, int64(p.o.Group)), p.o.Neighbours, 1, 200)
			if b.Floor == nil || b.Ceiling == nil {
				t.Fatalf("%s: the referee does not know it", p.plan)
			}
			plans, _, err := prepare(nil, e, p.o)
			if err != nil {
				t.Fatal(err)
			}
			delta, eps := 1e-3, 0.2
			for asked, r := range map[string]*Report{"ε": {Delta: &delta}, "δ": {Epsilon: &eps}} {
				o := p.o
				o.Accountant = "pld"
				of := fmt.Sprintf("%s of %s %+v", asked, p.plan, o)
				real := reals[of]
				if real == nil {
					if asked == "ε" {
						real, err = Epsilon(t.Context(), e, delta, o)
					} else {
						real, err = Delta(t.Context(), e, eps, o)
					}
					if err != nil {
						t.Fatalf("%s: %v", p.plan, err)
					}
					if wrong := judged(real, nil, b); wrong != nil {
						t.Errorf("%s: without a fault: %v", p.plan, wrong)
					}
					reals[of] = real
				}
				right := real.Bounds[0].value()
				if !(right.Low > 0) || !tc.always && right.High > right.Low*(1+1e-10) && (tc.fault[0] == 'L' || !tc.reports) {
					continue // no wrong number lies so close to a bracket so wide
				}
				a := tc.plant(right)
				wrong := Bound{Accountant: "wrong", Epsilon: &a}
				if asked == "δ" {
					wrong = Bound{Accountant: "wrong", Delta: &a}
					if a.High > 1 {
						continue
					}
				}
				planted++
				r.Plan, r.Bounds = e, []Bound{wrong}
				known := b
				if tc.always {
					known = referee.Bound{}
				}
				if judged(r, nil, known) == nil {
					t.Errorf("%s: %s: %s of %v for %v passes", tc.fault, p.plan, asked, a, right)
				}
				if tc.reports && len(plans) == 1 && len(plans[0].terms) == 1 {
					if r.judge(floorsOf(plans)); len(r.Bounds) != 0 {
						t.Errorf("%s: %s: a report has %s of %v for %v", tc.fault, p.plan, asked, a, right)
					}
				}
			}
		}
		if planted < len(exactPlans) {
			t.Errorf("%s: planted %d times", tc.fault, planted)
		}
	}
}

// A plan that is read as another one, which costs less.
func TestJudgeFindsMisreadPlans(t *testing.T) {
	replace := Options{Neighbours: privacy.ReplaceOne}
	for _, tc := range []struct {
		fault    string
		plan, as string
		o, under Options
	}{
		{"a count is one less", "10*pure(0.3)", "9*pure(0.3)", Options{}, Options{}},
		{"a count is one less of a thousand", "1000*gaussian(40)", "999*gaussian(40)", Options{}, Options{}},
		{"a count is rounded to three digits", "123456*gaussian(900)", "123000*gaussian(900)", Options{}, Options{}},
		{"a sensitivity is halved", "laplace(1, sensitivity=3)", "laplace(1, sensitivity=1.5)", Options{}, Options{}},
		{"a sensitivity is halved", "gaussian(2, sensitivity=1e-7)", "gaussian(2, sensitivity=5e-8)", Options{}, Options{}},
		{"a sensitivity is not squared", "gaussian(2, sensitivity=3)", "gaussian(2, sensitivity=1.7320508)", Options{}, Options{}},
		{"noise is a billionth larger", "gaussian(2)", "gaussian(2.000000002)", Options{}, Options{}},
		{"noise is a billionth larger", "laplace(2)", "laplace(2.000000002)", Options{}, Options{}},
		{"a rate is rounded down", "poisson(0.01, gaussian(1))", "poisson(0.00999999999, gaussian(1))", Options{}, Options{}},
		{"a rate near 1 is rounded", "poisson(1-1e-9, laplace(1))", "poisson(1-3e-9, laplace(1))", Options{}, Options{}},
		{"a rate is squared", "3*poisson(0.1, pure(1))", "3*poisson(0.01, pure(1))", Options{}, Options{}},
		{"a sample is one smaller", "without_replacement(20, 100, pure(1))", "without_replacement(19, 100, pure(1))", replace, replace},
		{"a lost mass is left out", "approx(1, 1e-3)", "pure(1)", Options{}, Options{}},
		{"a lost mass is counted once", "9*approx(0.1, 1e-4)", "8*pure(0.1) + approx(0.1, 1e-4)", Options{}, Options{}},
		{"a replacement is a removal", "laplace(1)", "laplace(1)", replace, Options{}},
		{"a replacement is a removal", "7*gaussian(3)", "7*gaussian(3)", replace, Options{}},
		{"a replacement in a sample is a removal", "poisson(0.2, gaussian(1))", "poisson(0.2, gaussian(1))", replace, Options{}},
		{"a group is one smaller", "laplace(4)", "laplace(4)", Options{Group: 3}, Options{Group: 2}},
		{"a term is left out", "gaussian(1) + gdp(0.1)", "gaussian(1)", Options{}, Options{}},
		{"the dearest term is left out", "gaussian(1) + laplace(0.1)", "gaussian(1)", Options{}, Options{}},
		{"ε of an answer is its bit's", "randomized_response(0.9, k=3)", "randomized_response(0.9, k=2)", replace, replace},
		{"the tree is a level lower", "tree(1, 1025)", "tree(1, 1024)", Options{}, Options{}},
		{"ε is ρ", "exponential(2)", "exponential(1.9999999)", Options{}, Options{}},
		{"zero is believed", "noisy_max(40)", "noisy_max(1e-9)", Options{}, Options{}},
	} {
		e, as := parse(t, tc.plan), parse(t, tc.as)
		b := referee.Of(groupOf(e, int64(tc.o.Group)), tc.o.Neighbours, 1, 1<<17)
		found := 0
		for _, delta := range []float64{1e-9, 1e-4, 0.03} {
			right, err := Epsilon(t.Context(), e, delta, tc.o)
			if wrong := judged(right, err, b); wrong != nil {
				t.Errorf("%s: right, and yet: %v", tc.plan, wrong)
			}
			r, err := Epsilon(t.Context(), as, delta, tc.under)
			if err != nil {
				t.Fatalf("%s: %v", tc.as, err)
			}
			if judged(r, nil, b) != nil {
				found++
			}
			for _, eps := range []float64{0, 0.5, 1} {
				d, err := Delta(t.Context(), as, eps, tc.under)
				if err != nil {
					t.Fatalf("%s: %v", tc.as, err)
				}
				if judged(d, nil, b) != nil {
					found++
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: %s read as %s passes", tc.fault, tc.plan, tc.as)
		}
	}
}
