package pate

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/privacy"
)

// planOptions are an aggregator of every kind.
func planOptions() map[string]Options {
	sigma, at, noise := big.NewRat(30, 1), big.NewRat(60, 1), big.NewRat(80, 1)
	return map[string]Options{
		"gnmax":     {Sigma: sigma},
		"confident": {Sigma: sigma, Threshold: at, ThresholdSigma: noise},
		"lnmax":     {Gamma: big.NewRat(1, 200)},
	}
}

// overdrawn says whether a run revealed more than was charged for it: its events, by
// their numbers in the run, under the best of all accountants.
func overdrawn(t *testing.T, a *Aggregator, r *Run, charge privacy.Event) bool {
	t.Helper()
	tests := 0
	if a.threshold != nil {
		tests = r.Asked()
	}
	answered := 0
	for _, label := range r.Labels {
		if label != NoLabel {
			answered++
		}
	}
	if answered != r.Answered {
		t.Errorf("%d labels, and %d are said to be answered", answered, r.Answered)
	}
	event := a.planned(tests, answered)
	if tests+answered == 0 {
		return false
	}
	epsilon, delta := new(big.Rat), new(big.Rat)
	switch e := charge.(type) {
	case privacy.Approx:
		epsilon, delta = e.Epsilon.Rat(), e.Delta.Rat()
	case privacy.Pure:
		epsilon = e.Epsilon.Rat()
	default:
		t.Fatalf("a charge of %v", charge)
	}
	d, _ := delta.Float64()
	report, err := accountant.Epsilon(t.Context(), event, d, accountant.Options{Neighbours: a.o.Budget.Neighbours()})
	if err != nil {
		t.Fatal(err)
	}
	best, ok := report.Best()
	return !ok || new(big.Rat).SetFloat64(best.Epsilon.High).Cmp(epsilon) > 0
}

// A plan is charged once, at no less than what the accountant says of all that was
// released, whatever the votes; no more is released than it reserves; and one answer
// more would not fit. One answer more than was reserved is seen by the same check.
func TestPlanIsChargedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 1))
	caught := 0
	for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		for _, measure := range []filter.Measure{filter.Approx, filter.Whitehouse} {
			for name, o := range planOptions() {
				const queries = 150
				v := &analysis.Votes{Classes: 3}
				for range queries { // some agreed on, some not
					n := int32(random.IntN(100))
					v.Counts = append(v.Counts, n, 100-n, 0)
				}
				whole := filter.Budget{Measure: measure, Epsilon: amount(t, privacy.ParseEpsilon, "5"), Delta: amount(t, privacy.ParseDelta, "1e-5"), Neighbours: relation}
				o.Delta = amount(t, privacy.ParseDelta, "1e-5")
				if measure == filter.Whitehouse {
					o.Delta = amount(t, privacy.ParseDelta, "5e-6")
					whole.SelectionDelta = o.Delta
				}
				b, err := budget.NewInMemory("test", whole)
				if err != nil {
					t.Fatal(err)
				}
				o.Classes, o.Budget = 3, b
				a := aggregator(t, o)
				p, err := a.Plan(t.Context(), PlanOptions{Queries: queries})
				if err != nil {
					t.Fatalf("%s, %v, %v: %v", name, measure, relation, err)
				}
				if spent, err := b.Spent(t.Context()); err != nil || spent.Epsilon.Sign() > 0 {
					t.Fatalf("%s: a plan costs %v: %v", name, spent, err)
				}
				r, err := p.Label(t.Context(), v)
				if err != nil {
					t.Fatal(err)
				}
				f := b.Filter()
				charged, err := f.Charge([]privacy.Event{p.Charge()}, o.Delta)
				if err != nil {
					t.Fatal(err)
				}
				left, err := b.Left(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got := left.Total(measure); !got.Equal(charged.Left(f.Budget())) {
					t.Errorf("%s, %v, %v: %v is left of %v after %v", name, measure, relation, got, f.Budget(), charged)
				}
				if r.Asked() != p.Queries() || r.Answered > p.Answers() || p.Queries() > queries {
					t.Errorf("%s, %v, %v: %d asked of %d, %d answered of %d", name, measure, relation, r.Asked(), p.Queries(), r.Answered, p.Answers())
				}
				if overdrawn(t, a, r, p.Charge()) {
					t.Errorf("%s, %v, %v: what was released costs more than was charged, %v", name, measure, relation, p.Charge())
				}
				s := planner{ctx: t.Context(), Aggregator: a, left: f.Amounts(f.Budget())}
				if p.Answers() < p.Queries() && s.fits(p.Tests(), p.Answers()+1) || !s.fits(p.Tests(), p.Answers()) {
					t.Errorf("%s, %v, %v: %d answers are not the most", name, measure, relation, p.Answers())
				}
				// The planted fault: as many labels as are reserved, and one.
				planted := &Run{Labels: slices.Repeat([]int32{0}, p.Answers()+1), Answered: p.Answers() + 1}
				for len(planted.Labels) < p.Tests() {
					planted.Labels = append(planted.Labels, NoLabel)
				}
				if !overdrawn(t, a, planted, p.Charge()) {
					t.Errorf("%s, %v, %v: one answer more than %d is not seen", name, measure, relation, p.Answers())
				} else {
					caught++
				}
			}
		}
	}
	if caught != 12 {
		t.Errorf("%d of 12 planted answers are caught", caught)
	}
}

// A loop that goes on beyond the plan draws nothing: the reserve refuses, no label
// leaves, and what was charged stays.
func TestNothingIsDrawnBeyondAPlan(t *testing.T) {
	for name, o := range planOptions() {
		b := purse(t, filter.Approx, "1", "1e-5", privacy.AddRemove)
		o.Classes, o.Budget, o.Delta = 2, b, amount(t, privacy.ParseDelta, "1e-6")
		a := aggregator(t, o)
		p, err := a.Plan(t.Context(), PlanOptions{Queries: 9})
		if err != nil {
			t.Fatal(err)
		}
		if p.Answers() != 9 {
			t.Fatalf("%s: %d answers of 9 queries", name, p.Answers())
		}
		v := &analysis.Votes{Classes: 2, Counts: slices.Repeat([]int32{100_000, 0}, 9)} // all agree
		short := []*reserve{{tests: p.tests, answers: 8}}
		if p.tests > 0 {
			short = append(short, &reserve{tests: 8, answers: 9})
		}
		for _, left := range short {
			if r, err := a.within(t.Context(), v, p, left); !errors.Is(err, ErrPlan) || r != nil {
				t.Errorf("%s: %v, %v", name, r, err)
			}
		}
		if r, err := a.within(t.Context(), v, p, &reserve{tests: p.tests, answers: p.answers}); err != nil || r.Answered != 9 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// Of a plan of few answers the first queries that reach the threshold get them, and the
// run says how many more did.
func TestPlanOfFewAnswers(t *testing.T) {
	o := planOptions()["confident"]
	b := purse(t, filter.Approx, "2", "1e-5", privacy.AddRemove)
	o.Classes, o.Budget, o.Delta = 2, b, amount(t, privacy.ParseDelta, "1e-6")
	a := aggregator(t, o)
	p, err := a.Plan(t.Context(), PlanOptions{Queries: 20, Answers: 3})
	if err != nil {
		t.Fatal(err)
	}
	v := &analysis.Votes{Classes: 2}
	for i := range int32(20) { // every other one is agreed on, beyond all doubt
		v.Counts = append(v.Counts, -100_000*(1-2*(i%2)), -100_000)
	}
	r, err := p.Label(t.Context(), v)
	if err != nil || p.Tests() != 20 || p.Answers() != 3 || r.Answered != 3 || r.Beyond != 7 {
		t.Fatalf("%d tests, %d answers; %+v, %v", p.Tests(), p.Answers(), r, err)
	}
	for i, label := range r.Labels {
		if (label != NoLabel) != (i == 1 || i == 3 || i == 5) {
			t.Errorf("query %d is labelled %d", i, label)
		}
	}
	small, err := a.Plan(t.Context(), PlanOptions{Queries: 20, Epsilon: amount(t, privacy.ParseEpsilon, "0.3")})
	if err != nil {
		t.Fatal(err)
	}
	if e := small.Charge().(privacy.Approx).Epsilon; e.Rat().Cmp(big.NewRat(3, 10)) > 0 || e.Rat().Cmp(big.NewRat(2, 10)) < 0 {
		t.Errorf("a plan for epsilon 0.3 costs %v", e)
	}
}

// What cannot be paid for is refused, and charges nothing; what fails after the charge
// stays charged, and no label leaves.
func TestPlanRefusals(t *testing.T) {
	spent := func(b *budget.InMemory) int {
		a, err := b.Spent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return a.Epsilon.Sign()
	}
	for name, o := range planOptions() {
		b := purse(t, filter.Approx, "0.001", "1e-5", privacy.AddRemove)
		o.Classes, o.Budget, o.Delta = 2, b, amount(t, privacy.ParseDelta, "1e-6")
		var exceeded *budget.ExceededError
		if _, err := aggregator(t, o).Plan(t.Context(), PlanOptions{Queries: 10}); !errors.As(err, &exceeded) || !errors.Is(err, budget.ErrExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := aggregator(t, o).Plan(t.Context(), PlanOptions{}); err == nil {
			t.Errorf("%s: a plan of no queries", name)
		}
		if spent(b) != 0 {
			t.Errorf("%s: a refusal is charged", name)
		}
		b = purse(t, filter.Approx, "1", "1e-5", privacy.AddRemove)
		o.Budget = b
		a := aggregator(t, o)
		p, err := a.Plan(t.Context(), PlanOptions{Queries: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []*analysis.Votes{{Classes: 2, Counts: make([]int32, 8)}, {Classes: 3, Counts: make([]int32, 15)}} {
			if _, err := p.Label(t.Context(), v); err == nil || spent(b) != 0 {
				t.Errorf("%s: other votes: %v", name, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		v := &analysis.Votes{Classes: 2, Counts: make([]int32, 10)}
		if r, err := p.Label(ctx, v); !errors.Is(err, context.Canceled) || r.Asked() != 0 {
			t.Errorf("%s: a run that is over: %v, %v", name, r, err)
		}
		a.bits = failing{}
		if r, err := p.Label(t.Context(), v); err == nil || r.Asked() != 0 || spent(b) == 0 {
			t.Errorf("%s: no randomness: %v, %v", name, r, err)
		}
	}
}
