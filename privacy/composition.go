package privacy

import (
	"errors"
	"fmt"
)

// Repeat is Count independent events of the same kind, each of which may depend
// on the results of those before.
type Repeat struct {
	Count int
	Event Event
}

// Sum is all of Events, each of which may depend on the results of those before.
type Sum struct{ Events []Event }

// Parallel is Events, each on its own part of a public partition of the units.
type Parallel struct{ Events []Event }

func (Repeat) event()   {}
func (Sum) event()      {}
func (Parallel) event() {}

func (e Repeat) Validate() error {
	if e.Event == nil || e.Count < 1 {
		return errors.New("repeat: count is not positive, or event is missing")
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
