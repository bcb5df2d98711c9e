package mechanism

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Selection decides privately which groups may be shown, by their number of
// distinct units: a group that only one neighbour has appears with a probability
// that delta covers.
type Selection interface {
	// Select returns for each group whether it is kept. units are the exact
	// counts of distinct units; a group without any is never kept, and need not
	// be listed. On an error no group is kept.
	Select(bits noise.Bits, units []*big.Int) ([]bool, error)
	// KeepProbability is the probability with which a group of so many units is
	// kept; rounded to float64.
	KeepProbability(units *big.Int) float64
	// HalfCount is the smallest number of units at which a group is kept with
	// probability at least 1/2.
	HalfCount() *big.Int
	// Events is what the choice of groups reveals, under the relation of the options.
	Events() []privacy.Event
	// Name is "truncated_geometric", "laplace_threshold" or "gaussian_threshold".
	Name() string
	// Scale is the noise's scale or standard deviation in units; 0 if the
	// decision is not by noise.
	Scale() float64
}

// SelectionOptions say what a selection may reveal.
type SelectionOptions struct {
	// MaxGroups is the number of groups that a unit is in at most, L0. Required.
	MaxGroups int64
	// Neighbours is the relation in force; AddRemove if it is not given.
	Neighbours privacy.Neighbours
	// Epsilon or Rho is the guarantee of the selection over all groups, beside
	// Delta. Exactly one is required.
	Epsilon privacy.Epsilon
	Rho     privacy.Rho
	// Delta is the selection's over all groups. Required.
	Delta privacy.Delta
}

// maxMaxGroups bounds L0; more is a mistake.
const maxMaxGroups = 1 << 40

// changedGroups returns the number k of groups whose count of units differs
// between neighbours, each by one: L0 when a unit is added or removed. When one
// replaces another, those of the one and those of the other, 2·L0; in a group
// that both are in nothing changes.
//
// This is better than passing through the database without either unit, which
// would make (ε, δ) into (2ε, (1+e^ε)δ): the groups are decided independently, so
// that (ε/k, δ/k) for each adds up to (ε, δ).
func (o SelectionOptions) changedGroups() (*big.Rat, error) {
	if o.MaxGroups < 1 || o.MaxGroups > maxMaxGroups {
		return nil, fmt.Errorf("%w: the number of groups a unit is in is not between 1 and 2^40", ErrParameter)
	}
	switch o.Neighbours {
	case privacy.AddRemove:
		return big.NewRat(o.MaxGroups, 1), nil
	case privacy.ReplaceOne:
		return big.NewRat(2*o.MaxGroups, 1), nil
	}
	return nil, fmt.Errorf("%w: no such neighbouring relation: %v", ErrParameter, o.Neighbours)
}

// under states the relation of events.
func (o SelectionOptions) under(events ...privacy.Event) []privacy.Event {
	for i, e := range events {
		events[i] = privacy.Under{Neighbours: o.Neighbours, Event: e}
	}
	return events
}

// check returns changedGroups of options that make sense.
func (o SelectionOptions) check() (*big.Rat, error) {
	if err := checkPositive("delta", o.Delta.Rat()); err != nil {
		return nil, err
	}
	if (o.Epsilon.Sign() > 0) == (o.Rho.Sign() > 0) {
		return nil, fmt.Errorf("%w: exactly one of epsilon and rho must be positive", ErrParameter)
	}
	return o.changedGroups()
}

// ChooseSelection returns, of the selections that the options allow, the one with
// the smallest HalfCount: a choice that rests on the options alone.
func ChooseSelection(o SelectionOptions) (Selection, error) {
	k, err := o.check()
	if err != nil {
		return nil, err
	}
	candidates := []func(SelectionOptions, *big.Rat) (Selection, error){newTruncatedGeometric, newGaussianThreshold}
	if o.Epsilon.Sign() > 0 {
		candidates = append(candidates, newLaplaceThreshold)
	}
	var best Selection
	var failure error
	for _, candidate := range candidates {
		s, err := candidate(o, k)
		if err != nil {
			failure = err
			continue
		}
		if best == nil || s.HalfCount().Cmp(best.HalfCount()) < 0 {
			best = s
		}
	}
	if best == nil {
		return nil, fmt.Errorf("choose group selection: %w", failure)
	}
	return best, nil
}
