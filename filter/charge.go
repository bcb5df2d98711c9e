package filter

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// A loss is what events imply in one measure, summed exactly. It is rounded once,
// by total, so that three thirds of a budget fit it.
type loss struct {
	main  *big.Rat // in the measure's own terms
	delta *big.Rat
	rho   *big.Rat // of zCDP events that the measure converts together
}

// A price says what one event that is not a combination of others costs in a
// measure.
type price func(privacy.Event) (loss, error)

func newLoss() loss { return loss{new(big.Rat), new(big.Rat), new(big.Rat)} }

// sum adds what the events of one request cost. It refuses those that do not hold
// under the relation n.
func sum(events []privacy.Event, n privacy.Neighbours, p price) (loss, error) {
	if len(events) == 0 {
		return loss{}, fmt.Errorf("charge: no events")
	}
	total := newLoss()
	for _, e := range events {
		if e == nil {
			return loss{}, fmt.Errorf("charge: an event is missing")
		}
		if err := privacy.Holds(e, n); err != nil {
			return loss{}, fmt.Errorf("charge: %w", err)
		}
		if err := total.add(e, n, p, big.NewRat(1, 1)); err != nil {
			return loss{}, fmt.Errorf("charge: %w", err)
		}
	}
	return total, nil
}

// add counts e as many times as count says.
func (l *loss) add(e privacy.Event, n privacy.Neighbours, p price, count *big.Rat) error {
	switch e := e.(type) {
	case privacy.Under: // Holds has checked that its relation is n
		return l.add(e.Event, n, p, count)
	case privacy.Repeat:
		return l.add(e.Event, n, p, new(big.Rat).Mul(count, new(big.Rat).SetInt64(int64(e.Count))))
	case privacy.Sum:
		for _, inner := range e.Events {
			if err := l.add(inner, n, p, count); err != nil {
				return err
			}
		}
		return nil
	case privacy.Parallel:
		return l.addParallel(e, n, p, count)
	}
	one, err := p(e)
	if err != nil {
		return err
	}
	l.plus(one, count)
	return nil
}

func (l *loss) plus(one loss, count *big.Rat) {
	for _, part := range [...][2]*big.Rat{{l.main, one.main}, {l.delta, one.delta}, {l.rho, one.rho}} {
		if part[1] != nil && part[1].Sign() > 0 {
			part[0].Add(part[0], new(big.Rat).Mul(part[1], count))
		}
	}
}

// addParallel counts the worst of the parts: under AddRemove the unit lies in one
// of them, and the others do not change (McSherry 2009, "Privacy Integrated
// Queries", Theorem 4). Under ReplaceOne the old row and the new one may lie in two
// parts, of which the events say nothing.
func (l *loss) addParallel(e privacy.Parallel, n privacy.Neighbours, p price, count *big.Rat) error {
	if n != privacy.AddRemove {
		return fmt.Errorf("%w: %v under %v", ErrUnsupported, e, n)
	}
	worst := newLoss()
	for _, part := range e.Events {
		one := newLoss()
		if err := one.add(part, n, p, big.NewRat(1, 1)); err != nil {
			return err
		}
		for _, pair := range [][2]*big.Rat{{worst.main, one.main}, {worst.delta, one.delta}, {worst.rho, one.rho}} {
			if pair[0].Cmp(pair[1]) < 0 {
				pair[0].Set(pair[1])
			}
		}
	}
	l.plus(worst, count)
	return nil
}

func unsupported(e privacy.Event, why string) error {
	return fmt.Errorf("%w: %v: %s", ErrUnsupported, e, why)
}

// total rounds a charge up to units. What costs nothing even so is refused: the
// caller asked for something.
func total(loss, delta *big.Rat) (Total, error) {
	if loss.Sign() < 0 || delta.Sign() < 0 {
		return Total{}, fmt.Errorf("charge: a loss below zero")
	}
	t := Total{ceilUnits(loss), ceilUnits(delta)}
	if t.Loss.Sign() == 0 && t.Delta.Sign() == 0 {
		return Total{}, fmt.Errorf("charge: the events cost nothing")
	}
	return t, nil
}
