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
//
// Beside the filters are Odometers, which bound what was revealed so far without a
// budget, and Individual, which accounts for every unit by itself inside of an
// algorithm; neither guards a ledger.
//
// A theorem that is cited has its proof here in words where the filter is not the
// paper's own by the letter.
package filter

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// A Measure names a filter.
type Measure string

// The measures. All but Rogers can guard a ledger.
const (
	Pure       Measure = "pure"       // Σε
	Approx     Measure = "approx"     // Σε and Σδ
	ZCDP       Measure = "zcdp"       // δ-approximate zCDP: Σρ, and Σδ of events that have one
	Whitehouse Measure = "whitehouse" // Σε² and Σδ
	RDP        Measure = "rdp"        // Rényi divergence of one fixed order, and Σδ
	GDP        Measure = "gdp"        // Gaussian differential privacy: Σμ², and Σδ
	Rogers     Measure = "rogers"     // for comparison: RogersFilter
)

// A Budget is what a data owner allows for one unit domain.
type Budget struct {
	Measure Measure
	Epsilon privacy.Epsilon
	Delta   privacy.Delta // zero with pure
	// SelectionDelta is the part of Delta that ZCDP, Whitehouse, RDP and GDP keep
	// for events with a delta of their own. The rest converts the measure into
	// epsilon, so it must be positive.
	SelectionDelta privacy.Delta
	// Neighbours is the relation that the events' guarantees are about.
	Neighbours privacy.Neighbours
}

// A Filter turns events into charges on two running totals. Every filter that is
// both valid and worth having fits: a loss that adds up, in the measure's own terms,
// to at most a cap that is fixed beforehand, beside a Σδ.
//
// Only this package implements it. In particular no accountant can: what it knows
// of a plan is true of that plan alone, and says nothing of one that is chosen by
// looking at answers (a plan that is fixed in advance enters as one event).
type Filter interface {
	// Measure returns the filter's name.
	Measure() Measure
	// Budget returns the total that must not be exceeded.
	Budget() Total
	// Neighbours is the relation that it speaks of. It refuses events that do not.
	Neighbours() privacy.Neighbours
	// Charge returns what one request's events cost together, rounded up. Delta is
	// the δ that the request names for the conversion of Gaussian noise; filters
	// that have none to convert ignore it. It returns an error that wraps
	// ErrUnsupported for an event that the measure has no charge for.
	Charge(events []privacy.Event, delta privacy.Delta) (Total, error)
	// Amounts returns a total in terms of the vocabulary.
	Amounts(Total) Amounts
	// Implies returns what a filter with that total for its budget would promise:
	// Epsilon and Delta, and Rho where the measure implies zCDP (but for a mass of
	// Delta at most).
	Implies(Total) (Amounts, error)

	sealed()
}

// base is what all filters have.
type base struct {
	budget     Total
	epsilon    privacy.Epsilon
	neighbours privacy.Neighbours
}

func (b base) Budget() Total                  { return b.budget }
func (b base) Neighbours() privacy.Neighbours { return b.neighbours }
func (base) sealed()                          {}

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
	f := base{Total{floorUnits(b.Epsilon.Rat()), floorUnits(b.Delta.Rat())}, b.Epsilon, b.Neighbours}
	switch {
	case f.budget.Loss.Sign() == 0:
		return nil, errors.New("epsilon is not positive")
	case b.Delta.Rat().Cmp(big.NewRat(1, 1)) >= 0:
		return nil, errors.New("delta is not below 1")
	case b.Neighbours == privacy.ReplaceSpecial:
		return nil, errors.New("no budget is kept for replace-special: nothing that charges one has a special record; replace-one includes it")
	case b.Neighbours > privacy.ReplaceOne:
		return nil, errors.New("unknown neighbouring relation")
	}
	switch b.Measure {
	case Pure, Approx:
		if b.SelectionDelta.Sign() != 0 {
			return nil, errors.New("it does not split delta, so it has no selection_delta")
		}
		if b.Measure == Approx {
			return approx{f}, kept(b.Delta, f.budget.Delta)
		}
		if b.Delta.Sign() != 0 {
			return nil, errors.New("delta must be left out")
		}
		return pure{f}, nil
	case ZCDP, Whitehouse, RDP, GDP:
		conversion, err := splitDelta(b)
		if err != nil {
			return nil, err
		}
		f.budget.Delta = floorUnits(b.SelectionDelta.Rat())
		if err := kept(b.SelectionDelta, f.budget.Delta); err != nil {
			return nil, err
		}
		return map[Measure]func(base, privacy.Delta) (Filter, error){
			ZCDP: newZCDP, Whitehouse: newWhitehouse, RDP: newRDP, GDP: newGDP,
		}[b.Measure](f, conversion)
	case Rogers:
		return nil, errors.New("it guards no budget: every budget lasts longer under whitehouse or zcdp; it is there to be compared with")
	}
	return nil, errors.New("unknown measure; want pure, approx, zcdp, whitehouse, rdp or gdp")
}

// kept refuses a delta that is lost in units: a budget of nothing for events that have
// one.
func kept(delta privacy.Delta, units Units) error {
	if delta.Sign() > 0 && units.Sign() == 0 {
		return errors.New("delta is positive but below 1e-40, the unit in which budgets are kept")
	}
	return nil
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
