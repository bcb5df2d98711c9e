// Package budget pays for releases of programs over private data: a filter in memory, a domain of a
// durable ledger (package budget/durable), or a tree over these in which a release is charged to
// every budget whose units it may reveal.
//
// It guarantees that a release is charged, durably where the root is durable,
// before its answer is computed; that concurrent releases never together exceed
// a budget; and that nothing is given back.
//
// It does not guarantee that the events of a release describe its answer: the program
// that computes the answer states them. A budget in memory lasts as long as the process.
package budget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// ErrExceeded is wrapped by the refusal of a release that does not fit what is
// left; see ExceededError. Nothing is charged then, and smaller releases may follow.
var ErrExceeded = errors.New("the privacy budget does not suffice")

// An ExceededError says what was asked of a budget and what it has left.
type ExceededError struct {
	Budget      string // its name
	Measure     filter.Measure
	Asked, Left filter.Amounts
	// Cause is the refusal of what keeps the budget, if that is not this package.
	Cause error
}

func (e *ExceededError) Error() string {
	return fmt.Sprintf("%v: budget %q was asked for %s and has %s left", ErrExceeded, e.Budget, parts(e.Asked, e.Measure), parts(e.Left, e.Measure))
}

// Unwrap returns ErrExceeded, and the cause.
func (e *ExceededError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrExceeded}
	}
	return []error{ErrExceeded, e.Cause}
}

func parts(a filter.Amounts, m filter.Measure) (text string) {
	for i, p := range a.In(m) {
		if i > 0 {
			text += ", "
		}
		text += p.Name + " " + p.Amount.String()
	}
	return text
}

// A Release is what is about to be revealed.
type Release struct {
	// Statement says what is computed, for the owner's history. It holds nothing
	// private.
	Statement string
	// Events are what the answer reveals, between databases that are neighbours
	// under the budget's relation: under ReplaceOne a sensitivity is already the
	// doubled one. Events that state another relation are refused.
	Events []privacy.Event
	// Delta is the δ at which a filter converts Gaussian noise; see filter.Filter.
	Delta privacy.Delta
}

// A Budget pays for releases. Implementations are safe for concurrent use. One that
// passes on what it is charged is Rooted.
type Budget interface {
	// Name names the budget in errors and histories.
	Name() string
	// Neighbours is the relation for which the events of a release are stated.
	Neighbours() privacy.Neighbours
	// Filter is the rule by which the budget is charged.
	Filter() filter.Filter
	// Left is what may still be charged.
	Left(ctx context.Context) (filter.Amounts, error)
	// Reserve charges a release, before private data are touched for it. It
	// refuses with an *ExceededError, or with an error of the events themselves,
	// and charges nothing then. After any other error the charge may have been made.
	Reserve(ctx context.Context, r Release) (Reservation, error)
}

// A Reservation is a release that was charged. What is never committed stays spent.
type Reservation interface {
	// Commit records the answer, as JSON, where the budget keeps a history. Only
	// after it has returned nil may the answer leave.
	Commit(ctx context.Context, answer []byte) error
}

// A Charge is a release and who pays for it.
type Charge struct {
	Budget  Budget
	Release Release
}

// Spend reserves r, computes its answer and commits it: charge first, answer last.
// On an error no answer leaves, and after the reservation the charge stays.
func Spend[T any](ctx context.Context, b Budget, r Release, answer func() (T, error)) (T, error) {
	return SpendAll(ctx, []Charge{{b, r}}, answer)
}

// SpendAll is Spend for an answer that several budgets pay for; see ReserveAll.
func SpendAll[T any](ctx context.Context, charges []Charge, answer func() (T, error)) (T, error) {
	var none T
	reservation, err := ReserveAll(ctx, charges)
	if err != nil {
		return none, err
	}
	a, err := answer()
	if err != nil {
		return none, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return none, fmt.Errorf("record answer: %w", err)
	}
	if err := reservation.Commit(ctx, text); err != nil {
		return none, err
	}
	return a, nil
}
