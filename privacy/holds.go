package privacy

import (
	"fmt"
	"slices"
)

// A RelationError is why an event says nothing about a neighbouring relation.
type RelationError struct {
	Event      Event
	Neighbours Neighbours
	Why        string // the reason
	Hint       string // the way out
}

func (e *RelationError) Error() string {
	return fmt.Sprintf("%s says nothing of %v: %s; %s", nameOf(e.Event), e.Neighbours, e.Why, e.Hint)
}

func nameOf(e Event) string { return formOf(alone(e)).name }

// Holds returns nil if e, with all events in it, says something about every two
// databases that are neighbours under n, otherwise mostly a *RelationError.
//
// What each event says, and about which pair, stands at its type. In short:
//
//   - Noise, and bare guarantees such as Pure or RDP, speak of both relations. A
//     guarantee is one for whatever pair it is asked about, also within another
//     event.
//   - Where the number of units is part of what is known (RandomizedResponse,
//     WithoutReplacement, WithReplacement, Shuffled), a unit cannot be added: they
//     speak of ReplaceOne alone.
//   - Poisson under AddRemove asks its event about AddRemove. Under ReplaceOne the
//     sample may lack the unit, have its old or its new rows, and one pair that
//     dominates all three is known for Gaussian noise only.
//   - TruncatedPoisson is of Gaussian noise alone, and speaks of both.
//   - WithoutReplacement and WithReplacement ask about ReplaceOne, in a sample of M
//     units; if the inner event has a number of units as well, it must be M.
//   - Shuffled asks about one unit's report, in which there is nothing to sample.
//   - ReplaceSpecial is asked of noise and bare guarantees as AddRemove is, and of
//     Poisson samples of additive noise; RandomizedResponse speaks of it, the other
//     events with a number of units do not.
//   - Under speaks of the relation that it states.
//   - Parallel under ReplaceOne asks also about AddRemove, of every part: a unit
//     may leave one part for another.
func Holds(e Event, n Neighbours) error {
	if n > ReplaceSpecial {
		return fmt.Errorf("unknown neighbouring relation %v", n)
	}
	if err := sound(e); err != nil {
		return err
	}
	return holds(e, n)
}

func holds(e Event, n Neighbours) error {
	switch e := e.(type) {
	case RandomizedResponse:
		if n == AddRemove {
			return &RelationError{e, n, "every unit answers, so the number of units is known", "account under replace-one"}
		}
	case Pair:
		if n == ReplaceOne && !e.mirrored() {
			return &RelationError{e, n, "replace-one does not order the two units, so the pair must hold both ways round",
				"give a pair whose mirror image is the pair itself, or account under add-remove"}
		}
	case Poisson:
		if n == ReplaceOne && !gaussian(sampledEvent(e)) {
			return &RelationError{e, n, "a bound for replacing a unit in a Poisson sample is known for gaussian only",
				"account under add-remove, or sample with without_replacement"}
		}
		if n == ReplaceSpecial && !additive(sampledEvent(e)) {
			return &RelationError{e, n, "a sample with the special record is known to be as good as one without it for additive noise only",
				"account under add-remove"}
		}
		return within(e, e.Event, n)
	case TruncatedPoisson:
		if n == ReplaceSpecial {
			return &RelationError{e, n, "the special record may take another unit's place in a full batch", "account under replace-one, which includes it"}
		}
		return within(e, e.Event, n)
	case WithoutReplacement:
		return sampled(e, e.M, e.Event, n)
	case WithReplacement:
		return sampled(e, e.M, e.Event, n)
	case Shuffled:
		if n != ReplaceOne {
			return fixed(e, n)
		}
		if part := nonlocal(e.Event); part != nil {
			return fmt.Errorf("%s within shuffled: a report is of one unit, but %[1]s is over many", nameOf(part))
		}
		return within(e, e.Event, n)
	case RepeatAndSelect:
		return within(e, e.Event, n)
	case Under:
		return e.holds(n)
	case Repeat:
		return holds(e.Event, n)
	case Sum:
		return all(e.Events, n)
	case Parallel:
		if n == ReplaceOne && len(e.Events) > 1 {
			if err := all(e.Events, AddRemove); err != nil {
				return fmt.Errorf("within parallel, where a unit may leave one part for another: %w", err)
			}
		}
		return all(e.Events, n)
	}
	return nil
}

func all(events []Event, n Neighbours) error {
	for _, e := range events {
		if err := holds(e, n); err != nil {
			return err
		}
	}
	return nil
}

func within(outer, inner Event, n Neighbours) error {
	if err := holds(inner, n); err != nil {
		return fmt.Errorf("within %s: %w", nameOf(outer), err)
	}
	return nil
}

// fixed is the refusal to add a unit where the number of units is known, and to put a
// special record in its place where one event sees all units.
func fixed(e Event, n Neighbours) error {
	if n == ReplaceSpecial {
		return &RelationError{e, n, "what it gains is known for the rows of two units, of which any may be the special record's",
			"account under replace-one, which includes it"}
	}
	return &RelationError{e, AddRemove, "the number n of units is known", "account under replace-one, or sample with poisson"}
}

// sampled is about an event on a sample of m units among known n.
func sampled(e Event, m int64, inner Event, n Neighbours) error {
	if n != ReplaceOne {
		return fixed(e, n)
	}
	if part, other := population(inner, m); part != nil {
		return fmt.Errorf("%s within %s: it is over %d units, but the sample has %d", nameOf(part), nameOf(e), other, m)
	}
	return within(e, inner, n)
}

// population returns an event in e that is over another known number of units
// than n, and that number.
func population(e Event, n int64) (Event, int64) {
	size := n
	switch e := e.(type) {
	case TruncatedPoisson:
		size = min(n, e.N) // it is of at most so many
	case WithoutReplacement:
		size = e.N
	case WithReplacement:
		size = e.N
	case Shuffled:
		size = e.N
	case Under:
		return population(e.Event, n)
	case RepeatAndSelect:
		return population(e.Event, n)
	case Repeat:
		return population(e.Event, n)
	case Sum:
		for _, part := range e.Events {
			if found, size := population(part, n); found != nil {
				return found, size
			}
		}
	}
	if size != n {
		return e, size
	}
	return nil, 0
}

// sampledEvent returns what happens on a Poisson sample, of a sample, of ...
func sampledEvent(e Poisson) Event {
	for {
		inner, ok := e.Event.(Poisson)
		if !ok {
			return e.Event
		}
		e = inner
	}
}

// additive reports whether e is noise on sums, in which the special record counts as nothing.
func additive(e Event) bool {
	switch e := e.(type) {
	case Laplace, DiscreteLaplace, Gaussian, DiscreteGaussian, Skellam:
		return true
	case Repeat:
		return additive(e.Event)
	case Sum:
		return !slices.ContainsFunc(e.Events, func(part Event) bool { return !additive(part) })
	}
	return false
}

// gaussian reports whether e is Gaussian noise, perhaps several times.
func gaussian(e Event) bool {
	switch e := e.(type) {
	case Gaussian:
		return true
	case Repeat:
		return gaussian(e.Event)
	case Sum:
		return !slices.ContainsFunc(e.Events, func(part Event) bool { return !gaussian(part) })
	}
	return false
}

// nonlocal returns an event in e that is over more than one unit.
func nonlocal(e Event) Event {
	switch e := e.(type) {
	case Poisson, TruncatedPoisson, WithoutReplacement, WithReplacement, Shuffled, Parallel, Tree:
		return e
	case Under:
		return nonlocal(e.Event)
	case RepeatAndSelect:
		return nonlocal(e.Event)
	case Repeat:
		return nonlocal(e.Event)
	case Sum:
		for _, part := range e.Events {
			if found := nonlocal(part); found != nil {
				return found
			}
		}
	}
	return nil
}
