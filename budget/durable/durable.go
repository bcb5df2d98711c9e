// Package durable makes a domain of a ledger a budget: what programs over private
// data spend stays spent, whatever crashes.
//
// It guarantees what package ledger guarantees. Answers are recorded there in the form
// in which they left, for the owner's history.
//
// It does not guarantee that the events of a release describe its answer; see package
// budget.
package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// Options say which domain pays, and who asks.
type Options struct {
	Domain  string // required
	Analyst string // for the owner's history
	Now     func() time.Time
}

// A Budget is a domain of a ledger. It is safe for concurrent use.
type Budget struct {
	options    Options
	ledger     *ledger.Ledger
	neighbours privacy.Neighbours
	filter     filter.Filter
}

// New returns a domain that the ledger has as a budget.
func New(ctx context.Context, l *ledger.Ledger, o Options) (*Budget, error) {
	if l == nil || o.Now == nil {
		return nil, errors.New("durable budget: the ledger or the clock is missing")
	}
	d, err := l.Balance(ctx, o.Domain)
	if err != nil {
		return nil, fmt.Errorf("durable budget: %w", err)
	}
	f, err := filter.New(filter.Budget{Measure: d.Measure, Epsilon: d.Epsilon, Delta: d.Delta, SelectionDelta: d.SelectionDelta, Neighbours: d.Neighbours})
	if err != nil {
		return nil, fmt.Errorf("durable budget: domain %q: %w", o.Domain, err)
	}
	return &Budget{options: o, ledger: l, neighbours: d.Neighbours, filter: f}, nil
}

// Name returns the domain's.
func (b *Budget) Name() string { return b.options.Domain }

// Pays implements budget.Rooted: the domain pays.
func (b *Budget) Pays() (self, payer budget.Budget) { return b, b }

// Neighbours implements budget.Budget.
func (b *Budget) Neighbours() privacy.Neighbours { return b.neighbours }

// Filter implements budget.Budget.
func (b *Budget) Filter() filter.Filter { return b.filter }

// Left returns what the domain has left, after all that is durable now.
func (b *Budget) Left(ctx context.Context) (filter.Amounts, error) {
	balance, err := b.ledger.Balance(ctx, b.options.Domain)
	if err != nil {
		return filter.Amounts{}, fmt.Errorf("budget %q: %w", b.Name(), err)
	}
	return balance.Remaining, nil
}

// Reserve charges the domain durably. A refusal for want of budget is a
// *budget.ExceededError and wraps ledger.ErrExhausted.
func (b *Budget) Reserve(ctx context.Context, r budget.Release) (budget.Reservation, error) {
	made, err := b.ledger.Reserve(ctx, b.request(r))
	if err != nil {
		return nil, b.refusal(err)
	}
	return reservation{b.ledger, made}, nil
}

// Register charges a release and stores a value, JSON, under a key, both or neither
// whatever crashes; or, if the key has a value, charges nothing. It returns the value
// that the key then has: the first one, for good. A release without events costs
// nothing. The statement must be the same for every use of a key.
func (b *Budget) Register(ctx context.Context, key string, r budget.Release, value []byte) ([]byte, error) {
	if key == "" || len(value) == 0 {
		return nil, fmt.Errorf("budget %q: a register needs a key and a value", b.Name())
	}
	request := b.request(r)
	request.IdempotencyKey = key
	made, err := b.ledger.Register(ctx, request, value)
	if err != nil {
		return nil, b.refusal(err)
	}
	if made.Answer != nil {
		return made.Answer, nil
	}
	return value, nil
}

// Registered returns the value that a key has, or nil. The statement is that of its use.
func (b *Budget) Registered(ctx context.Context, key, statement string) ([]byte, error) {
	request := b.request(budget.Release{Statement: statement})
	request.IdempotencyKey = key
	value, err := b.ledger.Registered(ctx, request)
	if err != nil {
		return nil, b.refusal(err)
	}
	return value, nil
}

func (b *Budget) request(r budget.Release) ledger.Request {
	return ledger.Request{Domain: b.options.Domain, Analyst: b.options.Analyst, Statement: r.Statement,
		Events: r.Events, Delta: r.Delta, Now: b.options.Now()}
}

func (b *Budget) refusal(err error) error {
	var exhausted *ledger.ExhaustedError
	if errors.As(err, &exhausted) {
		return &budget.ExceededError{Budget: b.Name(), Measure: exhausted.Measure, Asked: exhausted.Asked, Left: exhausted.Left, Cause: err}
	}
	return fmt.Errorf("budget %q: %w", b.Name(), err)
}

type reservation struct {
	ledger *ledger.Ledger
	made   *ledger.Reservation
}

func (r reservation) Commit(ctx context.Context, answer []byte) error {
	return r.ledger.Commit(ctx, r.made, answer)
}
