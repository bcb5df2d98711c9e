package privacy

import (
	"fmt"
	"strings"
)

// Under is what Event reveals between neighbours under one relation, and says nothing of
// the other. Its sensitivities are those of that relation: under ReplaceOne already the
// doubled ones, also in a plan. Mechanisms that were calibrated for a relation give such
// events, so that no budget of the other relation takes them.
type Under struct {
	Neighbours Neighbours
	Event      Event
}

func (Under) event() {}

// Validate implements Event.
func (e Under) Validate() error {
	if e.Neighbours > ReplaceSpecial {
		return fmt.Errorf("unknown neighbouring relation %v", e.Neighbours)
	}
	return validateInner(e.name(), e.Event)
}

// name is the relation's, as plans spell it.
func (e Under) name() string { return strings.ReplaceAll(e.Neighbours.String(), "-", "_") }

func (e Under) String() string               { return text(e) }
func (e Under) MarshalJSON() ([]byte, error) { return encode(e) }

func (e Under) holds(n Neighbours) error {
	if n != e.Neighbours {
		return &RelationError{e, n, fmt.Sprintf("it was calibrated for %v", e.Neighbours), fmt.Sprintf("account under %v, or calibrate for %v", e.Neighbours, n)}
	}
	if n == ReplaceOne && sampledAlone(e.Event) {
		// The sample may lack the unit: how far that is from its old and its new rows is
		// the sensitivity of add-remove, and only twice that one bounds both.
		return &RelationError{e, n, "what replacing a unit does to a Poisson sample depends on the sensitivity of add-remove",
			"give the sample's event with that, without stating a relation, or sample with without_replacement"}
	}
	return within(e, e.Event, n)
}

// sampledAlone reports whether e has a Poisson sample in it.
func sampledAlone(e Event) (found bool) {
	Map(e, func(e Event) Event {
		switch e.(type) {
		case Poisson, TruncatedPoisson:
			found = true
		}
		return e
	})
	return found
}

// Released returns e without the relations that it states, for whoever knows that n is
// in force and keeps it elsewhere, as a ledger does. It refuses what says nothing of n.
func Released(e Event, n Neighbours) (Event, error) {
	if err := Holds(e, n); err != nil {
		return nil, err
	}
	return Map(e, func(inner Event) Event {
		if u, ok := inner.(Under); ok {
			return u.Event
		}
		return inner
	}), nil
}
