package sensitivity_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
)

func planOf(t *testing.T, name string) *sensitivity.Plan {
	t.Helper()
	all, p := checked(t)(programs())
	for _, s := range all {
		if s.Name == name {
			r := s.check(p)
			if r.Plan == nil {
				t.Fatalf("%s has no plan: %s", name, reasons(r))
			}
			return r.Plan
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

func numbers(of map[string]string) map[string]*big.Rat {
	all := map[string]*big.Rat{}
	for k, v := range of {
		all[k], _ = new(big.Rat).SetString(v)
	}
	return all
}

// gd-pb in the Rényi mode: k rounds of Gaussian noise of ρ cost k·ρ·α at each order α,
// which the accountant says of the plan.
func TestPlanInRenyi(t *testing.T) {
	event, err := planOf(t, "GDPB").Event(numbers(map[string]string{"k": "30", "rho": "0.02", "dim": "9"}))
	if err != nil {
		t.Fatal(err)
	}
	orders := []float64{1.5, 2, 8, 64}
	points, err := accountant.RenyiCurve(t.Context(), event, orders, accountant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, alpha := range orders {
		want := 30 * 0.02 * alpha
		if high := points[i].Y.High; math.Abs(high-want) > 1e-9*want {
			t.Errorf("at order %v the plan costs %v, want %v", alpha, high, want)
		}
	}
}

// A thousand rounds at ε = 1 do not come out small: the form of advanced composition
// without its second term says 2·√(2000·ln 10⁵) = 303, less than any bound for them.
func TestThousandRounds(t *testing.T) {
	event, err := planOf(t, "Thousand").Event(nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := accountant.Epsilon(t.Context(), event, 1e-5, accountant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	best, _ := report.Best()
	truncated := 2 * math.Sqrt(2000*math.Log(1e5))
	if best.Epsilon.Low <= truncated {
		t.Errorf("a thousand rounds cost %v at least, and the truncated form says %v", best.Epsilon.Low, truncated)
	}
}

// The ε of (ε, δ) plans with numbers is the accountant's; that of parts is the most of
// them.
func TestPlanOfParts(t *testing.T) {
	event, err := planOf(t, "Tree").Event(numbers(map[string]string{"epsilon": "0.1"}))
	if err != nil {
		t.Fatal(err)
	}
	report, err := accountant.Epsilon(t.Context(), event, 0, accountant.Options{Neighbours: privacy.AddRemove})
	if err != nil {
		t.Fatal(err)
	}
	if best, ok := report.Best(); !ok || math.Abs(best.Epsilon.High-0.5) > 1e-9 {
		t.Errorf("a tree of five levels costs %v, want 0.5", best.Epsilon)
	}
}

func TestPlanRefuses(t *testing.T) {
	plan := planOf(t, "GDPB")
	if _, err := plan.Event(numbers(map[string]string{"k": "30"})); err == nil {
		t.Error("a plan without its parameters is an event")
	}
	if _, err := plan.Event(numbers(map[string]string{"k": "1/2", "rho": "1", "dim": "1"})); err == nil {
		t.Error("half a round is an event")
	}
	if _, err := plan.Event(numbers(map[string]string{"k": "1", "rho": "0", "dim": "1"})); err == nil {
		t.Error("noise without end is an event")
	}
}
