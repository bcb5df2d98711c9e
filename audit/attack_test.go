package audit_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

const units = 20

// play runs an attack against oracles, with bits of the system's.
func play(t testing.TB, attack audit.Attack, oracle func([]bool) (audit.Oracle, error), runs int) audit.Counts {
	t.Helper()
	c, err := audit.Trials(t.Context(), noise.System(), audit.TrialOptions{Attack: attack, Oracle: oracle, Units: units, Runs: runs, Target: 7})
	if err != nil {
		t.Fatal(err)
	}
	if c.Runs() != runs {
		t.Fatalf("%d runs of %d", c.Runs(), runs)
	}
	return c
}

func bounded(e float64) func([]bool) (audit.Oracle, error) {
	return func(secret []bool) (audit.Oracle, error) { return audit.Bounded(noise.System(), secret, e) }
}

// Exact answers give every bit away, to every attack; and so does noise that is
// bounded, however small or large: to the difference of two answers while it is below
// 1/4, to averages at any size. An average of 3000 is wrong with probability below
// 1e-14.
func TestAttacksBreakExactAndBoundedAnswers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		attack audit.Attack
		oracle func([]bool) (audit.Oracle, error)
		runs   int
	}{
		{"difference, exact", audit.Difference, exact, 200},
		{"average of one, exact", audit.Average(1), exact, 200},
		{"threshold, exact", audit.Probe, exact, 200},
		{"difference, bounded", audit.Difference, bounded(0.24), 200},
		{"threshold, bounded", audit.Probe, bounded(0.24), 200},
		{"average, bounded", audit.Average(3000), bounded(5), 30},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := play(t, tc.attack, tc.oracle, tc.runs)
			if c.Correct() != c.Runs() {
				t.Errorf("right in %d of %d", c.Correct(), c.Runs())
			}
		})
	}
}

// Probing asks as often as it says, no more.
func TestProbeQueries(t *testing.T) {
	for n := 1; n < 70; n++ {
		asked := 0
		secret := ones(n)
		guess, err := audit.Probe(t.Context(), func(ctx context.Context, q audit.Subset) (float64, error) {
			asked++
			return audit.Exact(secret)(ctx, q)
		}, n, n-1)
		if err != nil || !guess || asked != audit.ProbeQueries(n) {
			t.Errorf("%d units: %v, %v, %d queries, not %d", n, guess, err, asked, audit.ProbeQueries(n))
		}
	}
}

// checkWithin fails where an attack was right more often than total epsilon allows,
// which happens to a right mechanism with probability at most falseReject.
func checkWithin(t *testing.T, correct, n int, total float64) {
	t.Helper()
	if p := audit.PValue(correct, n, audit.SuccessBound(total, 0)); p < falseReject {
		t.Errorf("right in %d of %d: epsilon %v allows %.3f of them, p = %v", correct, n, total, audit.SuccessBound(total, 0), p)
	}
}

// Against noise under a budget the same attacks stay within what the budget's epsilon
// allows. Asking once with all of it is the best that there is: it reaches the bound.
func TestAttacksStayWithinEpsilon(t *testing.T) {
	const runs = 3000
	for _, tc := range []struct {
		name        string
		attack      audit.Attack
		each, total string
	}{
		{"one query", audit.Average(1), "0.2", "0.2"},
		{"one query", audit.Average(1), "1", "1"},
		{"one query", audit.Average(1), "3", "3"},
		{"average of ten", audit.Average(10), "0.1", "1"},
		{"average until refused", audit.Average(1000), "0.1", "1"},
		{"difference", audit.Difference, "0.5", "1"},
		{"difference", audit.Difference, "1.5", "3"},
		{"difference, the second refused", audit.Difference, "1", "1"},
		{"threshold", audit.Probe, "0.1", "1"},
		{"threshold", audit.Probe, "1", "10"},
	} {
		t.Run(fmt.Sprintf("%s within %s", tc.name, tc.total), func(t *testing.T) {
			t.Parallel()
			c := play(t, tc.attack, private(t, noise.System(), tc.each, tc.total), runs)
			total := epsilon(t, tc.total).Float64()
			checkWithin(t, c.Correct(), runs, total)
			if e, err := c.EpsilonLowerBound(0, 1-falseReject); err != nil || e > total {
				t.Errorf("the runs prove epsilon %v, %v", e, err)
			}
			if tc.name == "one query" { // the bound is reached: wrong ones are not fewer either
				if p := audit.PValue(runs-c.Correct(), runs, 1-1/(1+math.Exp(-total))); p < falseReject {
					t.Errorf("right in %d of %d only, p = %v", c.Correct(), runs, p)
				}
			}
		})
	}
}

// A faulty mechanism adds noise for a larger epsilon than its event says.
type faulty struct {
	mechanism.Additive
	claimed privacy.Event
}

func (f faulty) Event() privacy.Event { return f.claimed }

// shared noise is drawn once and added to every answer.
type shared struct {
	mechanism.Additive
	drawn *big.Int
}

func (s *shared) AddTo(b noise.Bits, values []*big.Int) error {
	if s.drawn == nil {
		draw := []*big.Int{new(big.Int)}
		if err := s.Additive.AddTo(b, draw); err != nil {
			return err
		}
		s.drawn = draw[0]
	}
	for _, v := range values {
		v.Add(v, s.drawn)
	}
	return nil
}

// unlimited is a budget that nobody enforces.
type unlimited struct{ budget.Budget }

func (u unlimited) Reserve(context.Context, budget.Release) (budget.Reservation, error) {
	return u, nil
}

func (u unlimited) Commit(context.Context, []byte) error { return nil }

// The measurement finds the faults that it is there for: noise that is halved, one
// draw for two answers, a budget that is not enforced.
func TestPlantedFaultsExceedEpsilon(t *testing.T) {
	const runs = 3000
	oracle := func(m func() mechanism.Additive, enforced bool) func([]bool) (audit.Oracle, error) {
		return func(secret []bool) (audit.Oracle, error) {
			f := newFund(t, "1")
			var b budget.Budget = f
			if !enforced {
				b = unlimited{f}
			}
			return audit.Private(noise.System(), secret, audit.PrivateOptions{Mechanism: m(), Budget: b})
		}
	}
	honest := func(each string) func() mechanism.Additive {
		return func() mechanism.Additive { return laplace(t, each) }
	}
	for _, tc := range []struct {
		name   string
		attack audit.Attack
		oracle func([]bool) (audit.Oracle, error)
	}{
		{"noise halved", audit.Average(1), oracle(func() mechanism.Additive { return faulty{laplace(t, "2"), laplace(t, "1").Event()} }, true)},
		{"noise quartered, seen by differences", audit.Difference, oracle(func() mechanism.Additive { return faulty{laplace(t, "2"), laplace(t, "0.5").Event()} }, true)},
		{"one draw for two answers", audit.Difference, oracle(func() mechanism.Additive { return &shared{Additive: laplace(t, "0.5")} }, true)},
		{"no budget, averages", audit.Average(20), oracle(honest("1"), false)},
		{"no budget, thresholds", audit.Probe, oracle(honest("5"), false)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := play(t, tc.attack, tc.oracle, runs)
			if p := audit.PValue(c.Correct(), runs, audit.SuccessBound(1, 0)); p > falseReject {
				t.Errorf("right in %d of %d: not caught, p = %v", c.Correct(), runs, p)
			}
			if e, err := c.EpsilonLowerBound(0, 0.95); err != nil || e <= 1 {
				t.Errorf("the runs prove epsilon %v only, %v", e, err)
			}
		})
	}
}
