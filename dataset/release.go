package dataset

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Options are those of every release. Exactly one of Epsilon, Rho, and Epsilon with
// Delta is required.
//
// They say what the release costs, not how much noise there is: stability and bounds
// go into the noise. Where several budgets pay, the one that the dataset is the
// least stable towards pays just that, and the others less in proportion.
type Options struct {
	Epsilon privacy.Epsilon // alone: Laplace noise, or the exponential mechanism
	Rho     privacy.Rho     // Gaussian noise
	// Delta with Epsilon is Gaussian noise that is (Epsilon, Delta)-DP by the optimal
	// known conversion of its rho: what a budget of measure approx is charged.
	Delta privacy.Delta
	// Confidence is that of the interval; 0.95 if it is not given. Where an answer has
	// several numbers, all intervals hold together with it.
	Confidence float64
	// Statement is what the owner's history shows; the name of the aggregation if it
	// is not given.
	Statement string
}

// An Answer is what a release reveals.
type Answer[V any] struct {
	Value V `json:"value"`
	// The value without noise, but after clamping and rounding, is in [Low, High] with
	// the Confidence asked for. Choices of a candidate have no interval.
	Low        V       `json:"low"`
	High       V       `json:"high"`
	Confidence float64 `json:"confidence"`
	Cost       []Cost  `json:"cost"`
}

// A Cost is what a budget was charged. Of a part of a partition it is what the part was
// charged; the parent pays the most of all parts.
type Cost struct {
	Budget  string         `json:"budget"`
	Measure filter.Measure `json:"measure"`
	Charge  filter.Amounts `json:"charge"`
}

// A release collects what an answer reveals, and then is paid for.
type release struct {
	options   Options
	name      string
	stakes    stakes
	distances []int64 // of each stake; see together
	furthest  int64
	rho       privacy.Rho
	beta      *big.Rat // that some number lies outside of its interval
	events    [][]privacy.Event
}

// newRelease checks all that can be wrong, before anything is charged.
func newRelease(bits noise.Bits, s source, o Options, name string) (*release, error) {
	if s = s.usable(); s.err != nil {
		return nil, s.err
	}
	if bits == nil {
		return nil, refuse("the source of randomness is missing")
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return nil, refuse("confidence %v does not lie between 0 and 1", o.Confidence)
	}
	confidence, err := numeric.FromFloat(o.Confidence)
	if err != nil {
		return nil, fmt.Errorf("%w: confidence: %w", ErrParameter, err)
	}
	r := &release{
		options: o, name: name, stakes: s.stakes,
		rho: o.Rho, beta: confidence.Sub(big.NewRat(1, 1), confidence),
		events: make([][]privacy.Event, len(s.stakes)),
	}
	if r.distances, err = s.stakes.together(); err != nil {
		return nil, err
	}
	if r.options.Statement == "" {
		r.options.Statement = name
	}
	switch hasEpsilon, hasDelta, hasRho := o.Epsilon.Sign() > 0, o.Delta.Sign() > 0, o.Rho.Sign() > 0; {
	case hasEpsilon == hasRho || hasDelta && !hasEpsilon:
		return nil, refuse("%s takes epsilon, rho, or epsilon with delta", name)
	case hasDelta:
		if r.rho, err = filter.ZCDPRho(o.Epsilon, o.Delta); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameter, err)
		}
	}
	for i, t := range r.stakes {
		r.furthest = max(r.furthest, r.distances[i])
		if t.divided == 1 {
			continue
		}
		m := t.budget.Filter().Measure()
		if converts := m == filter.Approx || m == filter.Whitehouse; m == filter.GDP || converts && r.gaussian() {
			return nil, refuse("budget %q: a unit may be in %d parts, over which no theorem for measure %s adds up this noise: take pure epsilon (not with gdp), or a budget in zcdp",
				t.budget.Name(), t.divided, m)
		}
	}
	return r, nil
}

func (r *release) gaussian() bool { return r.rho.Sign() > 0 }

// additive returns noise for numbers that one record changes by at most perRecord, in
// L1 and in L2, at the cost of one of so many shares.
func (r *release) additive(perRecord *big.Int, shares int64) (mechanism.Additive, error) {
	at := func(distance int64) *big.Rat {
		d := new(big.Int).Mul(perRecord, big.NewInt(distance))
		return new(big.Rat).SetInt(d)
	}
	share := big.NewRat(1, shares)
	most := at(r.furthest)
	if r.gaussian() {
		m, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: most.Mul(most, most), Rho: r.rho.MulRat(share)})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrParameter, err)
		}
		for i, d := range r.distances {
			e := m.Event().(privacy.DiscreteGaussian)
			e.SensitivitySquared = at(d)
			e.SensitivitySquared.Mul(e.SensitivitySquared, e.SensitivitySquared)
			r.events[i] = append(r.events[i], e)
		}
		return m, nil
	}
	m, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: most, Epsilon: r.options.Epsilon.MulRat(share)})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	for i, d := range r.distances {
		e := m.Event().(privacy.DiscreteLaplace)
		e.Sensitivity = at(d)
		r.events[i] = append(r.events[i], e)
	}
	return m, nil
}

// spend charges the budgets and returns the answer with its cost.
func spend[V any](ctx context.Context, r *release, answer func() (Answer[V], error)) (Answer[V], error) {
	charges := make([]budget.Charge, len(r.stakes))
	costs := make([]Cost, len(r.stakes))
	for i, t := range r.stakes {
		f := t.budget.Filter()
		total, err := f.Charge(r.events[i], r.options.Delta)
		if err != nil {
			return Answer[V]{}, fmt.Errorf("%s: budget %q: %w", r.name, t.budget.Name(), err)
		}
		costs[i] = Cost{t.budget.Name(), f.Measure(), f.Amounts(total)}
		charges[i] = budget.Charge{Budget: t.budget, Release: budget.Release{
			Statement: r.options.Statement, Events: r.events[i], Delta: r.options.Delta,
		}}
	}
	a, err := budget.SpendAll(ctx, charges, func() (Answer[V], error) {
		a, err := answer()
		a.Confidence, a.Cost = r.options.Confidence, costs
		return a, err
	})
	if err != nil {
		return Answer[V]{}, fmt.Errorf("%s: %w", r.name, err)
	}
	return a, nil
}

// A grid is the multiples of 2^exponent: numbers are put on one before they are added,
// as integers, and noise is drawn on the same.
type grid struct{ exponent int }

// gridFor returns the grid on which a positive size has between 2^(bits-1) and 2^bits steps.
func gridFor(size float64, bits int) (grid, error) {
	_, e := math.Frexp(size)
	if !(size > 0) || math.IsInf(size, 1) || e-bits < -1000 || e > 900 {
		return grid{}, refuse("a bound of %v is beyond what sums of floats hold", size)
	}
	return grid{e - bits}, nil
}

// perUnit returns how many steps make 1. Times x it is exact, unless the product is
// below the least float64.
func (g grid) perUnit() float64 { return math.Ldexp(1, -g.exponent) }

// of returns n steps as the nearest float64 that is finite: an answer is JSON.
func (g grid) of(n *big.Int) float64 {
	f := new(big.Float).SetInt(n)
	x, _ := f.SetMantExp(f, g.exponent).Float64()
	return min(max(x, -math.MaxFloat64), math.MaxFloat64)
}

// around returns the numbers that lie q steps below and above n.
func (g grid) around(n, q *big.Int) (low, high float64) {
	return g.of(new(big.Int).Sub(n, q)), g.of(new(big.Int).Add(n, q))
}
