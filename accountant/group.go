package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

var errGroup = errors.New("no rule for groups of units")

// A group is how neighbours differ: in units units, of which one of them has with that
// the other has not, and lacks without. (Replaced units are both.)
type group struct{ units, with, without int64 }

// flattenGroups returns the flat plans that plan may amount to for neighbours that differ in
// o.Group units. An error that wraps errGroup says that some event has no rule for groups.
func flattenGroups(meter *work.Meter, plan privacy.Event, o Options) ([]*flat, error) {
	if o.Group <= 1 {
		return flatten(meter, plan, o)
	}
	if plan == nil {
		return nil, errors.New("the plan is missing")
	}
	if err := privacy.Holds(plan, o.Neighbours); err != nil {
		return nil, err
	}
	plan = planned(plan, o.Neighbours)
	n := int64(o.Group)
	groups := []group{{n, n, n}}
	if o.Neighbours == privacy.ReplaceSpecial && responds(plan) {
		// Some units may be added while others are removed: no single pair is known to be worst.
		return nil, fmt.Errorf("randomized responses of a group under %v: %w", o.Neighbours, errGroup)
	}
	if o.Neighbours != privacy.ReplaceOne {
		// With both directions, these are all ways in which units may come and go.
		groups = nil
		for without := int64(0); 2*without <= n && (without == 0 || samples(plan)); without++ {
			groups = append(groups, group{n, n - without, without})
		}
	}
	var plans []*flat
	for _, g := range groups {
		e, err := grouped(plan, g)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errGroup, err)
		}
		more, err := flattenHeld(meter, e, o)
		if err != nil {
			return nil, err
		}
		plans = append(plans, more...)
	}
	return plans, nil
}

// samples reports whether there is a Poisson sample in a sum.
func samples(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.Poisson:
		return true
	case privacy.Repeat:
		return samples(e.Event)
	case privacy.Sum:
		return slices.ContainsFunc(e.Events, samples)
	}
	return false
}

// responds reports whether there is a randomized response in e.
func responds(e privacy.Event) (found bool) {
	privacy.Map(e, func(e privacy.Event) privacy.Event {
		_, response := e.(privacy.RandomizedResponse)
		found = found || response
		return e
	})
	return found
}

// grouped returns e as it is for neighbours that differ in g units, for events whose
// distance grows in a known way; errGroup for others. With databases in between, each a
// neighbour of the next:
//
//   - additive noise: the distance is at most g times the sensitivity;
//   - ε-DP, and ranges of ε, become gε (Dwork and Roth 2014, Theorem 2.2);
//   - (ε, δ)-DP becomes (gε, δ(e^gε-1)/(e^ε-1)) (Vadhan 2017, Lemma 2.2);
//   - ρ-zCDP becomes g²ρ (Bun and Steinke 2016, Proposition 1.9), μ-GDP gμ (Dong, Roth
//     and Su 2022, Theorem 2.14);
//   - Rényi divergence ε(α), for α >= 2^(c+1), becomes 3^c ε(α) at order α/2^c for 2^c >= g
//     (Mironov 2017, Proposition 2);
//   - randomized response answers for each of g units by itself;
//   - Gaussian noise on a Poisson sample becomes a mixture (see groupSample).
func grouped(e privacy.Event, g group) (privacy.Event, error) {
	times := big.NewRat(g.units, 1)
	by := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, times) }
	bySquare := func(r *big.Rat) *big.Rat { return by(by(r)) }
	switch e := e.(type) {
	case privacy.Laplace, privacy.DiscreteLaplace, privacy.Gaussian, privacy.DiscreteGaussian, privacy.Skellam, privacy.Tree:
		return privacy.AtDistance(e, times), nil
	case privacy.GDP:
		return privacy.GDP{Mu: by(e.Mu)}, nil
	case privacy.ZCDP:
		return privacy.ZCDP{Rho: e.Rho.MulRat(bySquare(big.NewRat(1, 1)))}, nil
	case privacy.Pure:
		return groupPoint{privacy.Pure{Epsilon: e.Epsilon.MulRat(times)}}, nil
	case privacy.Exponential:
		return privacy.Exponential{Epsilon: e.Epsilon.MulRat(times)}, nil
	case privacy.PermuteAndFlip: // g units move the scores g times as far
		return privacy.PermuteAndFlip{Epsilon: e.Epsilon.MulRat(times)}, nil
	case privacy.NoisyMax:
		return privacy.NoisyMax{Epsilon: e.Epsilon.MulRat(times)}, nil
	case privacy.SparseVector:
		return privacy.SparseVector{Epsilon: e.Epsilon.MulRat(times)}, nil
	case privacy.Approx:
		return groupedPoint(e.Epsilon, e.Delta, g.units)
	case privacy.Selection:
		return groupedPoint(e.Epsilon, e.Delta, g.units)
	case privacy.RandomizedResponse:
		return privacy.Repeat{Count: int(g.units), Event: e}, nil
	case privacy.Poisson:
		return sampledGroup(e, g)
	case privacy.RDP:
		return groupedRDP(e, g.units)
	case privacy.Repeat:
		inner, err := grouped(e.Event, g)
		return privacy.Repeat{Count: e.Count, Event: inner}, err
	case privacy.Sum:
		out := make([]privacy.Event, len(e.Events))
		for i, t := range e.Events {
			var err error
			if out[i], err = grouped(t, g); err != nil {
				return nil, err
			}
		}
		return privacy.Sum{Events: out}, nil
	}
	return nil, fmt.Errorf("%v: %w", e, errGroup)
}

// A groupPoint is the guarantee that an (ε, δ) gives groups. Two units apart, no ε-DP event
// is randomized response of 2ε, which has no law between its two that is ε from both: so
// nothing is known from below.
type groupPoint struct{ privacy.Event }

func groupedPoint(eps privacy.Epsilon, delta privacy.Delta, g int64) (privacy.Event, error) {
	times := big.NewRat(g, 1)
	factor := times // what (e^gε-1)/(e^ε-1) is at ε = 0
	if eps.Sign() > 0 {
		if eps.MulRat(times).Rat().Cmp(big.NewRat(1000, 1)) > 0 {
			return nil, fmt.Errorf("groups of %d units of ε = %v: %w", g, eps, errGroup)
		}
		// Σ_{j<g} e^(jε), at most g e^((g-1)ε), which is close where e^ε - 1 would cancel.
		one, e := numeric.OfInt(1), numeric.Of(eps.Rat())
		factor = numeric.OfInt(g).Mul(e.Mul(numeric.OfInt(g - 1)).Exp()).Hi()
		if eps.Rat().Cmp(big.NewRat(1, 1<<40)) > 0 {
			factor = e.Mul(numeric.OfInt(g)).Exp().Sub(one).Quo(e.Exp().Sub(one)).Hi()
		}
	}
	d, err := privacy.NewDelta(numeric.CeilDigits(new(big.Rat).Mul(delta.Rat(), factor), 30))
	if err != nil {
		return nil, fmt.Errorf("groups of %d units: %w", g, err)
	}
	return groupPoint{privacy.Approx{Epsilon: eps.MulRat(times), Delta: d}}, nil
}

func groupedRDP(e privacy.RDP, g int64) (privacy.Event, error) {
	c, two := uint(0), big.NewRat(1, 1) // 2^c
	for two.Cmp(big.NewRat(g, 1)) < 0 {
		c++
		two.SetInt64(1 << c)
	}
	three := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(3), big.NewInt(int64(c)), nil))
	var out privacy.RDP
	for i, order := range e.Orders {
		if order.Cmp(new(big.Rat).Mul(two, big.NewRat(2, 1))) >= 0 {
			out.Orders = append(out.Orders, new(big.Rat).Quo(order, two))
			out.Eps = append(out.Eps, new(big.Rat).Mul(e.Eps[i], three))
		}
	}
	if out.Orders == nil {
		return nil, fmt.Errorf("%v: no order is at least %v: %w", e, new(big.Rat).Mul(two, big.NewRat(2, 1)), errGroup)
	}
	return out, nil
}

// forGroups makes of a method that bounds the loss of one unit one for groups of g, by the
// whole plan's curve: δ_g(gε) <= δ(ε)(e^gε-1)/(e^ε-1) for every ε (Vadhan 2017, Lemma 2.2).
func (m method) forGroups(g float64) method {
	logFactor := func(eps float64) float64 {
		if eps == 0 {
			return math.Log(g)
		}
		return up(logExpm1(g*eps) - logExpm1(eps))
	}
	note := func(a answer) answer {
		a.note += fmt.Sprintf("; for groups of %v units by (ε, δ) group privacy (Vadhan 2017, Lemma 2.2)", g)
		return a
	}
	return method{
		name: m.name,
		delta: func(p *flat, eps float64) (answer, error) {
			a, err := m.delta(p, down(eps/g))
			if err != nil {
				return answer{}, err
			}
			scale := math.Exp(logFactor(eps / g))
			a.Low, a.Estimate, a.High = 0, math.Min(1, a.Estimate*scale), math.Min(1, up(a.High*scale))
			return note(a), nil
		},
		epsilon: func(p *flat, delta float64) (answer, error) {
			// δ at the plan's own ε, from above, until it is met; then between.
			var failed error
			var last answer
			excess := func(eps float64) float64 { // met if at most 0
				a, err := m.delta(p, eps)
				if err == nil {
					err = a.check()
				}
				failed, last = errors.Join(failed, err), a
				switch {
				case err != nil:
					return math.Inf(1)
				case a.High == 0:
					return math.Inf(-1)
				}
				return math.Log(a.High) + logFactor(eps) - math.Log(delta)
			}
			top := 1.0
			below, above := math.Inf(1), excess(top)
			for !(above <= 0) {
				below = above
				top *= 4
				if above = excess(top); failed != nil || top > 1e6 {
					last.Bracket = impossible()
					return note(last), failed
				}
			}
			// By the chord, with the weight of an end that stays halved (Illinois).
			lo, hi := 0.0, top
			for side := 0; hi-lo > 1e-9*hi && failed == nil; {
				mid := lo + (hi-lo)*below/(below-above)
				if !(mid > lo && mid < hi) {
					mid = lo + (hi-lo)/2
				}
				mid = max(mid, lo+1e-10*hi)
				switch f := excess(mid); {
				case f <= 0:
					if hi, above = mid, f; side > 0 {
						below /= 2
					}
					side = 1
				default:
					if lo, below = mid, f; side < 0 {
						above /= 2
					}
					side = -1
				}
			}
			eps := up(g * hi)
			last.Bracket = bracket(0, eps, eps)
			return note(last), failed
		},
	}
}
