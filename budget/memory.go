package budget

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// An InMemory budget lives as long as the process: a filter and its exact total. Data
// that outlive the process need a durable one.
type InMemory struct {
	name       string
	neighbours privacy.Neighbours
	filter     filter.Filter
	lock       lock
	spent      filter.Total
}

// NewInMemory returns a budget of which nothing is spent.
func NewInMemory(name string, b filter.Budget) (*InMemory, error) {
	if name == "" {
		return nil, errors.New("a budget without a name")
	}
	f, err := filter.New(b)
	if err != nil {
		return nil, err
	}
	return &InMemory{name: name, neighbours: b.Neighbours, filter: f, lock: newLock()}, nil
}

// Name implements Budget.
func (m *InMemory) Name() string { return m.name }

// Neighbours implements Budget.
func (m *InMemory) Neighbours() privacy.Neighbours { return m.neighbours }

// Filter implements Budget.
func (m *InMemory) Filter() filter.Filter { return m.filter }

// Left implements Budget.
func (m *InMemory) Left(ctx context.Context) (filter.Amounts, error) { return remaining(ctx, m) }

// Reserve implements Budget. A Commit of its reservation records nothing.
func (m *InMemory) Reserve(ctx context.Context, r Release) (Reservation, error) {
	return reserve(ctx, m, r)
}

// Spent returns what was charged.
func (m *InMemory) Spent(ctx context.Context) (filter.Amounts, error) {
	if err := m.lock.acquire(ctx); err != nil {
		return filter.Amounts{}, err
	}
	defer m.lock.release()
	return m.filter.Amounts(m.spent), nil
}

func (m *InMemory) self() Budget { return m }

func (m *InMemory) own() lock { return m.lock }

func (m *InMemory) left(context.Context) (filter.Total, error) {
	return m.spent.Left(m.filter.Budget()), nil
}

func (m *InMemory) charge(t *trial, r Release) error {
	asked, err := m.filter.Charge(r.Events, r.Delta)
	if err != nil {
		return err
	}
	next := m.spent.Add(asked)
	if !next.Within(m.filter.Budget()) {
		return exceeded(m, asked, m.spent.Left(m.filter.Budget()))
	}
	t.set(&m.spent, next)
	return nil
}
