package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy/plan"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// drawEvent draws an event of moderate cost; not all accountants support it.
func drawEvent(t *rapid.T, rel privacy.Neighbours) string {
	number := func(lo, hi float64) float64 {
		return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, "x"))
	}
	kinds := []string{"gaussian", "laplace", "pure", "zcdp", "gdp", "discrete_gaussian", "discrete_laplace", "exponential", "approx"}
	if rel == privacy.AddRemove {
		kinds = append(kinds, "poisson gaussian", "poisson gaussian", "poisson laplace")
	} else {
		kinds = append(kinds, "randomized_response", "without_replacement")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "gaussian", "laplace":
		return fmt.Sprintf("%s(%.3g)", kind, number(0.8, 30))
	case "discrete_gaussian", "discrete_laplace":
		return fmt.Sprintf("%s(%.3g, sensitivity=%d)", kind, number(2, 30), rapid.IntRange(1, 3).Draw(t, "sensitivity"))
	case "pure", "exponential":
		return fmt.Sprintf("%s(%.3g)", kind, number(0.01, 1))
	case "approx":
		return fmt.Sprintf("approx(%.3g, %.3g)", number(0.01, 1), number(1e-12, 1e-7))
	case "zcdp":
		return fmt.Sprintf("zcdp(%.3g)", number(1e-4, 0.5))
	case "gdp":
		return fmt.Sprintf("gdp(%.3g)", number(0.02, 1))
	case "randomized_response":
		return fmt.Sprintf("randomized_response(%.3g, k=%d)", rapid.Float64Range(0.51, 0.8).Draw(t, "p"), rapid.IntRange(2, 5).Draw(t, "k"))
	case "without_replacement":
		return fmt.Sprintf("without_replacement(%d, 1000, gaussian(%.3g))", rapid.IntRange(1, 500).Draw(t, "m"), number(0.8, 30))
	default:
		return fmt.Sprintf("poisson(%.3g, %s(%.3g))", number(1e-3, 0.9), strings.TrimPrefix(kind, "poisson "), number(0.8, 10))
	}
}

func drawPlan(t *rapid.T, rel privacy.Neighbours) string {
	var terms []string
	for range rapid.IntRange(1, 2).Draw(t, "terms") {
		terms = append(terms, fmt.Sprintf("%d*%s", rapid.IntRange(1, 60).Draw(t, "count"), drawEvent(t, rel)))
	}
	return strings.Join(terms, " + ")
}

func drawRelation(t *rapid.T) privacy.Neighbours {
	return rapid.SampledFrom([]privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne}).Draw(t, "relation")
}

// account asks for ε, and fails on anything but a refusal by all.
func account(t rapid.TB, text string, delta float64, o Options) map[Name]Bracket {
	t.Helper()
	p, err := plan.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	e, err := p.Event()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	r, err := Epsilon(context.Background(), e, delta, o)
	if err != nil && !errors.Is(err, ErrNoBound) {
		t.Fatalf("%s at δ = %v: %v", text, delta, err) // a contradiction among others
	}
	bounds := map[Name]Bracket{}
	for _, b := range r.Bounds {
		bounds[b.Accountant] = *b.Epsilon
	}
	return bounds
}

// Of any plan: every accountant's Low is at most every other's High (Epsilon itself
// refuses a contradiction); less δ never costs less ε; the order of events does not
// matter, nor does post-processing, that is, leaving an event out; but optimal composition
// of k events of one ε answers (k-2i)ε, and of one event more the other ones.
func TestAccountantsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Neighbours: drawRelation(t)}
		plan, more := drawPlan(t, o.Neighbours), drawEvent(t, o.Neighbours)
		delta := math.Exp(rapid.Float64Range(-60, -5).Draw(t, "ln delta"))
		// The lattice rounds each plan its own way, within its bracket.
		least := func(name Name, b Bracket) float64 {
			if name == "pld" {
				return b.Low
			}
			return b.High
		}
		base := account(t, plan, delta, o)
		smaller := account(t, plan, delta/10, o)
		for name, b := range base {
			if s, ok := smaller[name]; ok && s.High < least(name, b)*(1-1e-3)-2e-6 {
				t.Fatalf("%s of %s: ε falls from %v to %v as δ does from %v", name, plan, b, s, delta)
			}
		}
		all, swapped := account(t, plan+" + "+more, delta, o), account(t, more+" + "+plan, delta, o)
		for name, b := range all {
			if s := swapped[name]; math.Abs(s.High-b.High) > 1e-3*b.High+2e-6+b.High-least(name, b) {
				t.Fatalf("%s: %s in another order gives %v, not %v", name, plan, s, b)
			}
			if without, ok := base[name]; ok && name != "optimal" && least(name, without) > b.High*(1+1e-3)+2e-6 && !math.IsInf(without.High, 1) {
				t.Fatalf("%s: %s costs %v, and with %s more only %v", name, plan, without, more, b)
			}
		}
		if rdp, ok := all["rdp"]; ok && all["pld"].High > rdp.High*(1+1e-3)+1e-6 {
			t.Fatalf("%s: pld %v is above rdp %v", plan, all["pld"], rdp)
		}
	})
}

// Of Poisson-subsampled Gaussian noise: less noise, a greater rate and more steps
// never cost less.
func TestSubsampledGaussianIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := math.Exp(rapid.Float64Range(-7, -0.5).Draw(t, "ln q"))
		sigma := math.Exp(rapid.Float64Range(-0.3, 2).Draw(t, "ln sigma"))
		steps := rapid.IntRange(30, 3000).Draw(t, "steps")
		at := func(q, sigma float64, steps int) map[Name]Bracket {
			return account(t, fmt.Sprintf("%d*poisson(%v, gaussian(%v))", steps, q, sigma), 1e-6, Options{})
		}
		base := at(q, sigma, steps)
		for what, other := range map[string]map[Name]Bracket{
			"a greater rate": at(q*1.1, sigma, steps), "less noise": at(q, sigma/1.1, steps), "more steps": at(q, sigma, steps+1),
		} {
			for _, name := range []Name{PLD, RDP, Moments} {
				if other[name].High < base[name].Low || name != "pld" && other[name].High < base[name].High*(1-1e-9) {
					t.Fatalf("q %v, sigma %v, %d steps: %s of %s falls from %v to %v", q, sigma, steps, name, what, base[name], other[name])
				}
			}
		}
	})
}

// Of pure events rdp is at most ½Σε² + √(2 ln(1/δ) Σε²), up to its orders.
func TestRDPOfPureEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 400).Draw(t, "k")
		eps := math.Exp(rapid.Float64Range(-4, 0).Draw(t, "ln eps"))
		delta := math.Exp(rapid.Float64Range(-40, -3).Draw(t, "ln delta"))
		squares := float64(k) * eps * eps
		bound := squares/2 + math.Sqrt(-2*math.Log(delta)*squares)
		if got := account(t, fmt.Sprintf("%d*pure(%v)", k, eps), delta, Options{})["rdp"]; got.High > bound*1.01 {
			t.Fatalf("%d events of ε = %v at δ = %v: rdp %v is above %v", k, eps, delta, got, bound)
		}
	})
}

// ε of δ of ε is at most ε, and the other way round.
func TestEpsilonAndDeltaAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Neighbours: drawRelation(t)}
		plan := drawPlan(t, o.Neighbours)
		delta := math.Exp(rapid.Float64Range(-40, -5).Draw(t, "ln delta"))
		for name, b := range account(t, plan, delta, o) {
			if math.IsInf(b.High, 1) || name == "optimal" { // whose ε are a grid
				continue
			}
			o.Accountant = name
			r, err := Delta(t.Context(), parse(t, plan), b.High, o)
			if err != nil {
				t.Fatalf("%s of %s at ε = %v: %v", name, plan, b.High, err)
			}
			// Divergences are of orders up to 2^34, which multiply what is added for rounding, 2^-50 of ε.
			most := delta * (1 + 1e-3 + math.Ldexp(b.High, 36-50))
			if got := r.Bounds[0].Delta; got.Low > most || name != "pld" && b.High > 0 && got.High > most {
				t.Fatalf("%s of %s: ε(%v) = %v, whose δ is %v", name, plan, delta, b, got)
			}
		}
	})
}

// In parallel parts a unit meets one under AddRemove. Under ReplaceOne it stays in
// one, at twice the distance, or moves from one to another.
func TestParallel(t *testing.T) {
	replace := Options{Neighbours: privacy.ReplaceOne}
	for _, tc := range []struct {
		plan, same string
		o, as      Options
	}{
		{"parallel(pure(1), pure(2))", "pure(2)", Options{}, Options{}},
		{"parallel(pure(1), pure(2))", "pure(1)+pure(2)", replace, replace},
		{"parallel(pure(1), pure(2), pure(1.5))", "pure(2)+pure(1.5)", replace, replace},
		{"parallel(gaussian(1), gaussian(2))", "gaussian(1)", Options{}, Options{}},
		{"parallel(gaussian(1), gaussian(1))", "gaussian(1)", replace, replace},
		{"3*parallel(gaussian(1), laplace(100))", "3*gaussian(1)", Options{}, Options{}},
		{"parallel(2*gaussian(1)+pure(1), pure(0.1))+gaussian(3)", "2*gaussian(1)+gaussian(3)+pure(1)", Options{}, Options{}},
		{"parallel(laplace(1), laplace(4))", "laplace(1)", replace, replace},
	} {
		got, want := account(t, tc.plan, 1e-6, tc.o), account(t, tc.same, 1e-6, tc.as)
		for name, w := range want {
			// Two events of ε are no less than one of 2ε for most accountants.
			if g := got[name]; g.High < w.Low*(1-1e-9) || (name == "basic" || name == "gdp") && math.Abs(g.High-w.High) > 1e-9*w.High && !math.IsInf(w.High, 1) {
				t.Errorf("%s of %s: %v, want that of %s: %v", name, tc.plan, g, tc.same, w)
			}
		}
	}
	if _, err := Epsilon(t.Context(), parse(t, "1000*parallel(gaussian(1), laplace(1))"), 1e-6, Options{}); !errors.Is(err, errTooMany) {
		t.Errorf("a thousand choices: %v", err)
	}
}

// What cannot be accounted for is refused by name, with what to wrap it as.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		plan       string
		accountant Name
		want       string
		o          Options
	}{
		{"gaussian(1) + zcdp(1)", "pld", "zcdp(1)", Options{}},
		{"approx(1, 1e-9) + gaussian(1)", "rdp", "approx(1, 1e-9): no Rényi divergence is known; wrap it as", Options{}},
		{"poisson(0.1, gaussian(1))", "zcdp", "poisson(0.1, gaussian(1, sensitivity=1)): no zCDP guarantee", Options{}},
		{"pure(1) + pure(2)", "optimal", "differ in ε", Options{}},
		{"poisson(0.1, zcdp(1))", "gdp", "no Gaussian guarantee", Options{}},
		{"randomized_response(0.7)", "basic", "replace-one", Options{}},
		{"poisson(0.1, laplace(1))", "rdp", "replace", Options{Neighbours: privacy.ReplaceOne}},
		{"gaussian(1)", "best", "no accountant", Options{}},
		{"gaussian(1)", "rdp", "order 1 is not above 1", Options{Orders: []float64{1}}},
	} {
		tc.o.Accountant = tc.accountant
		r, err := Epsilon(t.Context(), parse(t, tc.plan), 1e-6, tc.o)
		if err == nil {
			if tc.accountant == "pld" && strings.Contains(r.Bounds[0].Note, "fallback to rdp") && strings.Contains(r.Bounds[0].Note, tc.want) {
				continue
			}
			t.Errorf("%s of %s is %v, want a refusal", tc.accountant, tc.plan, r.Bounds)
		} else if !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s of %s: %v, want it to name %q", tc.accountant, tc.plan, err, tc.want)
		}
	}
	for _, delta := range []float64{-1e-9, 1, math.NaN(), math.Inf(1)} {
		if _, err := Epsilon(t.Context(), parse(t, "gaussian(1)"), delta, Options{}); err == nil {
			t.Errorf("δ = %v is accepted", delta)
		}
	}
	for _, eps := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Delta(t.Context(), parse(t, "gaussian(1)"), eps, Options{}); err == nil {
			t.Errorf("ε = %v is accepted", eps)
		}
	}
}

// A replacement is twice as far as a removal, for every accountant.
func TestReplacementDoubles(t *testing.T) {
	for _, name := range []string{"laplace(3%s)", "gaussian(3%s)", "discrete_laplace(3%s)", "discrete_gaussian(3%s)", "tree(9, 8%s)", "2*laplace(3%s)+gaussian(4)"} {
		replace := account(t, fmt.Sprintf(strings.ReplaceAll(name, "gaussian(4)", "gaussian(4%[1]s)"), ""), 1e-6, Options{Neighbours: privacy.ReplaceOne})
		double := account(t, fmt.Sprintf(strings.ReplaceAll(name, "gaussian(4)", "gaussian(4%[1]s)"), ", sensitivity=2"), 1e-6, Options{})
		if len(replace) != len(double) || len(double) < 3 {
			t.Errorf("%s: %v and %v", name, replace, double)
		}
		for accountant, b := range double {
			if r := replace[accountant]; math.Abs(r.High-b.High) > 1e-9*b.High {
				t.Errorf("%s of %s under replace-one is %v, at twice the distance %v", accountant, name, r, b)
			}
		}
	}
}
