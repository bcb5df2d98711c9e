package accountant

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Guarantee returns a fixed plan as one event that is the plan's certified
// guarantee in the terms of filter f: what a ledger charges for the whole plan.
//
// A plan that is fixed before its first release is one mechanism, and a filter asks of
// an event only that its guarantee holds given the answers before; so any accountant
// may show that guarantee, and it must hold for the plan as a whole. It says nothing of
// a plan that is changed on the way.
//
// Delta is what the plan may add to δ; with measures that add up something else it is
// used only where the plan has no guarantee of their kind, or none for groups of units.
// All numbers are rounded up.
//
// What is charged never depends on the clock: Options.Work alone decides which accountants
// answer, and a ctx that ends is an error.
func Guarantee(ctx context.Context, plan privacy.Event, f filter.Filter, delta privacy.Delta, o Options) (privacy.Event, error) {
	if n := f.Neighbours(); n != o.Neighbours {
		return nil, fmt.Errorf("guarantee: it is wanted for %v, and the filter is for %v", o.Neighbours, n)
	}
	meter := work.New(ctx)
	plans, err := flattenGroups(meter, plan, o)
	if err != nil && !errors.Is(err, errGroup) {
		return nil, fmt.Errorf("guarantee: %w", err)
	}
	var e privacy.Event
	if err == nil {
		err = meter.Do(o.work(), func() (err error) { e, err = native(plans, f); return err })
	}
	if err != nil && f.Measure() != filter.Pure && delta.Sign() > 0 {
		direct := err
		if e, err = asPoint(ctx, plan, delta, o); err != nil {
			err = errors.Join(direct, err)
		}
	}
	if err == nil {
		e, err = privacy.New(e)
	}
	if err != nil {
		return nil, fmt.Errorf("guarantee of measure %s: %w", f.Measure(), err)
	}
	return e, nil
}

// native is the guarantee in the measure's own terms: the worst of the flat plans.
func native(plans []*flat, f filter.Filter) (privacy.Event, error) {
	switch f.Measure() {
	case filter.Pure:
		eps, _, err := most(plans, func(p *flat) (*big.Rat, *big.Rat, error) {
			eps, delta, err := p.pointSum()
			if err == nil && delta.Sign() > 0 {
				err = errors.New("the plan has a δ")
			}
			return eps, delta, err
		})
		if err != nil {
			return nil, err
		}
		e, err := privacy.NewEpsilon(eps)
		return privacy.Pure{Epsilon: e}, err
	case filter.Approx, filter.Whitehouse:
		return nil, errors.New("the plan needs a delta, as the (ε, δ) that it enters as")
	case filter.ZCDP:
		rho, mass, err := most(plans, (*flat).concentrated)
		if err != nil {
			return nil, err
		}
		r, err := privacy.NewRho(rho)
		if err != nil {
			return nil, err
		}
		if rho.Sign() == 0 { // the mass is all that is revealed
			delta, err := privacy.NewDelta(mass)
			return privacy.Approx{Delta: delta}, err
		}
		return withMass(privacy.ZCDP{Rho: r}, mass)
	case filter.GDP:
		mu2, _, err := most(plans, func(p *flat) (*big.Rat, *big.Rat, error) {
			sum, err := p.muSquaredSum()
			return sum, new(big.Rat), err
		})
		if err != nil {
			return nil, err
		}
		mu, exact := numeric.ExactSqrt(mu2)
		if !exact {
			mu = numeric.CeilDigits(numeric.Of(mu2).Sqrt().Hi(), 30)
		}
		return privacy.GDP{Mu: mu}, nil
	case filter.RDP:
		order, ok := filter.Order(f)
		if !ok {
			return nil, errors.New("the filter has no order")
		}
		// The order's divergence is no less at the next float64.
		at := upFloat(order)
		r, _, err := most(plans, func(p *flat) (*big.Rat, *big.Rat, error) {
			rs, err := p.divergences([]float64{at})
			if err != nil {
				return nil, nil, err
			}
			r := new(big.Rat).SetFloat64(rs[0]) // nil if not finite
			if r == nil {
				return nil, nil, fmt.Errorf("no divergence of order %v is known", at)
			}
			return r, new(big.Rat), nil
		})
		if err != nil {
			return nil, err
		}
		return privacy.RDP{Orders: []*big.Rat{order}, Eps: []*big.Rat{numeric.CeilDigits(r, 30)}}, nil
	}
	return nil, errors.New("no ledger uses it")
}

// asPoint is the plan as an (ε, δ)-DP event by its best accountant; as ε-DP where that
// saves the δ for at most a hundredth more of ε.
func asPoint(ctx context.Context, plan privacy.Event, delta privacy.Delta, o Options) (privacy.Event, error) {
	// δ is rounded down to a float64, and the point is stated at that δ.
	d := down(delta.Float64())
	report, err := Epsilon(ctx, plan, d, o)
	if ended := ctx.Err(); ended != nil {
		return nil, ended // the deadline may have stopped an accountant
	}
	if err != nil {
		return nil, err
	}
	best, ok := report.Best()
	if !ok {
		return nil, errors.New("no finite ε is known at this δ")
	}
	high := best.Epsilon.High
	if none, err := Epsilon(ctx, plan, 0, Options{Neighbours: o.Neighbours, Group: o.Group, Accountant: Basic, Work: o.Work}); err == nil {
		if b, ok := none.Best(); ok && b.Epsilon.High <= 1.01*high {
			high, delta = b.Epsilon.High, privacy.Delta{}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// At least 1e-299: epsilon is positive, also where δ alone suffices.
	least := new(big.Rat).SetFloat64(max(up(high), 1e-299))
	if least == nil {
		return nil, errors.New("no finite ε is known at this δ")
	}
	eps, err := privacy.NewEpsilon(numeric.CeilDigits(least, 17))
	if err != nil {
		return nil, err
	}
	if delta.Sign() == 0 {
		return privacy.Pure{Epsilon: eps}, nil
	}
	return privacy.Approx{Epsilon: eps, Delta: delta}, nil
}

// withMass adds a δ on which e promises nothing.
func withMass(e privacy.Event, mass *big.Rat) (privacy.Event, error) {
	if mass.Sign() == 0 {
		return e, nil
	}
	delta, err := privacy.NewDelta(mass)
	if err != nil {
		return nil, err
	}
	return privacy.Sum{Events: []privacy.Event{e, privacy.Approx{Delta: delta}}}, nil
}

// most returns the greatest of both numbers over the flat plans.
func most(plans []*flat, of func(*flat) (a, b *big.Rat, err error)) (a, b *big.Rat, err error) {
	a, b = new(big.Rat), new(big.Rat)
	for _, p := range plans {
		x, y, err := of(p)
		if err != nil {
			return nil, nil, err
		}
		if x.Cmp(a) > 0 {
			a = x
		}
		if y.Cmp(b) > 0 {
			b = y
		}
	}
	return a, b, nil
}
