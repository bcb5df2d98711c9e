package learn

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// CountUnits returns a population whose size is a noisy count of a set's units, charged
// to a budget: for plans over data whose size is neither public nor declared.
//
// A unit that is added or removed moves the count by 1 or, with Grouped units, by the at
// most k examples that count; one that is replaced by as much at most. Discrete Laplace
// noise of scale k/epsilon makes the count epsilon-DP (Ghosh, Roughgarden and
// Sundararajan 2009).
func CountUnits(ctx context.Context, b budget.Budget, set *example.Set, u Units, epsilon privacy.Epsilon) (_ Population, err error) {
	defer wrap(&err, "count units")
	if b == nil || set == nil {
		return Population{}, errors.New("the budget or the set is missing")
	}
	if err := u.validate(); err != nil {
		return Population{}, err
	}
	if epsilon.Sign() <= 0 {
		return Population{}, errors.New("epsilon must be positive")
	}
	if err := set.Validate(); err != nil {
		return Population{}, err
	}
	sensitivity := big.NewRat(1, 1)
	if u.Mode == Grouped {
		sensitivity.SetInt64(int64(u.Examples))
	}
	scale := new(big.Rat).Quo(sensitivity, epsilon.Rat())
	// The event is for one example. The accounting covers groups of them.
	var counted privacy.Event = privacy.DiscreteLaplace{Scale: scale, Sensitivity: big.NewRat(1, 1)}
	if b.Neighbours() != privacy.AddRemove {
		counted = privacy.Under{Neighbours: b.Neighbours(), Event: counted}
	}
	law, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		return Population{}, err
	}
	// Counted as a plan with these Units would sample them.
	l, err := newLoader(set, Plan{Population: Population{Units: 1}, Batch: 1, Units: u}, noise.System())
	if err != nil {
		return Population{}, err
	}
	release := budget.Release{
		Statement: fmt.Sprintf("number of units, with epsilon %v", epsilon),
		Events:    []privacy.Event{privacy.DiscreteLaplace{Scale: scale, Sensitivity: sensitivity}},
	}
	return budget.Spend(ctx, b, release, func() (Population, error) {
		draw, err := law.Sample(noise.System())
		if err != nil {
			return Population{}, err
		}
		n := draw.Add(draw, big.NewInt(int64(l.units)))
		// A plan has between 1 and MaxCount units.
		if most := big.NewInt(privacy.MaxCount); n.Cmp(most) > 0 {
			n = most
		}
		if n.Sign() <= 0 {
			n = big.NewInt(1)
		}
		return Population{Units: n.Int64(), Basis: NoisyCount, Count: counted.String()}, nil
	})
}
