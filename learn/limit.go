package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/internal/gaussian"
	"github.com/discreet-dp/discreet/privacy"
)

// limitShare is how much of delta the fast sampler may add to it.
const limitShare = 0.1

// ErrLimit is returned for a plan for which the fast sampler is too coarse: its error adds more
// than a tenth of delta, or more than the budget ever had for it.
var ErrLimit = errors.New("the fast sampler is too coarse")

// A Limit bounds how far the run's noise may be from the law that its guarantee assumes.
type Limit struct {
	Sampler Sampler `json:"sampler"`
	// Distance bounds the total variation of all draws from ideal ones, if AES-256 is a
	// pseudorandom function; Delta is the delta that this adds, and was charged.
	Distance float64 `json:"distance"`
	Delta    float64 `json:"delta"`
	// Rounding is what floating point may add to what a unit moves, in terms of the
	// clip. It is in the guarantee already: the noise is larger by as much.
	Rounding float64 `json:"rounding"`
}

// Limit returns the limits of the run's arithmetic.
func (r *Run) Limit() Limit {
	l := Limit{Sampler: r.options.Plan.Noise.Sampler, Rounding: r.trainer.allowance.part, Delta: r.slip.Float64()}
	if l.Sampler != Exact {
		l.Sampler, l.Distance = Fast, gaussian.Distance(r.draws)
	}
	return l
}

// charges are what the plan from a step on reveals, in the terms of the budget, and what
// the fast sampler adds to its delta.
func (r *Run) charges(from int) ([]privacy.Event, error) {
	p, f := r.options.Plan, r.options.Budget.Filter()
	whole, err := p.charge(context.Background(), f, from, "")
	if err != nil {
		return nil, err
	}
	events := []privacy.Event{whole}
	if r.slip = (privacy.Delta{}); p.Noise.Sampler == Exact {
		return events, nil
	}
	epsilon, err := converted(whole, f)
	if err != nil {
		return nil, err
	}
	slip, err := slipOf(epsilon.Float64(), gaussian.Distance(r.draws))
	if err != nil {
		return nil, err
	}
	if most := limitShare * p.Delta.Float64(); !(slip.Float64() <= most) {
		return nil, fmt.Errorf("%w: it may add %.2g to a delta of %v; the exact sampler adds nothing", ErrLimit, slip.Float64(), p.Delta)
	}
	if slip.Sign() > 0 {
		events = append(events, privacy.Approx{Delta: slip})
	}
	asked, err := f.Charge(events, p.Delta)
	if err != nil {
		return nil, err
	}
	if asked.Delta.Cmp(f.Budget().Delta) > 0 {
		return nil, fmt.Errorf("%w: budget %q has no delta for the %.2g that it may add; the exact sampler adds nothing", ErrLimit, r.options.Budget.Name(), slip.Float64())
	}
	r.slip = slip
	return events, nil
}

// promise is the guarantee of the run: that of the plan for ideal noise, and what fast
// noise adds to its delta at that epsilon, or more if more was charged.
func (r *Run) promise() (Guarantee, error) {
	p := r.options.Plan
	g, err := p.Guarantee()
	if err != nil || p.Noise.Sampler == Exact {
		return g, err
	}
	slip, err := slipOf(g.Epsilon, gaussian.Distance(r.draws))
	if err != nil {
		return Guarantee{}, err
	}
	if r.slip.Cmp(slip) > 0 {
		slip = r.slip
	}
	if slip.Sign() == 0 {
		return g, nil
	}
	g.Delta = g.Delta.Add(slip)
	// The whole transcripts are that far apart, for neighbours and groups alike. No event states
	// that for groups.
	if g.Group <= 1 {
		e, err := p.Released()
		if err != nil {
			return Guarantee{}, err
		}
		g.Event = joined(e, privacy.Approx{Delta: slip}).String()
	}
	return g, nil
}

// joined is an event beside another.
func joined(a, b privacy.Event) privacy.Event {
	var all []privacy.Event
	for _, e := range []privacy.Event{a, b} {
		if s, ok := e.(privacy.Sum); ok {
			all = append(all, s.Events...)
		} else {
			all = append(all, e)
		}
	}
	return privacy.Sum{Events: all}
}

// converted is the epsilon at which what fast noise adds to delta is charged; see slipOf.
func converted(charged privacy.Event, f filter.Filter) (privacy.Epsilon, error) {
	switch e := charged.(type) {
	case privacy.Pure:
		return e.Epsilon, nil
	case privacy.Approx:
		return e.Epsilon, nil
	}
	whole, err := f.Implies(f.Budget())
	return whole.Epsilon, err
}

// slipOf is the delta, at an epsilon, of noise whose total variation from an event's ideal noise is
// at most distance.
//
// Theorem. Let P and Q be the ideal laws between neighbours, with P(S) <= e^ε·Q(S) + δ, and
// P' and Q' at total variation D of them. Then P'(S) <= P(S) + D <= e^ε·(Q'(S) + D) + δ + D,
// so that (1+e^ε)·D is added to δ. Which ε depends on where the budget converts:
//
//   - An (ε, δ) is charged for the event: the theorem is about the event alone, with its ε.
//   - A ρ, μ² or divergence is charged, which the budget converts once, for all releases.
//     The distances of whole transcripts add up (a coupling of the draws of each release,
//     given all before), and the theorem is about these, with the budget's ε. That is
//     larger: with the run's own, of 10^8 draws under a budget of ε = 8, 1.9e-5 would be
//     taken for less than a tenth of 1e-5.
//   - A certificate is about all that is released of the run, with the ε that it states.
//
// Σ(1+e^ε)·D is among the deltas of events, which the filter keeps within its own.
func slipOf(epsilon, distance float64) (privacy.Delta, error) {
	if distance == 0 {
		return privacy.Delta{}, nil
	}
	// Rounded up by more than the operations can have lost.
	slip := (1 + math.Exp(epsilon*(1+1e-12))) * distance * (1 + 1e-9)
	if !(slip < 1) {
		return privacy.Delta{}, fmt.Errorf("%w: at epsilon %v its distance of %.2g from the law is no delta below 1; the exact sampler has none", ErrLimit, epsilon, distance)
	}
	return privacy.NewDelta(numeric.CeilDigits(new(big.Rat).SetFloat64(slip), 4))
}
