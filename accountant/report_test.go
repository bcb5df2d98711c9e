package accountant

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// What tutorials print does not come out: √(2k ln(1/δ)) without its ε, 4.69 and
// 153.67 for k = 3 and 350; nor does Dwork and Roth's right form where a better one
// stands; nor the classical σ of Gaussian noise above ε = 1; nor the central limit
// theorem as a bound.
func TestWrongFormulas(t *testing.T) {
	for _, tc := range []struct{ wrong, right, plan string }{
		{"sherpa-wrong-3", "adv-3", "3*pure(0.5)"},
		{"sherpa-wrong-350", "adv-350", "350*pure(0.5)"},
	} {
		wrong, right := vectors(t)[tc.wrong].Expected.(float64), vectors(t)[tc.right].Expected.(float64)
		for name, b := range account(t, tc.plan, 0.1, Options{}) {
			if math.Abs(b.High-wrong) < 1e-3 || name == "advanced" && b.High > right {
				t.Errorf("%s of %s is %v", name, tc.plan, b)
			}
		}
	}
	if half := vectors(t)["adv-half-350"].Expected.(float64); account(t, "350*pure(0.5)", 0.1, Options{})["advanced"].High > half {
		t.Error("advanced is above ½Σε² + √(2 ln(1/δ) Σε²)")
	}
	// σ = √(2 ln(1.25/δ))/ε at ε = 10 is too little noise.
	r, err := Delta(t.Context(), parse(t, "gaussian(sqrt(2*ln(1.25/1e-5))/10)"), 10, Options{})
	if err != nil || r.Bounds[0].Delta.Low < 2e-5 {
		t.Errorf("δ is %v, %v, want 2.265e-5", r.Bounds[0].Delta, err)
	}
	// The central limit theorem's 6.5998 is below the truth, 6.767.
	r, err = Epsilon(t.Context(), parse(t, "2249*poisson(0.04, gaussian(1.5))"), 1e-5, Options{})
	if err != nil {
		t.Fatal(err)
	}
	best, _ := r.Best()
	if best.Accountant != "pld" || best.Epsilon.Low < 6.766 || best.Epsilon.High > 6.768 || best.Direction != "remove" {
		t.Errorf("best is %+v %v, want 6.767 by pld", best, best.Epsilon)
	}
	last := r.Bounds[len(r.Bounds)-1]
	if last.Accountant != "gdp" || !math.IsInf(last.Epsilon.High, 1) || !strings.Contains(last.Note, "an estimate, not a bound") {
		t.Errorf("the last bound is %+v %v, want the central limit theorem as an estimate", last, last.Epsilon)
	}
}

// What a homogeneous composition cannot reach is said, not made up.
func TestOptimalImpossible(t *testing.T) {
	for _, tc := range []struct {
		id, plan string
		delta    float64
	}{{"kov-4", "approx(1, 0.2)", 0.1}, {"kov-5", "30*approx(1, 0.01)", 0.26}} {
		if vectors(t)[tc.id].Expected != nil {
			t.Fatalf("%s is not the vector of something impossible", tc.id)
		}
		for name, b := range account(t, tc.plan, tc.delta, Options{}) {
			if !math.IsInf(b.High, 1) {
				t.Errorf("%s of %s at δ = %v is %v", name, tc.plan, tc.delta, b)
			}
		}
	}
	// And what it can: 1-(1-δ)^k of δ is spent at ε = kε already.
	b := account(t, "30*approx(1, 0.01)", 1-math.Pow(0.99, 30)+1e-9, Options{})["optimal"]
	if b.High != 30 {
		t.Errorf("got %v, want 30", b)
	}
}

// Shuffled batches are not Poisson samples: the report says so, with the figure that
// holds for them.
func TestShuffledBatchesWarn(t *testing.T) {
	r, err := Epsilon(t.Context(), parse(t, "785*poisson(64/10000, gaussian(2))"), 1e-6, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Instead.String() != "6*gaussian(2, sensitivity=1)" || r.Warnings[0].Bound == nil {
		t.Fatalf("warnings are %+v", r.Warnings)
	}
	w := r.Warnings[0]
	truth := account(t, "6*gaussian(2)", 1e-6, Options{})["gdp"]
	if got := *w.Bound.Epsilon; math.Abs(got.High-truth.High) > 1e-6 || !strings.Contains(w.Text, "shuffled") {
		t.Errorf("the warning says %v in %q, want %v", got, w.Text, truth)
	}
	if best, _ := r.Best(); best.Epsilon.High > w.Bound.Epsilon.High/3 {
		t.Errorf("the difference is small: %v against %v", best.Epsilon, w.Bound.Epsilon)
	}
	for plan, want := range map[string]string{
		"gaussian(1)":                          "",
		"poisson(1, gaussian(1))":              "",
		"10*poisson(0.5, 3*gaussian(1))":       "5*(3*gaussian(1, sensitivity=1))",
		"2*(10*poisson(0.1, pure(1))+zcdp(1))": "2*pure(1) + 2*zcdp(1)",
	} {
		r, err := Epsilon(t.Context(), parse(t, plan), 1e-6, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(r.Warnings) > 0 {
			got = r.Warnings[0].Instead.String()
		}
		if got != want {
			t.Errorf("%s with shuffled batches is %q, want %q", plan, got, want)
		}
	}
}

func TestReportIsSorted(t *testing.T) {
	r, err := Epsilon(t.Context(), parse(t, "10*laplace(3) + 5*gaussian(4)"), 1e-6, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(r.Bounds, func(a, b Bound) int {
		switch {
		case a.Epsilon.High < b.Epsilon.High:
			return -1
		case a.Epsilon.High > b.Epsilon.High:
			return 1
		}
		return 0
	}) {
		t.Errorf("bounds are not sorted: %v", r.Bounds)
	}
	if len(r.Bounds)+len(r.Refused) != 8 {
		t.Errorf("%d bounds and %d refusals, want eight accountants", len(r.Bounds), len(r.Refused))
	}
	for _, b := range r.Bounds {
		if b.Note == "" || b.Direction == "" || b.Delta != nil {
			t.Errorf("%+v lacks a note or a direction", b)
		}
	}
}

// The accountants that are asked are those that have a name, in this order, and each bound
// says a direction that the relation has.
func TestNames(t *testing.T) {
	var asked []Name
	for _, m := range methods() {
		asked = append(asked, m.name)
	}
	if !slices.Equal(asked, Names()) {
		t.Errorf("%v are asked, and named %v", asked, Names())
	}
	for n, has := range map[privacy.Neighbours][]Direction{
		privacy.AddRemove:  {Add, Remove, Both},
		privacy.ReplaceOne: {Replace, Both},
	} {
		r, err := Epsilon(t.Context(), parse(t, "3*poisson(0.1, gaussian(1)) + gaussian(2)"), 1e-6, Options{Neighbours: n})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range r.Bounds {
			if !slices.Contains(has, b.Direction) {
				t.Errorf("under %v %s says %q", n, b.Accountant, b.Direction)
			}
		}
	}
}
