package filter

import (
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// Individual accounts for every unit by itself, for algorithms in Go that know what
// each unit's own data can reveal in a step: a unit takes part as long as its own losses
// fit, and is then left out for good, as if it were not there. Units whose data move
// little stay longer than a bound for the worst unit would let them.
//
// Theorem (Feldman and Zrnic 2021, "Individual Privacy Accounting via a Rényi
// Filter"): let a unit's loss of a step be the largest Rényi divergence of one fixed
// order, in either direction and over all other data, between the step's result with
// and without the unit, given the results before; and let the unit take part in the
// step if and only if the sum of its own losses, this one included, is at most R. Then
// the divergence between all results with and without any one unit is at most R.
//
// Conditions, which the caller keeps:
//   - The losses are adaptive, but a unit's loss is a function of that unit's own data
//     and of the results released before, of nothing else. Then leaving a unit out
//     changes for no other unit whether it takes part.
//   - The step uses the units it is told of alone, and a unit that is left out is as
//     good as absent: the relation is AddRemove.
//   - What is released from a step is the step's result. Which units took part, how many,
//     and what any of them has left are functions of private data without noise.
//
// So it is no ledger's filter: an analyst must know what is left before asking, and what
// is left here cannot be told. There is no method that returns a unit's remainder, and a
// value prints as a name and refuses to be encoded.
type Individual struct {
	filter Filter
	spent  []Units // by unit
}

// NewIndividual accounts for units 0 to units-1, each with the whole budget, in the
// measure ZCDP or RDP (zCDP is divergence of every order at once) under AddRemove.
// No delta is kept for events.
func NewIndividual(b Budget, units int) (*Individual, error) {
	switch {
	case b.Measure != ZCDP && b.Measure != RDP:
		return nil, fmt.Errorf("individual accounting: measure %q adds up no Rényi divergence", b.Measure)
	case b.Neighbours != privacy.AddRemove:
		return nil, errors.New("individual accounting: a unit that is left out hides as one that is absent, under add-remove alone")
	case b.SelectionDelta.Sign() > 0:
		return nil, errors.New("individual accounting: no delta is kept for events")
	case units < 1:
		return nil, errors.New("individual accounting: no units")
	}
	f, err := New(b)
	if err != nil {
		return nil, fmt.Errorf("individual accounting: %w", err)
	}
	return &Individual{f, make([]Units, units)}, nil
}

// Step charges every unit that can still pay what the step reveals of it, and calls use
// with each of them, in order. Event returns what the step reveals of a unit, or nil if
// nothing: that unit takes part without a charge.
//
// An error, from an event that the measure has no charge for or from use, ends the
// algorithm: nothing must be released of a step that failed, not even that it did,
// because errors depend on the data. What was charged stays.
func (x *Individual) Step(event func(unit int) privacy.Event, use func(unit int) error) error {
	limit := x.filter.Budget()
	for unit := range x.spent {
		next := x.spent[unit]
		if e := event(unit); e != nil {
			charge, err := x.filter.Charge([]privacy.Event{e}, privacy.Delta{})
			if err != nil || charge.Delta.Sign() > 0 {
				return errIndividual
			}
			next = next.add(charge.Loss)
		}
		if next.Cmp(limit.Loss) > 0 {
			x.spent[unit] = limit.Loss.add(Units{big.NewInt(1)}) // closed for good, even to smaller losses
			continue
		}
		x.spent[unit] = next
		if err := use(unit); err != nil {
			return err
		}
	}
	return nil
}

// errIndividual says nothing of the event, which may be private.
var errIndividual = errors.New("individual accounting: an event has no charge in this measure, or a delta")

var errPrivate = errors.New("individual accounting: what units have left is private")

// Format prints a name and no numbers, whatever the verb.
func (Individual) Format(s fmt.State, _ rune) {
	io.WriteString(s, "filter.Individual(private)")
}

// The encoders refuse.

func (Individual) MarshalJSON() ([]byte, error)   { return nil, errPrivate }
func (Individual) MarshalText() ([]byte, error)   { return nil, errPrivate }
func (Individual) MarshalBinary() ([]byte, error) { return nil, errPrivate }
func (Individual) GobEncode() ([]byte, error)     { return nil, errPrivate }
