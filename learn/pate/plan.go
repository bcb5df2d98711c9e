package pate

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/privacy"
)

// PlanOptions say what is to be reserved.
type PlanOptions struct {
	// Queries is how many there are. Required; public.
	Queries int
	// Answers is how many are reserved; 0: as many as fit.
	Answers int
	// Epsilon is what the plan may cost at most; 0: what the budget has left. It is of
	// budgets that add up ε and δ.
	Epsilon privacy.Epsilon
}

// A Plan is what is reserved of a list of queries before the first vote is looked at: so
// many tests of the threshold, which are made of the first queries in their order, and
// then so many answers at most, of those that reached it.
//
// A plan is one mechanism, and is charged once, as the guarantee that the best accountant
// certifies for it (accountant.Guarantee). That accountant needs the order and the number
// of the parts to be fixed in advance: they are, because all tests come before the first
// answer. Which queries are answered is chosen by the tests' outcomes, as adaptive
// composition allows (Dwork, Rothblum and Vadhan 2010); an answer that is reserved and
// not given is one that tells nothing, which costs no more. What is left over is never
// given back: how much that is depends on the votes.
type Plan struct {
	aggregator     *Aggregator
	queries        int
	tests, answers int
	charge         privacy.Event
}

// Tests and Answers are how many are reserved, and Queries of how many queries.
func (p *Plan) Tests() int   { return p.tests }
func (p *Plan) Answers() int { return p.answers }
func (p *Plan) Queries() int { return p.queries }

// Charge is the plan's guarantee, which the budget is charged.
func (p *Plan) Charge() privacy.Event { return p.charge }

// Event is what the plan may reveal, as a plan of package accountant.
func (p *Plan) Event() privacy.Event { return p.aggregator.planned(p.tests, p.answers) }

func (a *Aggregator) planned(tests, answers int) privacy.Event {
	test, answer := a.Events()
	var sum privacy.Sum
	if tests > 0 {
		sum.Events = append(sum.Events, privacy.Repeat{Count: tests, Event: test})
	}
	if answers > 0 {
		sum.Events = append(sum.Events, privacy.Repeat{Count: answers, Event: answer})
	}
	return sum
}

// Plan finds the plan of most answers that the budget admits. It charges nothing.
//
// Of the confident aggregator it asks about all queries where half as many answers fit,
// and about fewer where they do not; then it reserves all the answers that fit, at most
// one a query. With Answers it reserves just those, and as many tests as fit beside them.
// If nothing fits, the error is a *budget.ExceededError.
func (a *Aggregator) Plan(ctx context.Context, o PlanOptions) (*Plan, error) {
	refuse := func(err error) (*Plan, error) { return nil, fmt.Errorf("plan labels: %w", err) }
	if o.Queries < 1 || o.Answers < 0 {
		return refuse(fmt.Errorf("%d answers of %d queries", o.Answers, o.Queries))
	}
	left, err := a.o.Budget.Left(ctx)
	if err != nil {
		return refuse(err)
	}
	s := planner{ctx: ctx, Aggregator: a, most: o.Epsilon, left: left}
	n, k, err := s.choose(o)
	if err != nil {
		return refuse(err)
	}
	p := &Plan{aggregator: a, queries: n, answers: k}
	if a.threshold != nil {
		p.tests = n
	}
	// Compute the charge of the plan that fits.
	if p.charge, _, err = s.price(p.tests, p.answers); err != nil {
		return refuse(err)
	}
	return p, nil
}

// A planner looks for a plan.
type planner struct {
	*Aggregator
	ctx  context.Context
	most privacy.Epsilon
	left filter.Amounts
	err  error // the first; nothing fits then
}

// choose returns how many queries are asked, and how many answers are reserved.
func (s *planner) choose(o PlanOptions) (n, k int, err error) {
	switch k = min(o.Answers, o.Queries); {
	case s.threshold == nil && k > 0:
		n = greatest(k, k, func(n int) bool { return s.fits(0, n) })
	case s.threshold == nil:
		n = greatest(1, o.Queries, func(n int) bool { return s.fits(0, n) })
		k = n
	case k > 0:
		n = greatest(k, o.Queries, func(n int) bool { return s.fits(n, k) })
	default:
		half := func(n int) int { return (n + 1) / 2 }
		if n = greatest(1, o.Queries, func(n int) bool { return s.fits(n, half(n)) }); n > 0 {
			k = greatest(half(n), n, func(k int) bool { return s.fits(n, k) })
		}
	}
	switch {
	case s.err != nil:
		return 0, 0, s.err
	case n > 0:
		return n, k, nil
	}
	// At least the smallest plan that was asked for, even if it does not fit.
	k = max(k, 1)
	tests := 0
	if s.threshold != nil {
		tests = k
	}
	_, asked, err := s.price(tests, k)
	if err != nil {
		return 0, 0, err
	}
	f := s.o.Budget.Filter()
	return 0, 0, &budget.ExceededError{Budget: s.o.Budget.Name(), Measure: f.Measure(), Asked: f.Amounts(asked), Left: s.left}
}

// greatest returns the greatest number from low to high for which ok holds, which holds
// up to somewhere; 0 if it does not for low.
func greatest(low, high int, ok func(int) bool) int {
	if !ok(low) {
		return 0
	}
	if ok(high) {
		return high
	}
	return low + sort.Search(high-low, func(i int) bool { return !ok(low + i + 1) })
}

// fits reports whether a plan is within what is left, and within the most that it may
// cost.
func (s *planner) fits(tests, answers int) bool {
	if s.err != nil {
		return false
	}
	charge, asked, err := s.price(tests, answers)
	switch {
	case errors.Is(err, accountant.ErrNoBound):
		return false
	case err != nil:
		s.err = err
		return false
	}
	if s.most.Sign() > 0 {
		epsilon := s.o.Budget.Filter().Amounts(asked).Epsilon
		switch e := charge.(type) {
		case privacy.Approx:
			epsilon = e.Epsilon
		case privacy.Pure:
			epsilon = e.Epsilon
		}
		if epsilon.Cmp(s.most) > 0 {
			return false
		}
	}
	return asked.Within(s.left.Total(s.o.Budget.Filter().Measure()))
}

// price is a plan's guarantee, and what the filter charges for it.
func (s *planner) price(tests, answers int) (privacy.Event, filter.Total, error) {
	f := s.o.Budget.Filter()
	e, err := accountant.Guarantee(s.ctx, s.planned(tests, answers), f, s.o.Delta, accountant.Options{Neighbours: f.Neighbours()})
	if err != nil {
		return nil, filter.Total{}, err
	}
	asked, err := f.Charge([]privacy.Event{e}, s.o.Delta)
	return e, asked, err
}

// ErrPlan is wrapped by the refusal of more than a plan reserves.
var ErrPlan = errors.New("more than the plan reserves")

// Label charges the plan and labels the first queries within it. Every call charges
// anew.
//
// The charge is durable, where the budget is, before a vote is looked at, and labels
// leave when all of them are drawn and recorded: a run that is killed between has no
// labels and stays paid, and there is nothing to be gone on with.
func (p *Plan) Label(ctx context.Context, votes *analysis.Votes) (*Run, error) {
	a := p.aggregator
	if votes.Classes != a.o.Classes || votes.Len() < p.queries {
		return &Run{}, fmt.Errorf("label: %d queries of %d classes; the plan is of %d of %d", votes.Len(), votes.Classes, p.queries, a.o.Classes)
	}
	release := budget.Release{Statement: "pate: " + p.Event().String(), Events: []privacy.Event{p.charge}, Delta: a.o.Delta}
	r, err := budget.Spend(ctx, a.o.Budget, release, func() (*Run, error) {
		return a.within(ctx, votes, p, &reserve{tests: p.tests, answers: p.answers})
	})
	if err != nil {
		return &Run{}, fmt.Errorf("label: %w", err)
	}
	return r, nil
}

// A reserve is what may still be drawn. Every draw takes from it first, whatever the
// loop around it believes.
type reserve struct{ tests, answers int }

func (r *reserve) take(of *int) error {
	if *of--; *of < 0 {
		return ErrPlan
	}
	return nil
}

// within makes all tests, and then gives answers until as many are given as the plan has.
func (a *Aggregator) within(ctx context.Context, votes *analysis.Votes, p *Plan, left *reserve) (*Run, error) {
	agreed := make([]bool, p.queries)
	for i := range agreed {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if agreed[i] = a.threshold == nil; agreed[i] {
			continue
		}
		if err := left.take(&left.tests); err != nil {
			return nil, err
		}
		var err error
		if agreed[i], err = a.agrees(a.largest(votes.Row(i))); err != nil {
			return nil, err
		}
	}
	r := &Run{Labels: make([]int32, p.queries)}
	for i := range agreed {
		r.Labels[i] = NoLabel
		switch {
		case !agreed[i]:
			continue
		case r.Answered == p.answers:
			r.Beyond++
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := left.take(&left.answers); err != nil {
			return nil, err
		}
		var err error
		if r.Labels[i], err = a.winner(votes.Row(i)); err != nil {
			return nil, err
		}
		r.Answered++
	}
	return r, nil
}
