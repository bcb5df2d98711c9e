package filter

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// Admitted returns how often the filter of a measure, Rogers included, with the budget
// (epsilon, delta) admits e, each time as a request of its own. Its time does not depend on
// the count. Under a ledger the count may be smaller by what the ledger keeps of delta for
// other events: here nothing is kept for events with a delta if e has none, and half
// otherwise.
//
// E is an event of a plan, whose sensitivities are those of AddRemove; they are doubled
// under ReplaceOne. No request names a δ for the conversion of Gaussian noise, so approx,
// whitehouse and rogers refuse events without an (ε, δ) point. Pure ignores delta.
func Admitted(m Measure, e privacy.Event, epsilon privacy.Epsilon, delta privacy.Delta, n privacy.Neighbours) (*big.Int, error) {
	count, err := admitted(m, e, epsilon, delta, n)
	if err != nil {
		return nil, fmt.Errorf("count what %s admits: %w", m, err)
	}
	return count, nil
}

func admitted(m Measure, e privacy.Event, epsilon privacy.Epsilon, delta privacy.Delta, n privacy.Neighbours) (*big.Int, error) {
	if e == nil {
		return nil, errors.New("the event is missing")
	}
	events := []privacy.Event{privacy.OfPlan(e, n)}
	if m == Rogers {
		return rogersAdmitted(events, epsilon, delta, n)
	}
	b := Budget{Measure: m, Epsilon: epsilon, Delta: delta, Neighbours: n}
	if m == Pure || m == Approx {
		b.Delta = privacy.Delta{}
	}
	f, charge, err := chargedBy(b, events)
	if err == nil && charge.Delta.Sign() > 0 {
		if m == Approx {
			b.Delta = delta
		} else {
			b.SelectionDelta = delta.MulRat(big.NewRat(1, 2))
		}
		f, charge, err = chargedBy(b, events) // rdp may choose another order
	}
	if errors.Is(err, errNeedsDelta) {
		err = unsupported(e, "it has no (epsilon, delta); wrap it as approx(eps, delta)")
	}
	if err != nil {
		return nil, err
	}
	count := (*big.Int)(nil)
	for _, part := range [][2]Units{{charge.Loss, f.Budget().Loss}, {charge.Delta, f.Budget().Delta}} {
		if part[0].Sign() == 0 {
			continue
		}
		if fits := new(big.Int).Quo(part[1].int(), part[0].int()); count == nil || fits.Cmp(count) < 0 {
			count = fits
		}
	}
	return count, nil
}

func chargedBy(b Budget, events []privacy.Event) (Filter, Total, error) {
	f, err := New(b)
	if err != nil {
		return nil, Total{}, err
	}
	charge, err := f.Charge(events, privacy.Delta{})
	return f, charge, err
}

// rogersAdmitted searches for the count, in which the bound increases.
func rogersAdmitted(events []privacy.Event, epsilon privacy.Epsilon, delta privacy.Delta, n privacy.Neighbours) (*big.Int, error) {
	f, err := NewRogersFilter(epsilon, delta)
	if err != nil {
		return nil, err
	}
	s, err := SumsOf(events, n)
	if err != nil {
		return nil, err
	}
	if s.Squares.Sign() == 0 && s.Delta.Sign() == 0 {
		return nil, errors.New("the event costs nothing")
	}
	if s.Delta.Sign() > 0 {
		if err := kept(delta, f.half); err != nil {
			return nil, err
		}
	}
	lo, hi := new(big.Int), big.NewInt(1) // lo repetitions are admitted, hi are not
	for f.Admits(s.Times(hi)) {
		lo.Set(hi)
		hi.Lsh(hi, 1)
	}
	for {
		mid := new(big.Int).Add(lo, hi)
		if mid.Rsh(mid, 1); mid.Cmp(lo) == 0 {
			return lo, nil
		}
		if f.Admits(s.Times(mid)) {
			lo = mid
		} else {
			hi = mid
		}
	}
}
