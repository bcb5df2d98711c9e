// Package filter decides which releases an adaptive sequence of queries may still
// make. A filter holds when each event is chosen by looking at all answers
// before; an accountant's bound (package accountant, Fourier accounting above
// all) does not, which is why only the rules here may guard a ledger.
//
// It guarantees: if every event is charged before its release happens, and no
// total exceeds the filter's budget, then everything released is together
// (Epsilon, Delta)-differentially private. It does not guarantee that the events
// describe what was really released; that is the certificate's claim.
//
// A filter is pure mathematics without state. Whoever keeps the running total
// (package ledger) decides in constant time:
//
//	charge, err := f.Charge(events, delta)
//	total := spent.Add(charge)
//	admitted := total.Within(f.Budget())
package filter

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// A Measure names a filter.
type Measure = string

// The measures of this version.
const (
	Pure   Measure = "pure"   // Σε
	Approx Measure = "approx" // Σε and Σδ
	ZCDP   Measure = "zcdp"   // δ-approximate zCDP: Σρ, and Σδ of selection
)

// A Budget is what a data owner allows for one unit domain.
type Budget struct {
	Measure Measure
	Epsilon privacy.Epsilon
	Delta   privacy.Delta // zero with pure
	// SelectionDelta is the part of Delta that ZCDP keeps for events with a delta
	// of their own. The rest converts rho into epsilon, so it must be positive.
	SelectionDelta privacy.Delta
}

// A Filter turns events into charges on two running totals. Every filter known
// to be valid fits: a loss that adds up, in the measure's own terms (Σε, Σρ, and
// for filters to come Σε², the Rényi divergence of one order, Σμ²), beside a Σδ.
type Filter interface {
	// Measure returns the filter's name.
	Measure() Measure
	// Budget returns the total that must not be exceeded.
	Budget() Total
	// Charge returns what one request's events cost together, rounded up. Delta is
	// the δ that the request names for the conversion of Gaussian noise; filters
	// that have none to convert ignore it. It returns an error that wraps
	// ErrUnsupported for an event that the measure has no charge for.
	Charge(events []privacy.Event, delta privacy.Delta) (Total, error)
	// Amounts returns a total in terms of the vocabulary.
	Amounts(Total) Amounts
}

// Amounts is a Total as amounts; those that a measure does not use are zero.
type Amounts struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	Rho     privacy.Rho
}

// ErrUnsupported is wrapped by the refusal of an event that a measure has no
// charge for, such as Gaussian noise under Pure.
var ErrUnsupported = errors.New("not supported by this measure")

// New returns the filter of a budget. It refuses budgets that admit nothing, or
// that no theorem covers.
func New(b Budget) (Filter, error) {
	f, err := newFilter(b)
	if err != nil {
		return nil, fmt.Errorf("budget of measure %q: %w", b.Measure, err)
	}
	return f, nil
}

func newFilter(b Budget) (Filter, error) {
	if b.Measure != ZCDP && b.SelectionDelta.Sign() != 0 {
		return nil, errors.New("selection_delta belongs to zcdp")
	}
	budget := Total{floorUnits(b.Epsilon.Rat()), floorUnits(b.Delta.Rat())}
	switch {
	case budget.Loss.Sign() == 0:
		return nil, errors.New("epsilon is not positive")
	case b.Delta.Sign() > 0 && budget.Delta.Sign() == 0:
		return nil, errors.New("delta is positive but below 1e-40")
	case b.Delta.Rat().Cmp(big.NewRat(1, 1)) >= 0:
		return nil, errors.New("delta is not below 1")
	}
	switch b.Measure {
	case Pure:
		if b.Delta.Sign() != 0 {
			return nil, errors.New("delta must be left out")
		}
		return pure{budget}, nil
	case Approx:
		return approx{budget}, nil
	case ZCDP:
		return newZCDP(b)
	}
	return nil, errors.New("unknown measure; want pure, approx or zcdp")
}

// A Total is a running total, or one charge: a loss in the measure's own terms,
// and a delta. The zero Total is nothing spent.
type Total struct{ Loss, Delta Units }

// Add returns t + u.
func (t Total) Add(u Total) Total { return Total{t.Loss.add(u.Loss), t.Delta.add(u.Delta)} }

// Within reports whether neither part of t exceeds that of limit.
func (t Total) Within(limit Total) bool {
	return t.Loss.Cmp(limit.Loss) <= 0 && t.Delta.Cmp(limit.Delta) <= 0
}

// Equal reports whether t and u are the same.
func (t Total) Equal(u Total) bool { return t.Loss.Cmp(u.Loss) == 0 && t.Delta.Cmp(u.Delta) == 0 }

// Left returns limit - t, with no part below zero.
func (t Total) Left(limit Total) Total {
	return Total{limit.Loss.sub(t.Loss), limit.Delta.sub(t.Delta)}
}
