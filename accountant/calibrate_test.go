package accountant

import (
	"errors"
	"fmt"
	"github.com/discreet-dp/discreet/accountant/internal/work"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy/plan"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

func parsePlan(t rapid.TB, text string) plan.Plan {
	t.Helper()
	p, err := plan.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func TestCalibrateVectors(t *testing.T) {
	for _, tc := range []struct {
		id, plan   string
		accountant Name
		eps, delta float64
		tolerance  float64 // relative
	}{
		{"agm-sigma-eps1-d1e-06", "gaussian(?)", "", 1, 1e-6, 1e-9},
		{"agm-sigma-eps1.5-d1e-06", "gaussian(?)", "", 1.5, 1e-6, 1e-9},
		{"agm-sigma-eps2-d1e-05", "gaussian(?)", "", 2, 1e-5, 1e-9},
		{"agm-sigma-eps5-d1e-05", "gaussian(?)", "", 5, 1e-5, 1e-9},
		{"agm-sigma-eps10-d1e-05", "gaussian(?)", "", 10, 1e-5, 1e-9},
		{"agm-sigma-eps20-d1e-05", "gaussian(?)", "", 20, 1e-5, 1e-9},
		{"gauss-sigma-bigeps", "gaussian(?)", "", 16, 1.016e-5, 1e-3},
		{"subgauss-calib-1", "poisson(0.01, gaussian(?))", "", 1, 1e-5, 1e-6},
		{"opacus-sigma-rdp", "ceil(90/0.04)*poisson(0.04, gaussian(?))", "rdp", 8, 1e-5, 2e-4},
		{"opacus-sigma-prv", "ceil(90/0.04)*poisson(0.04, gaussian(?))", "pld", 8, 1e-5, 2e-3}, // theirs is an upper bound of a coarse search
		{"laplace-cal-20", "20*laplace(?)", "", 1, 1e-4, 0.01},
		{"laplace-cal-500", "500*laplace(?)", "", 1, 1e-4, 0.002},
		{"kov-inv", "50*pure(?)", "optimal", 5, 0.01, 1e-6},
	} {
		want := vectors(t)[tc.id].Expected.(float64)
		c, err := Calibrate(t.Context(), parsePlan(t, tc.plan), tc.eps, tc.delta, Options{Accountant: tc.accountant})
		if err != nil {
			t.Errorf("%s: %v", tc.id, err)
		} else if !(math.Abs(c.Value/want-1) <= tc.tolerance) {
			t.Errorf("%s: %+v, want %v", tc.id, c, want)
		}
	}
}

// Where every evaluation is dear, the vector's σ is held against the bounds instead.
func TestCalibratedSigmaMeetsItsTarget(t *testing.T) {
	sigma := vectors(t)["subgauss-calib-2"].Expected.(float64)
	for _, tc := range []struct {
		factor float64
		met    bool
	}{{1, true}, {0.999, false}} {
		plan := fmt.Sprintf("25*poisson(0.001, gaussian(%v, sensitivity=6))", sigma*tc.factor)
		r, err := Epsilon(t.Context(), parse(t, plan), 1e-5, Options{Accountant: "pld"})
		if err != nil || r.Bounds[0].Epsilon.High <= 1 != tc.met {
			t.Errorf("%s: %v, %v, want ε at most 1: %v", plan, r.Bounds[0].Epsilon, err, tc.met)
		}
	}
}

// Wherever the unknown stands, the value meets the guarantee and the other end of
// the bracket does not: noise is rounded up, counts, rates and ε down.
func TestCalibrateIsOnTheSafeSide(t *testing.T) {
	for _, tc := range []struct {
		plan       string
		eps, delta float64
		o          Options
		up         bool
	}{
		{"gaussian(?)", 0.5, 1e-9, Options{}, true},
		{"10*laplace(?) + gaussian(20)", 1, 1e-6, Options{}, true},
		{"laplace(10) + gaussian(?)", 0.5, 1e-5, Options{}, true},
		{"1000*poisson(0.01, gaussian(?))", 2, 1e-6, Options{}, true},
		{"1000*poisson(?, gaussian(2))", 2, 1e-6, Options{}, false},
		{"?*poisson(0.01, gaussian(2))", 2, 1e-6, Options{}, false},
		{"?*pure(0.1)", 5, 1e-6, Options{}, false},
		{"?*pure(0.1)", 1, 0, Options{}, false},
		{"20*pure(?)", 1, 1e-6, Options{}, false},
		{"zcdp(?)", 1, 1e-6, Options{}, false},
		{"gdp(?)", 1, 1e-6, Options{}, false},
		{"tree(?, 1024)", 3, 1e-6, Options{}, true},
		{"pure(0.5) + approx(?, 1e-7)", 1, 1e-6, Options{}, false},
		{"randomized_response(?, k=4)", 2, 0, Options{Neighbours: privacy.ReplaceOne}, false},
		{"poisson(?, pure(2))", 0.5, 0, Options{}, false},
		{"without_replacement(?, 1000, pure(2))", 0.5, 0, Options{Neighbours: privacy.ReplaceOne}, false},
		{"gaussian(3, sensitivity=?)", 1, 1e-6, Options{}, false},
	} {
		plan := parsePlan(t, tc.plan)
		c, err := Calibrate(t.Context(), plan, tc.eps, tc.delta, tc.o)
		if err != nil {
			t.Errorf("%s: %v", tc.plan, err)
			continue
		}
		if safe := map[bool]float64{true: c.High, false: c.Low}[tc.up]; c.Value != safe || c.Low > c.High || c.Accountant == "" {
			t.Errorf("%s: %+v is not on the safe side", tc.plan, c)
		}
		if c.High-c.Low > math.Max(1e-5*c.High, map[bool]float64{true: 1}[plan.Parameter().Whole]) {
			t.Errorf("%s: %+v is wide", tc.plan, c)
		}
		for _, x := range []float64{c.Low, c.High} {
			e, err := plan.With(exactly(x))
			if err != nil {
				continue // the end of what means something
			}
			r, err := Epsilon(t.Context(), e, tc.delta, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			best, _ := r.Best()
			if met := best.Epsilon.High <= tc.eps; met != (x == c.Value) {
				t.Errorf("%s: at %v ε is %v", tc.plan, x, best.Epsilon.High)
			}
		}
	}
}

func TestCalibrateRefuses(t *testing.T) {
	for _, tc := range []struct {
		plan       string
		eps, delta float64
		o          Options
		want       string
	}{
		{"gaussian(1)", 1, 1e-6, Options{}, "no unknown"},
		{"gaussian(?)", 1, 0, Options{}, ErrUnreachable.Error()},
		{"pure(2) + gaussian(?)", 1, 1e-6, Options{}, ErrUnreachable.Error()},
		{"?*pure(2)", 1, 1e-6, Options{}, ErrUnreachable.Error()},
		{"approx(?, 1e-3)", 1, 1e-6, Options{}, ErrUnreachable.Error()},
		{"poisson(0.1, gaussian(?))", 1, 1e-6, Options{Accountant: "zcdp"}, "no zCDP guarantee"},
		{"gaussian(?)", 0, 1e-6, Options{}, "not positive"},
		{"gaussian(?)", 1, 1, Options{}, "[0, 1)"},
		{"gaussian(?)", 1, 1e-6, Options{Accountant: "best"}, "no accountant"},
		{"pure(?)", math.NaN(), 1e-6, Options{}, "not positive"},
	} {
		if c, err := Calibrate(t.Context(), parsePlan(t, tc.plan), tc.eps, tc.delta, tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s at (%v, %v): %+v, %v, want %q", tc.plan, tc.eps, tc.delta, c, err, tc.want)
		} else if tc.want == ErrUnreachable.Error() && !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: %v is not ErrUnreachable", tc.plan, err)
		}
	}
}

func BenchmarkCalibrateSigma(b *testing.B) {
	p := parsePlan(b, "10000*poisson(0.01, gaussian(?))")
	for b.Loop() {
		if _, err := Calibrate(b.Context(), p, 2, 1e-5, Options{Accountant: "pld"}); err != nil {
			b.Fatal(err)
		}
	}
}

// The search asks the costly accountant a dozen times, not once for each bit of the answer.
func TestCalibrationAsksSeldom(t *testing.T) {
	for _, text := range []string{"1000*poisson(0.01, gaussian(?))", "gaussian(?)", "poisson(?, gaussian(1))", "10*laplace(?)", "100*gaussian(1, sensitivity=?)"} {
		p := parsePlan(t, text)
		s := search{meter: work.New(t.Context()), plan: p, parameter: p.Parameter(), epsilon: 1, delta: 1e-5, known: map[value]outcome{}}
		if _, err := s.run(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		asked := 0
		for k := range s.known {
			if k.by == PLD {
				asked++
			}
		}
		if asked < 3 || asked > 16 {
			t.Errorf("%s: %d answers of pld", text, asked)
		}
	}
}
