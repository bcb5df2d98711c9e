package learn

import (
	"context"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// pay decides the plan and checks that the budget can pay for it, before anything is
// charged; then it counts the units, if that is needed.
func (v *training) pay(ctx context.Context, t *terminal.Terminal, j *job, o *learn.Options) error {
	y, err := v.whoPays(ctx, j)
	if err != nil {
		return err
	}
	if y.measure == filter.Pure {
		return needsDelta("the domain that pays is of measure pure")
	}
	if v.delta.Sign() == 0 {
		if v.delta, err = y.deltaFor(v.target); err != nil {
			return err
		}
	}
	v.complete(j.data.Model, y.measure)
	if v.Public && v.sampler == "" { // the fast sampler is too coarse for so little noise
		v.sampler = learn.Exact
	}
	if v.Public {
		if err := v.load(ctx, j); err != nil {
			return err
		}
		if v.units = int64(j.set.UnitCount()); v.units == 0 {
			return diagnostic.New("D161", diagnostic.Span{}, "there are no examples in %s", v.Source())
		}
	}
	if v.resume != "" {
		return v.load(ctx, j)
	}
	units := v.units
	if units == 0 {
		if v.target.Sign() == 0 {
			return diagnostic.New("D113", diagnostic.Span{}, "--noise needs -n").Because("the cost of a noisy count of the units is missing").
				Try("-n, if their number is public; or --target-epsilon")
		}
		if j.count, err = counter(v.target, y.neighbours); err != nil {
			return failure.ParameterRefusal(err)
		}
		units, v.count = 100_000, j.count.Event().String() // the cost does not depend on their number
	}
	bounded := !v.Own()
	plan := v.plan(units, bounded, y.neighbours)
	if v.target.Sign() > 0 {
		if plan, err = y.calibrate(ctx, plan, v.target); err != nil {
			return err
		}
		v.noise = plan.Noise.Multiplier
	}
	if err := plan.Validate(); err != nil {
		return noPlan(plan, err)
	}
	if j.budget == nil {
		if j.budget, err = y.own(plan, v.target); err != nil {
			return noSuchRun(v.target, plan, err)
		}
		j.unpaid = !v.Public
	}
	if err := affordable(ctx, j.budget, plan, v.target); err != nil {
		return err
	}
	if v.units == 0 {
		o.Plan, o.Budget = plan, j.budget
		if err := learn.Check(*o); err != nil { // before the count is charged
			return noPlan(plan, err)
		}
		v.steps = plan.Steps
		if units, err = v.counted(ctx, t, j); err != nil {
			return err
		}
		plan = v.plan(units, bounded, y.neighbours)
	} else if err := v.load(ctx, j); err != nil {
		return err
	}
	if v.rate == 0 {
		plan.Optimizer.Rate = rateFor(plan, j.data.Model, j.data.Norm(), j.task.classes)
	}
	o.Plan = plan
	return nil
}

// whoPays finds the payer. There is none for public data, and for a file for which no domain
// was named.
func (v *training) whoPays(ctx context.Context, j *job) (payer, error) {
	b, err := v.Budget(ctx, &v.Workplace, v.payer, v.Analyst)
	if b == nil || err != nil {
		return payer{measure: filter.Approx}, err
	}
	j.budget = b
	return v.domainOf(ctx, b)
}

// fewest is the smallest noisy count that allows a run.
const fewest = 16

// counted charges the budget for the number of units, and counts them with noise.
func (v *training) counted(ctx context.Context, t *terminal.Terminal, j *job) (int64, error) {
	release := budget.Release{Statement: command.Said(v.command) + ": number of units", Events: []privacy.Event{j.count.Event()}}
	counts, err := budget.Spend(ctx, j.budget, release, func() ([]int64, error) {
		if err := v.load(ctx, j); err != nil {
			return nil, err
		}
		counts, err := j.count.Add(noise.System(), []int64{int64(j.set.UnitCount())})
		if err != nil {
			return nil, failure.Undrawn()
		}
		return counts, nil
	})
	if err != nil {
		return 0, err
	}
	t.Say("about %d units, by a noisy count (%v)", max(counts[0], 0), j.count.Event())
	if counts[0] < fewest {
		return 0, diagnostic.New("D164", diagnostic.Span{}, "a noisy count of %d units", counts[0]).
			Because("that is too few to learn from with any guarantee; the count's charge stays")
	}
	return counts[0], nil
}

// domainOf returns the payer that is the domain of a budget.
func (v *training) domainOf(ctx context.Context, b *durable.Budget) (payer, error) {
	balance, err := v.Ledger.Balance(ctx, b.Name())
	if err != nil {
		return payer{}, err
	}
	d := balance.DomainBudget
	return payer{d.Measure, d.Neighbours, filter.Budget{Measure: d.Measure, Epsilon: d.Epsilon, Delta: d.Delta,
		SelectionDelta: d.SelectionDelta, Neighbours: d.Neighbours}}, nil
}

// paidBy names who paid.
func (j *job) paidBy() string {
	if j.public || j.unpaid {
		return "nobody"
	}
	return j.budget.Name()
}
