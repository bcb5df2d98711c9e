package budget

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/filter"
)

// A quota passes on what it admits.
type quota struct {
	*InMemory // its own cap and total
	parent    Budget
}

// NewQuota returns a budget with a cap of its own, as for one analyst or one program,
// of which every release is charged to parent as well. It promises nothing beyond
// what parent promises, and lives as long as the process.
//
// Measure and relation must be those of parent, and with rdp the order that the
// budgets imply: what a Partition under the quota passes on is a total in the
// quota's terms, which another measure would convert piece by piece (two halves of
// a pure ε cost ε²/4 as zCDP, the whole ε²/2).
func NewQuota(parent Budget, name string, b filter.Budget) (Budget, error) {
	if parent == nil {
		return nil, errors.New("quota: the parent is missing")
	}
	own, err := NewInMemory(name, b)
	if err != nil {
		return nil, fmt.Errorf("quota: %w", err)
	}
	f := parent.Filter()
	if b.Measure != f.Measure() || b.Neighbours != parent.Neighbours() {
		return nil, fmt.Errorf("quota %q: its measure is %s under %v, and that of budget %q is %s under %v",
			name, b.Measure, b.Neighbours, parent.Name(), f.Measure(), parent.Neighbours())
	}
	if a, ok := filter.Order(f); ok {
		if o, _ := filter.Order(own.filter); o.Cmp(a) != 0 {
			return nil, fmt.Errorf("quota %q: its Rényi order is %s, and that of budget %q is %s", name, o.RatString(), parent.Name(), a.RatString())
		}
	}
	own.lock = lockOf(parent)
	return &quota{own, parent}, nil
}

func (q *quota) Left(ctx context.Context) (filter.Amounts, error) { return remaining(ctx, q) }

func (q *quota) Reserve(ctx context.Context, r Release) (Reservation, error) {
	return reserve(ctx, q, r)
}

func (q *quota) self() Budget { return q }

func (q *quota) left(ctx context.Context) (filter.Total, error) {
	above, err := leftOf(ctx, q.parent)
	if err != nil {
		return filter.Total{}, err
	}
	return q.spent.Left(q.filter.Budget()).Min(above), nil
}

func (q *quota) charge(t *trial, r Release) error {
	if err := q.InMemory.charge(t, r); err != nil {
		return err
	}
	return t.charge(q.parent, r)
}
