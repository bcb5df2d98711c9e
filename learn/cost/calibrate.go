package cost

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// tolerance is how much of what a run may cost is left unused at most, where noise can be
// chosen finely enough.
const tolerance = 1e-4

// Calibrate returns the run of the least noise that costs no more than o says: what is
// searched for is what Run.Charge charges. Plan returns a learner's run for a guarantee;
// point says that what it has with a delta is an (ε, δ) and no zCDP.
//
// With a delta the noise is scaled until all events together, by the best accountant, cost
// what o.Within admits. Where a measure knows nothing of Gaussian noise on integers, as GDP,
// or of a learner's (ε, δ), the noise is that of a pure guarantee. A guarantee without a
// delta, and a rho, are taken as they are.
func Calibrate[M any](b budget.Budget, o Options, point bool, plan func(Options) (*Run[M], error)) (*Run[M], error) {
	if b == nil || o.Rho.Sign() > 0 || o.Epsilon.Sign() <= 0 || o.Delta.Sign() <= 0 {
		return plan(o)
	}
	within := o.Within
	if within == nil {
		var err error
		if within, err = o.allowance(b.Filter()); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameter, err)
		}
	}
	s := search[M]{within: within, options: o, plan: plan}
	switch m := within.Measure(); {
	case point && !ownTerms(within):
	case point || m == filter.GDP || m == filter.Pure:
		s.options.Delta = privacy.Delta{}
	default:
		rho, err := filter.ZCDPRho(o.Epsilon, o.Delta)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameter, err)
		}
		s.options.Rho, s.options.Epsilon = rho, privacy.Epsilon{}
	}
	r, err := s.run()
	if err != nil {
		return nil, err
	}
	r.asked = o
	return r, nil
}

// ownTerms reports measures that add up something else than the epsilons of events.
func ownTerms(f filter.Filter) bool {
	m := f.Measure()
	return m == filter.ZCDP || m == filter.RDP || m == filter.GDP
}

// allowance is the filter that an epsilon with a delta amounts to where a measure pays.
func (o Options) allowance(pays filter.Filter) (filter.Filter, error) {
	b := filter.Budget{Measure: filter.Approx, Epsilon: o.Epsilon, Delta: o.Delta, Neighbours: pays.Neighbours()}
	if ownTerms(pays) {
		b.Measure = pays.Measure()
	}
	return filter.New(b)
}

// A search is for the run of the least noise that a filter's budget admits.
type search[M any] struct {
	within  filter.Filter
	options Options // of the first try
	plan    func(Options) (*Run[M], error)
}

// A try is a run with noise at 1/scale of the first one's, and the share of the budget
// that it uses.
type try[M any] struct {
	scale, share float64
	run          *Run[M]
}

// run finds the scale by chords. The share is convex in it for Gaussian noise, or nearly
// so: a chord's point then is within the budget.
func (s *search[M]) run() (*Run[M], error) {
	least, most := try[M]{}, try[M]{scale: math.Inf(1)}
	scale := 1.0
	for i := range 24 {
		t, err := s.at(scale)
		switch {
		case err != nil && i == 0:
			return nil, err
		case err != nil:
			most = try[M]{scale: scale, share: math.Inf(1)}
		case t.share <= 1:
			least = t
		default:
			most = t
		}
		if least.share >= 1-tolerance || least.scale >= most.scale*(1-tolerance/4) {
			break
		}
		switch {
		case math.IsInf(most.scale, 1):
			scale = least.scale * min(4, math.Pow(least.share, -0.9))
		case i%3 == 2 || math.IsInf(most.share, 1):
			scale = (least.scale + most.scale) / 2
		default:
			scale = least.scale + (most.scale-least.scale)*(1-tolerance/2-least.share)/(most.share-least.share)
		}
		if !(scale > least.scale && scale < most.scale) {
			break
		}
	}
	if least.run == nil {
		return nil, fmt.Errorf("%w: so little buys nothing", ErrParameter)
	}
	return least.run, nil
}

// at plans the run at a scale.
func (s *search[M]) at(scale float64) (t try[M], err error) {
	o := s.options
	if scale != 1 {
		by := new(big.Rat).SetFloat64(scale)
		if by == nil {
			return t, errors.New("a scale that is no number")
		}
		if o.Rho.Sign() > 0 {
			o.Rho, err = privacy.NewRho(numeric.FloorDigits(by.Mul(by, by).Mul(by, o.Rho.Rat()), 6))
		} else {
			o.Epsilon, err = privacy.NewEpsilon(numeric.FloorDigits(by.Mul(by, o.Epsilon.Rat()), 6))
		}
		if err != nil {
			return t, err
		}
	}
	r, err := s.plan(o)
	if err != nil {
		return t, err
	}
	e, err := charge(context.Background(), r.plan, s.within, o.Delta)
	if err != nil {
		return t, err
	}
	total, err := s.within.Charge([]privacy.Event{e}, o.Delta)
	if err != nil {
		return t, err
	}
	all := s.within.Budget()
	share, _ := new(big.Rat).Quo(total.Loss.Rat(), all.Loss.Rat()).Float64()
	if !total.Within(all) {
		share = max(share, math.Nextafter(1, 2))
	}
	return try[M]{scale, share, r}, nil
}

// charge is a plan as the one event that a filter is charged for it.
//
// A plan that is fixed before it looks at an example is one mechanism, and enters a filter by
// what is certified of it (accountant.Guarantee): in the terms of the filter, or as an
// (ε, δ), by the best accountant of all events together or, if that is better, by the
// conversion of their sum of package filter.
func charge(ctx context.Context, p *Plan, f filter.Filter, delta privacy.Delta) (privacy.Event, error) {
	o := accountant.Options{Neighbours: f.Neighbours()}
	if ownTerms(f) || f.Measure() == filter.Pure {
		return accountant.Guarantee(ctx, p.event(), f, privacy.Delta{}, o)
	}
	half, err := privacy.NewEpsilon(big.NewRat(1, 2))
	if err != nil {
		return nil, err
	}
	d, err := privacy.NewDelta(big.NewRat(1, 2))
	if err != nil {
		return nil, err
	}
	// The charge of the approx filter does not depend on its budget.
	sum, err := filter.New(filter.Budget{Measure: filter.Approx, Epsilon: half, Delta: d, Neighbours: f.Neighbours()})
	if err != nil {
		return nil, err
	}
	var best privacy.Event
	total, direct := sum.Charge(p.events, delta)
	if a := sum.Amounts(total); direct == nil && a.Epsilon.Sign() > 0 && a.Delta.Cmp(delta) <= 0 {
		if best = (privacy.Approx{Epsilon: a.Epsilon, Delta: a.Delta}); a.Delta.Sign() == 0 {
			best = privacy.Pure{Epsilon: a.Epsilon}
		}
	}
	if delta.Sign() == 0 {
		if best == nil {
			return nil, errors.Join(errors.New("the plan has no epsilon without a delta"), direct)
		}
		return best, nil
	}
	e, err := accountant.Guarantee(ctx, p.event(), f, delta, o)
	switch {
	case best == nil:
		return e, err
	case err == nil && epsilonOf(e).Cmp(epsilonOf(best)) < 0:
		return e, nil
	}
	return best, nil
}

// epsilonOf an event that has one, with a delta or without.
func epsilonOf(e privacy.Event) privacy.Epsilon {
	switch e := e.(type) {
	case privacy.Pure:
		return e.Epsilon
	case privacy.Approx:
		return e.Epsilon
	}
	return privacy.Epsilon{}
}

// Charge returns the event that the budget is charged for the whole run: its guarantee in
// the budget's measure. It charges nothing. A run that Calibrate left a little below the
// epsilon that was asked for is charged that.
func (r *Run[M]) Charge(ctx context.Context) (privacy.Event, error) {
	e, err := charge(ctx, r.plan, r.plan.budget.Filter(), r.Delta())
	if err != nil {
		return nil, fmt.Errorf("charge for the run: %w", err)
	}
	a, ok := e.(privacy.Approx)
	if !ok || r.asked.Epsilon.Sign() == 0 || !a.Delta.Equal(r.asked.Delta) || a.Epsilon.Cmp(r.asked.Epsilon) > 0 {
		return e, nil
	}
	if nearly := new(big.Rat).Mul(r.asked.Epsilon.Rat(), big.NewRat(999, 1000)); a.Epsilon.Rat().Cmp(nearly) >= 0 {
		a.Epsilon = r.asked.Epsilon
	}
	return a, nil
}

// Delta is the one at which the run has an epsilon.
func (r *Run[M]) Delta() privacy.Delta {
	if r.asked.Delta.Sign() > 0 {
		return r.asked.Delta
	}
	return r.plan.options.Delta
}
