package plan

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// What plans mean: each reads as the event that prints so.
func TestPlans(t *testing.T) {
	for _, tc := range []struct{ plan, event string }{
		{"pure(0.1)", "pure(0.1)"},
		{" gaussian( 1.1 ) ", "gaussian(1.1, sensitivity=1)"},
		{"gaussian(sqrt(2), sensitivity=2)", "gaussian(sqrt(2), sensitivity=2)"},
		{"14063 * poisson(256/60000, gaussian(1.1))", "14063*poisson(8/1875, gaussian(1.1, sensitivity=1))"},
		{"ceil(60*60000/256) * pure(1)", "14063*pure(1)"},
		{"2*3*pure(1)", "6*pure(1)"},
		{"(2+3)*pure(1)", "5*pure(1)"},
		{"2*(3*pure(1))", "2*(3*pure(1))"},
		{"(((2)))*((pure(1)))", "2*pure(1)"},
		{"10/5*pure(1)", "2*pure(1)"},
		{"pure(1) + 2*zcdp(1/3) + gdp(1)", "pure(1) + 2*zcdp(1/3) + gdp(1)"},
		{"pure(1) + (pure(2) + pure(3))", "pure(1) + (pure(2) + pure(3))"},
		{"2*(pure(1) + pure(2))", "2*(pure(1) + pure(2))"},
		{"poisson(0.1, pure(1) + 2*pure(2))", "poisson(0.1, pure(1) + 2*pure(2))"},
		{"poisson(event=gaussian(sigma=1.1), rate=1e-2)", "poisson(0.01, gaussian(1.1, sensitivity=1))"},
		{"rdp(2: 0.5, 4: 1)", "rdp(2: 0.5, 4: 1)"},
		{"randomized_response(3/4)", "randomized_response(0.75, k=2)"},
		{"randomized_response(0.5, k=4)", "randomized_response(0.5, k=4)"},
		{"tree(2, 1024)", "tree(2, 1024, sensitivity=1)"},
		{"parallel(pure(1), pure(2))", "parallel(pure(1), pure(2))"},
		{"shuffled(1e6, randomized_response(0.75))", "shuffled(1000000, randomized_response(0.75, k=2))"},
		{"pure(-(1-3)*+1)", "pure(2)"},
		{"pure(ln(exp(0)) + 2)", "pure(2)"},
		{"gaussian(1/sqrt(2))", "gaussian(sqrt(0.5), sensitivity=1)"},
		{"gaussian(3*sqrt(2)/sqrt(8))", "gaussian(1.5, sensitivity=1)"},
		{`{"parallel": [{"pure": {"eps": "1/3"}}]}`, "parallel(pure(1/3))"},
		{`{"parallel": {"events": [{"pure": {"eps": 1}}]}}`, "parallel(pure(1))"},
	} {
		p, err := Parse(tc.plan)
		if err != nil {
			t.Errorf("%s: %v", tc.plan, err)
			continue
		}
		e, err := p.Event()
		if err != nil || e.String() != tc.event {
			t.Errorf("%s reads as %v, %v; want %s", tc.plan, e, err, tc.event)
			continue
		}
		for _, text := range []string{p.String(), e.String()} {
			back, err := Parse(text)
			if err != nil {
				t.Errorf("%s is printed as %s: %v", tc.plan, text, err)
			} else if e, err := back.Event(); err != nil || e.String() != tc.event {
				t.Errorf("%s is printed as %s, which reads as %v, %v", tc.plan, text, e, err)
			}
		}
	}
}

// What the unknown of a plan is, and the plan with a number for it.
func TestUnknown(t *testing.T) {
	for _, tc := range []struct {
		plan      string
		parameter Parameter
		x, event  string
	}{
		{"? * pure(0.1)", Parameter{"", "count", true, true, 0}, "7", "7*pure(0.1)"},
		{"pure(1) + 2*?*pure(0.1)", Parameter{"", "count", true, true, 12}, "7", "pure(1) + 14*pure(0.1)"},
		{"ceil(?)*pure(0.1)", Parameter{"", "count", false, true, 5}, "6.5", "7*pure(0.1)"},
		{"gaussian(?)", Parameter{"gaussian", "sigma", false, false, 9}, "1.5", "gaussian(1.5, sensitivity=1)"},
		{"gaussian(2*?)", Parameter{"gaussian", "sigma", false, false, 11}, "1.5", "gaussian(3, sensitivity=1)"},
		{"gaussian(1/?)", Parameter{"gaussian", "sigma", false, true, 11}, "2", "gaussian(0.5, sensitivity=1)"},
		{"gaussian(-1/(1-?))", Parameter{"gaussian", "sigma", false, true, 15}, "3", "gaussian(0.5, sensitivity=1)"},
		{"gaussian(5 - sqrt(?))", Parameter{"gaussian", "sigma", false, true, 18}, "4", "gaussian(3, sensitivity=1)"},
		{"gaussian(1, sensitivity=?)", Parameter{"gaussian", "sensitivity", false, true, 24}, "4", "gaussian(1, sensitivity=4)"},
		{"laplace(?)", Parameter{"laplace", "b", false, false, 8}, "1/3", "laplace(1/3, sensitivity=1)"},
		{"8*poisson(?/60000, gaussian(1))", Parameter{"poisson", "rate", false, true, 10}, "600", "8*poisson(0.01, gaussian(1, sensitivity=1))"},
		{"poisson(0.5, ?*pure(1))", Parameter{"", "count", true, true, 13}, "3", "poisson(0.5, 3*pure(1))"},
		{"without_replacement(?, 100, pure(1))", Parameter{"without_replacement", "m", true, true, 20}, "3", "without_replacement(3, 100, pure(1))"},
		{"shuffled(?, pure(1))", Parameter{"shuffled", "n", true, false, 9}, "3", "shuffled(3, pure(1))"},
		{"approx(1, ?)", Parameter{"approx", "delta", false, true, 10}, "0.5", "approx(1, 0.5)"},
		{"rdp(2: 1, ?: 3)", Parameter{"rdp", "order", false, false, 10}, "4", "rdp(2: 1, 4: 3)"},
		{"rdp(2: 1, 3: ?)", Parameter{"rdp", "eps", false, true, 13}, "4", "rdp(2: 1, 3: 4)"},
		{"parallel(pure(1), pure(?))", Parameter{"pure", "eps", false, true, 23}, "4", "parallel(pure(1), pure(4))"},
		{"tree(1, ?)", Parameter{"tree", "leaves", true, true, 8}, "8", "tree(1, 8, sensitivity=1)"},
		{`{"gdp": {"mu": "?"}}`, Parameter{"gdp", "mu", false, true, 15}, "8", "gdp(8)"},
	} {
		p, err := Parse(tc.plan)
		if err != nil || !p.Unknown() || p.Parameter() != tc.parameter {
			t.Errorf("%s: the unknown is %+v (%v), want %+v", tc.plan, p.Parameter(), err, tc.parameter)
			continue
		}
		if e, err := p.Event(); err == nil {
			t.Errorf("%s is the event %v", tc.plan, e)
		}
		x := rat(tc.x)
		e, err := p.With(x)
		if err != nil || e.String() != tc.event {
			t.Errorf("%s with %s is %v, %v; want %s", tc.plan, tc.x, e, err, tc.event)
		}
		x.SetInt64(99) // the event keeps its own
		if again, err := p.With(rat(tc.x)); err != nil || e.String() != again.String() || e.String() != tc.event {
			t.Errorf("%s with %s is now %v, then %v, %v", tc.plan, tc.x, e, again, err)
		}
	}
	for _, tc := range []struct{ plan, x, want string }{
		{"?*pure(1)", "1/2", "at byte 1: the count is ? with ? = 0.5, which is not a whole number; ceil(?) is the next one"},
		{"gaussian(?)", "-1", "at byte 10: sigma of gaussian is ? with ? = -1, which is not positive"},
		{"poisson(2*?, pure(1))", "0.6", "at byte 9: rate of poisson is 2*? with ? = 0.6, which exceeds 1"},
		{"pure(1/?)", "0", "at byte 6: 1/?: division by zero"},
		{"pure(1)", "0", "the plan has no unknown number"},
	} {
		p, err := Parse(tc.plan)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := p.With(rat(tc.x)); err == nil || err.Error() != tc.want {
			t.Errorf("%s with %s is %v: %v", tc.plan, tc.x, e, err)
		}
	}
	var zero Plan
	if _, err := zero.Event(); err == nil || zero.Unknown() || zero.String() != "" {
		t.Error("the zero plan is one")
	}
	if _, err := zero.With(rat("1")); err == nil {
		t.Error("the zero plan is one")
	}
}

// Numbers that no rational equals are rounded so that the event reveals no less
// than was written, and in the 60th digit. The constants are those of published
// tables, cut at 66 digits.
func TestRounding(t *testing.T) {
	const (
		e     = "2.71828182845904523536028747135266249775724709369995957496696762772"
		ln2   = "0.693147180559945309417232121458176568075500134360255254120680009493"
		root2 = "1.41421356237309504880168872420969807856967187537694807317667973799"
		e2    = "7.38905609893065022723042746057500781318031557055184732408712782252" // e²
		// e/(1+e), and (1+√2)²
		odds    = "0.73105857863000487925115924182183627436514464016505651927636590791"
		square3 = "5.82842712474619009760337744841939615713934375075389614635335947598"
	)
	one, slack := rat("1"), rat("1e-55")
	for _, tc := range []struct {
		plan string
		got  func(privacy.Event) *big.Rat
		up   bool
		want string
	}{
		{"pure(exp(1))", func(e privacy.Event) *big.Rat { return e.(privacy.Pure).Epsilon.Rat() }, true, e},
		{"approx(1, ln(2))", func(e privacy.Event) *big.Rat { return e.(privacy.Approx).Delta.Rat() }, true, ln2},
		{"zcdp(sqrt(2))", func(e privacy.Event) *big.Rat { return e.(privacy.ZCDP).Rho.Rat() }, true, root2},
		{"gdp(sqrt(2))", func(e privacy.Event) *big.Rat { return e.(privacy.GDP).Mu }, true, root2},
		{"poisson(ln(2), pure(1))", func(e privacy.Event) *big.Rat { return e.(privacy.Poisson).Rate }, true, ln2},
		{"laplace(exp(1))", func(e privacy.Event) *big.Rat { return e.(privacy.Laplace).Scale }, false, e},
		{"laplace(1, sensitivity=exp(1))", func(e privacy.Event) *big.Rat { return e.(privacy.Laplace).Sensitivity }, true, e},
		{"gaussian(exp(1))", func(e privacy.Event) *big.Rat { return e.(privacy.Gaussian).Variance }, false, e2},
		{"gaussian(1, sensitivity=exp(1))", func(e privacy.Event) *big.Rat { return e.(privacy.Gaussian).SensitivitySquared }, true, e2},
		{"gaussian(1+sqrt(2))", func(e privacy.Event) *big.Rat { return e.(privacy.Gaussian).Variance }, false, square3},
		{"tree(sqrt(2), 8)", func(e privacy.Event) *big.Rat { return e.(privacy.Tree).Sigma }, false, root2},
		{"rdp(exp(1): ln(2))", func(e privacy.Event) *big.Rat { return e.(privacy.RDP).Orders[0] }, false, e},
		{"rdp(exp(1): ln(2))", func(e privacy.Event) *big.Rat { return e.(privacy.RDP).Eps[0] }, true, ln2},
		{"randomized_response(exp(1)/(1+exp(1)))", func(e privacy.Event) *big.Rat { return e.(privacy.RandomizedResponse).P }, true, odds},
		{"randomized_response(1 - exp(1)/(1+exp(1)))", func(e privacy.Event) *big.Rat { return new(big.Rat).Sub(one, e.(privacy.RandomizedResponse).P) }, true, odds},
	} {
		p, err := Parse(tc.plan)
		if err != nil {
			t.Fatal(err)
		}
		event, err := p.Event()
		if err != nil {
			t.Fatal(err)
		}
		got, want := tc.got(event), rat(tc.want)
		// The tables are cut, so that the true number is above want, and below next.
		places := len(tc.want) - strings.IndexByte(tc.want, '.') - 1
		next := new(big.Rat).Add(want, rat(fmt.Sprintf("1e-%d", places)))
		off := new(big.Rat).Sub(new(big.Rat).Quo(got, want), one)
		switch {
		case tc.up && got.Cmp(want) < 0, !tc.up && got.Cmp(next) > 0:
			t.Errorf("%s is rounded the wrong way, to %v", tc.plan, event)
		case off.Abs(off).Cmp(slack) > 0:
			t.Errorf("%s is rounded by far, to %v", tc.plan, event)
		}
	}
	// What is a root stays exact.
	for plan, want := range map[string]string{
		"gaussian(sqrt(2)*sqrt(3))":                     "gaussian(sqrt(6), sensitivity=1)",
		"gaussian(1, sensitivity=1/sqrt(3))":            "gaussian(1, sensitivity=sqrt(1/3))",
		"gaussian(-sqrt(2)*-3)":                         "gaussian(sqrt(18), sensitivity=1)",
		"gaussian(sqrt(2)*sqrt(2) + 0*sqrt(3))":         "gaussian(2, sensitivity=1)",
		"gaussian(0 + sqrt(2) - 0)":                     "gaussian(sqrt(2), sensitivity=1)",
		"ceil(sqrt(2))*pure(1)":                         "2*pure(1)",
		"floor(exp(1))*pure(-floor(-1.5))":              "2*pure(2)",
		"ceil(-ln(1/2)*10)*pure(1)":                     "7*pure(1)",
		"discrete_gaussian(sqrt(2), sensitivity=1/3*2)": "discrete_gaussian(sqrt(2), sensitivity=2/3)",
	} {
		p, err := Parse(plan)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := p.Event(); err != nil || e.String() != want {
			t.Errorf("%s reads as %v, %v; want %s", plan, e, err, want)
		}
	}
}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}
