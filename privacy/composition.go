package privacy

import (
	"errors"
	"fmt"
)

// MaxCount is the largest count of a Repeat, and the largest number of units,
// draws, leaves or answers in an event.
const MaxCount = 1_000_000_000_000

func isCount(n int64) bool { return n >= 1 && n <= MaxCount }

// Repeat is Count independent events of the same kind, each of which may depend
// on the results of those before.
type Repeat struct {
	Count int
	Event Event
}

// Sum is all of Events, each of which may depend on the results of those before.
type Sum struct{ Events []Event }

// Parallel is Events, each on its own part of a public partition of the units. It
// speaks of a unit added to one part; of one replaced within its part, and of one
// that leaves a part for another, which removes it here and adds it there.
type Parallel struct{ Events []Event }

func (Repeat) event()   {}
func (Sum) event()      {}
func (Parallel) event() {}

func (e Repeat) Validate() error {
	if e.Event == nil || !isCount(int64(e.Count)) {
		return errors.New("repeat: count is not from 1 to 1e12, or event is missing")
	}
	return e.Event.Validate()
}

func (e Sum) Validate() error      { return validateAll("sum", e.Events) }
func (e Parallel) Validate() error { return validateAll("parallel", e.Events) }

func validateAll(name string, events []Event) error {
	if len(events) == 0 {
		return fmt.Errorf("%s: no events", name)
	}
	for _, e := range events {
		if err := validateInner(name, e); err != nil {
			return err
		}
	}
	return nil
}
