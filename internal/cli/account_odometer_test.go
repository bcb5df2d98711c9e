package cli

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// What every odometer says is the formula's value, computed a second time in floating
// point from the plan's own numbers.
func TestOdometer(t *testing.T) {
	out, code := runAccount(t, strings.Fields("odometer 100*pure(0.1)+5*gaussian(10) --delta 1e-6 --records 10000 --json")...)
	if code != diagnostic.ExitAnswered {
		t.Fatal(out)
	}
	type stops struct {
		Plan  string
		At    float64
		Kept  float64
		Stops []struct {
			Events, Times, Squares float64
			Epsilon                map[string]*float64
		}
	}
	var got stops
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Stops) != 10 || math.Abs(got.At-1.05) > 1e-12 || got.Kept != 0 {
		t.Fatalf("tight at %v, kept %v, %d stops: %s", got.At, got.Kept, len(got.Stops), out)
	}
	l, h := math.Log(1e6), got.At
	for _, s := range got.Stops {
		pure, noise := math.Min(s.Events, 100), math.Max(0, s.Events-100)
		v := pure*0.01 + noise*0.01 // Σε², and 2ρ = 1/σ² for Gaussian noise
		drift := pure*0.1*math.Expm1(0.1)/2 + noise*0.005
		lambda := math.Sqrt(2 * l / h)
		k := math.Max(0, math.Ceil(math.Log2(v/h)-1e-12))
		epoch := l + math.Log((k+1)*(k+2))
		steep := math.Sqrt(2 * epoch / (h * math.Exp2(k)))
		log := math.Log(2 * 29 / 1e-6) // m = 2⌈log2 10000⌉ = 28
		excess := 2 * math.Sqrt(v*(1+math.Log(3)/2)*log)
		if v > 1+1e-12 {
			excess = math.Sqrt(2 * (v + 1e-8) * (1 + math.Log1p(v*1e8)/2) * log)
		}
		want := map[string]float64{
			"basic":    pure * 0.1,
			"line":     v/2 + lambda*v/2 + l/lambda,
			"mixture":  v/2 + math.Sqrt((v+h)*(2*l+math.Log1p(v/h))),
			"stitched": v/2 + steep*v/2 + epoch/steep,
			"rogers":   drift + excess,
		}
		for name, w := range want {
			got := s.Epsilon[name]
			switch {
			case name == "basic" && noise > 0:
				if got != nil {
					t.Errorf("%v events: basic says %v of Gaussian noise", s.Events, *got)
				}
			case got == nil || math.Abs(*got/w-1) > 1e-9:
				t.Errorf("%v events: %s says %v, want %v", s.Events, name, got, w)
			}
		}
	}
}

// What is read at the last stop of a plan is the same whichever way the plan is written,
// grows along it, and with the relation, the group and deltas of the events.
func TestOdometerStops(t *testing.T) {
	last := func(args string) (line, kept float64) {
		t.Helper()
		out, code := runAccount(t, append(strings.Fields("odometer "+args), "--json")...)
		var got struct {
			Kept  float64
			Stops []struct{ Epsilon map[string]float64 }
		}
		if code != diagnostic.ExitAnswered || json.Unmarshal([]byte(out), &got) != nil || len(got.Stops) == 0 {
			t.Fatalf("odometer %s: exit code %d: %s", args, code, out)
		}
		before := 0.0
		for _, s := range got.Stops {
			if !(s.Epsilon["line"] > before) {
				t.Errorf("odometer %s: the line falls from %v to %v", args, before, s.Epsilon["line"])
			}
			before = s.Epsilon["line"]
		}
		return before, got.Kept
	}
	const at = " --delta 1e-6 --at 1"
	one, kept := last("6*laplace(10)" + at)
	if kept != 0 {
		t.Errorf("%v is kept for events without a delta", kept)
	}
	for _, same := range []string{"2*(3*laplace(10))", "laplace(10)+5*laplace(10)", "2*(laplace(10)+2*laplace(10))", "6*pure(0.1)", "6*gaussian(10)"} {
		if eps, _ := last(same + at); math.Abs(eps-one) > 1e-12 {
			t.Errorf("%s: %v, want %v", same, eps, one)
		}
	}
	for _, more := range []string{"6*laplace(10) --relation replace-one", "6*laplace(10) --group 2", "6*gaussian(10) --group 2"} {
		// The line that is tight at 1, at four times the sum of squares 0.06.
		lambda := math.Sqrt(2 * math.Log(1e6))
		want := 0.24/2*(1+lambda) + math.Log(1e6)/lambda
		if eps, _ := last(more + at); eps > want+1e-9 || eps < 0.995*want { // pure events may have a better ρ than ε²/2
			t.Errorf("%s: %v, want %v", more, eps, want)
		}
	}
	if eps, kept := last("6*approx(0.1,1e-9)" + at); kept != 5e-7 || eps <= one {
		t.Errorf("with deltas of their own: ε %v, %v kept", eps, kept)
	}
	if eps, kept := last("6*poisson(0.1,gaussian(1))" + at); kept != 5e-7 || eps <= 0 {
		t.Errorf("sampled: ε %v, %v kept", eps, kept)
	}
}

func TestOdometerRefusals(t *testing.T) {
	for _, tc := range []struct {
		args string
		code int
		want string
	}{
		{"pure(1)", 2, "--delta"},
		{"pure(1) --delta 1e-6 --epsilon 1", 2, "no budget"},
		{"pure(1) --delta 0", 1, "D124"},
		{"pure(1) --delta 1e-6 --at 0", 2, "--at"},
		{"pure(1) --delta 1e-6 --records 1", 2, "--records"},
		{"pure(1) --delta 0.5 --records 100", 1, "1/e"},
		{"pure(?) --delta 1e-6", 1, "calibrate"},
		{"pure(1) pure(1) --delta 1e-6", 2, "one plan"},
		{"approx(1,1e-6) --delta 1e-6", 1, "more than half"},
		{"2*approx(1,5e-7)+poisson(0.1,gaussian(1)) --delta 2e-6", 1, "no delta is left"},
		{"approx(0,1e-9) --delta 1e-6", 1, "spends deltas alone"},
		{"randomized_response(0.75) --delta 1e-6", 1, "replace-one"},
		{strings.Repeat("pure(1)+", 1000) + "pure(1) --delta 1e-6", 1, "1001 terms"},
	} {
		if out, code := runAccount(t, strings.Fields("odometer "+tc.args)...); code != tc.code || !strings.Contains(out, tc.want) {
			t.Errorf("odometer %.60s: exit code %d, want %d with %q:\n%.300s", tc.args, code, tc.code, tc.want, out)
		}
	}
}
