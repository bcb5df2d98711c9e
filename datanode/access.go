package datanode

import (
	"errors"

	"github.com/discreet-dp/discreet/budget"
)

var (
	// ErrNoAccess: there is no access definition for the name, or it does not allow
	// what was asked. Whether there are data of that name is not said.
	ErrNoAccess = errors.New("no access")
	// ErrBudgetExceeded is wrapped by the refusal of a release that does not fit; a
	// budget.ExceededError names the budget, what was asked and what is left.
	ErrBudgetExceeded = budget.ErrExceeded
	// ErrBound: the name has another budget already, and a name keeps its budget.
	ErrBound = errors.New("bound to another budget")
	// ErrNoEvent: a mechanism does not say what it reveals.
	ErrNoEvent = errors.New("the mechanism does not say what it reveals")
	// ErrQuery: the query has no meaning, or no bounded sensitivity, for the data.
	ErrQuery = errors.New("bad query")
	// ErrUndecided: unprotected access needs a decision: who decides, and why.
	ErrUndecided = errors.New("who decides, and why, must be said")
)

// An Access says how a datum may leave its node: a Mechanism, Adaptive, Unmetered
// or Unprotected.
type Access interface{ access() }

func (Laplace) access()     {}
func (Gaussian) access()    {}
func (Adaptive) access()    {}
func (Unmetered) access()   {}
func (Unprotected) access() {}

// Adaptive is adaptive differential privacy: every answer is drawn anew and charged to
// the budget, before the data are touched. An answer that does not fit is refused with
// ErrBudgetExceeded. All answers together keep the budget's guarantee, even where earlier
// answers decide what is asked next. The filter is the budget's.
//
// A name keeps its budget: another one is refused with ErrBound. Several names may share a budget,
// and should if they are about the same units. A durable budget (package budget/durable) also
// outlives the process.
type Adaptive struct {
	// Budget pays. It may be nil if the name has one already, or is a catalog's table:
	// then that table's ledger pays.
	Budget budget.Budget
	// Mechanism answers every query; nil: each query brings its own.
	Mechanism Mechanism
}

// A Decision is the owner's. It is recorded before it takes effect.
type Decision struct {
	By  string // who decides; required
	Why string // required
}

func (d Decision) check() error {
	if d.By == "" || d.Why == "" {
		return ErrUndecided
	}
	return nil
}

// Unprotected gives the data away as they are, to everyone who asks. The decision is
// recorded, and so is each answer.
type Unprotected struct{ Decision }

// Unmetered answers every query with fresh noise and counts nothing. Each answer keeps
// its mechanism's guarantee; all together keep none, because their mean is the truth.
// The decision is recorded, and so is each answer.
type Unmetered struct {
	Decision
	Mechanism Mechanism
}
