package prove_test

import (
	"context"
	"math/big"
	"os/exec"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/prove"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// units are the functions with claims of packages of verify/testdata, by name.
func units(t testing.TB, patterns ...string) map[string]*source.Unit {
	t.Helper()
	packages, err := source.Load(t.Context(), "../../testdata", patterns...)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*source.Unit{}
	for _, p := range packages {
		for _, u := range p.Units {
			all[u.Name] = u
		}
	}
	return all
}

func needZ3(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("z3"); err != nil {
		t.Skip("skip: missing tool z3")
	}
}

// Each is proved for inputs of any size, and its certificate checks without a
// solver.
func TestProves(t *testing.T) {
	needZ3(t)
	all := units(t, "./right", "./lyu", "./more", "../internal/prove/testdata/traps")
	for _, name := range []string{"NoisyMax", "NoisyMaxInt", "NoisyMaxExponential", "NoisyMaxMonotone",
		"ExponentialMechanism", "PartialSum", "PrefixSum", "SmartSum", "Histogram", "AboveThreshold",
		"SVT", "SVTInt", "SVTIncreasing", "SVTDecreasing", "GapSVT", "NumSVT", "AdaptiveSVT", "Lyu1", "Lyu2", "Lyu4", "Lyu7", "NoisyMaxGrid", "AboveThresholdGrid", "Rethreshold", "Stream", "MaxThenValue", "Outside", "GapOrValue", "BranchOnRawSmall", "CountWithResets", "Helped"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := all[name]
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			o, err := prove.Prove(ctx, u.Function, u.Claim, prove.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if o.Status != prove.Proved {
				t.Fatalf("status %v, tried %q", o.Status, o.Tried)
			}
			if err := prove.Check(ctx, u.Function, u.Claim, o.Certificate); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is proved may be less than what is claimed.
func TestLeastCost(t *testing.T) {
	needZ3(t)
	all := units(t, "./right")
	for name, want := range map[string]string{"SVT": "eps", "PartialSum": "eps"} {
		t.Run(name, func(t *testing.T) {
			u := all[name]
			if got := least(t, u, u.Claim); got != want {
				t.Errorf("least cost %s, want %s", got, want)
			}
			double := *u.Claim
			cost := *u.Claim.Cost
			cost.Epsilon = program.Binary{Op: program.Mul, X: program.Number{Value: big.NewRat(2, 1)}, Y: cost.Epsilon}
			double.Cost = &cost
			if got := least(t, u, &double); got != want {
				t.Errorf("least cost %s of a claim of twice, want %s", got, want)
			}
		})
	}
}

func least(t *testing.T, u *source.Unit, c *claim.Claim) string {
	t.Helper()
	o, err := prove.Prove(t.Context(), u.Function, c, prove.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o.Status != prove.Proved {
		t.Fatalf("status %v, tried %q", o.Status, o.Tried)
	}
	return o.LeastCost
}
