package dataset

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// QuantileOptions are those of the order statistics: Epsilon alone says what they
// cost.
type QuantileOptions struct {
	Options
	// Lower, Lower+Step, ... up to Upper are the numbers that may be chosen. Required.
	Lower, Upper, Step float64
}

// NoisyMedian is a number that about half of f over the records lies below, and half
// above; see NoisyQuantiles.
func NoisyMedian[T any](ctx context.Context, bits noise.Bits, d Dataset[T], f func(T) float64, o QuantileOptions) (Answer[float64], error) {
	r, all, err := quantiles(bits, d, f, []float64{0.5}, o, "NoisyMedian")
	if err != nil {
		return Answer[float64]{}, err
	}
	return spend(ctx, r, func() (a Answer[float64], err error) {
		values, err := all()
		if err == nil {
			a.Value = values[0]
		}
		return a, err
	})
}

// NoisyQuantiles are numbers that about a share q of f over the records lies below, for
// each q of a list that ascends between 0 and 1, chosen by the exponential mechanism
// (see mechanism.Quantile). Records on which f panics or is not a number are left out.
//
// One record moves each rank by 1 at most, and so a unit each by the stability.
func NoisyQuantiles[T any](ctx context.Context, bits noise.Bits, d Dataset[T], f func(T) float64, qs []float64, o QuantileOptions) (Answer[[]float64], error) {
	r, all, err := quantiles(bits, d, f, qs, o, "NoisyQuantiles")
	if err != nil {
		return Answer[[]float64]{}, err
	}
	return spend(ctx, r, func() (a Answer[[]float64], err error) {
		a.Value, err = all()
		return a, err
	})
}

func quantiles[T any](bits noise.Bits, d Dataset[T], f func(T) float64, qs []float64, o QuantileOptions, name string) (*release, func() ([]float64, error), error) {
	r, err := newChoice(bits, d.source, o.Options, name)
	if err != nil {
		return nil, nil, err
	}
	mo := mechanism.QuantileOptions{}
	for _, x := range []struct {
		into *(*big.Rat)
		from float64
	}{{&mo.Lower, o.Lower}, {&mo.Upper, o.Upper}, {&mo.Step, o.Step}} {
		if *x.into, err = numeric.FromFloat(x.from); err != nil {
			return nil, nil, fmt.Errorf("%w: %s: %w", ErrParameter, name, err)
		}
	}
	for _, q := range qs {
		x, err := numeric.FromFloat(q)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %s: %w", ErrParameter, name, err)
		}
		mo.Quantiles = append(mo.Quantiles, x)
	}
	var chosen *mechanism.Quantile
	for i, distance := range r.distances {
		// The same probabilities, said of a smaller distance.
		mo.MaxRows, mo.Epsilon = distance, r.epsilonAt(distance)
		m, err := mechanism.NewQuantile(mo)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %s: %w", ErrParameter, name, err)
		}
		// The stability counts records added or removed, whatever the relation.
		e, err := privacy.Released(m.Event(), mo.Neighbours)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if r.events[i] = []privacy.Event{e}; distance == r.furthest {
			chosen = m
		}
	}
	return r, func() ([]float64, error) {
		records := d.records()
		values := make([]float64, 0, len(records))
		each(len(records), func(i int) { values = append(values, f(records[i])) }, nil)
		return chosen.Choose(bits, values)
	}, nil
}

// newChoice is newRelease for choices, whose cost is an epsilon.
func newChoice(bits noise.Bits, s source, o Options, name string) (*release, error) {
	r, err := newRelease(bits, s, o, name)
	if err == nil && r.gaussian() {
		return nil, refuse("%s takes epsilon alone", name)
	}
	return r, err
}

// epsilonAt returns what a choice costs between neighbours at a distance.
func (r *release) epsilonAt(distance int64) privacy.Epsilon {
	return r.options.Epsilon.MulRat(big.NewRat(distance, r.furthest))
}
