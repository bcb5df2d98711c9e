package cost

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Run is a learner's run that is planned and not yet made: what it reveals is fixed,
// and no example was looked at.
type Run[M any] struct {
	plan      *Plan
	asked     Options // what Calibrate was asked for; of Rho and Delta alone what the run is by
	statement string
	fit       func(context.Context, noise.Bits) (M, error)
}

// NewRun returns the run of a plan. Statement is for the owner's history and holds
// nothing private; fit learns from the plan's Set.
func NewRun[M any](p *Plan, statement string, fit func(context.Context, noise.Bits) (M, error)) *Run[M] {
	return &Run[M]{plan: p, asked: p.options, statement: statement, fit: fit}
}

// Events are what the run reveals.
func (r *Run[M]) Events() []privacy.Event { return r.plan.Events() }

// Train charges the plan to its budget, and makes the run.
func (r *Run[M]) Train(ctx context.Context, bits noise.Bits) (M, error) {
	m, err := r.train(ctx, bits)
	if err != nil {
		return m, fmt.Errorf("%s: %w", r.statement, err)
	}
	return m, nil
}

func (r *Run[M]) train(ctx context.Context, bits noise.Bits) (none M, err error) {
	whole, err := r.Charge(ctx)
	if err != nil {
		return none, err
	}
	release := budget.Release{Statement: r.statement, Events: []privacy.Event{whole}, Delta: r.Delta()}
	return budget.Spend(ctx, r.plan.budget, release, func() (M, error) { return r.fit(ctx, bits) })
}

// Fit makes the run over a set that the plan was not made with, but with one of its
// form. It charges nothing: the caller has charged Events, for the relation of the
// plan's budget, before it read the set.
func (r *Run[M]) Fit(ctx context.Context, bits noise.Bits, set *example.Set) (M, error) {
	var none M
	if err := r.plan.take(set); err != nil {
		return none, err
	}
	return r.fit(ctx, bits)
}

// take puts a set in the place of the plan's. It refuses one of another form, on which
// the plan says nothing: whether there are units is what noise depends on.
func (p *Plan) take(set *example.Set) error {
	if set == nil {
		return fmt.Errorf("%w: there are no examples", ErrParameter)
	}
	have := p.set
	if set.Width != have.Width || set.Classes != have.Classes || set.Outputs != have.Outputs || (set.Units == nil) != (have.Units == nil) {
		return fmt.Errorf("%w: the examples are not of the form that was planned for", ErrParameter)
	}
	if err := set.Validate(); err != nil {
		return err
	}
	*have = *set
	return nil
}

// Event is the run as one plan of package accountant, for the relation of the plan's
// budget, whose sensitivities Events have already.
func (r *Run[M]) Event() privacy.Event { return r.plan.event() }

func (p *Plan) event() privacy.Event {
	var e privacy.Event = privacy.Sum{Events: p.events}
	if len(p.events) == 1 {
		e = p.events[0]
	}
	if n := p.budget.Neighbours(); n != privacy.AddRemove {
		return privacy.Under{Neighbours: n, Event: e}
	}
	return e
}
