package discreet

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A Spend is what a statement may cost, in one of three forms: Epsilon alone
// (pure), Epsilon and Delta (approximate), or Rho, with a Delta for private
// group selection (a hundredth of the domain's selection delta if absent).
type Spend struct {
	Epsilon privacy.Epsilon `json:"epsilon"`
	Delta   privacy.Delta   `json:"delta"`
	Rho     privacy.Rho     `json:"rho"`
}

// lacks reports whether a bound, if it is one, is below a cost.
func (s Spend) lacks(cost Spend) bool {
	return s.Epsilon.Sign() > 0 && s.Epsilon.Cmp(cost.Epsilon) < 0 || s.Rho.Sign() > 0 && s.Rho.Cmp(cost.Rho) < 0
}

func (s Spend) times(f *big.Rat) Spend {
	return Spend{s.Epsilon.MulRat(f), s.Delta.MulRat(f), s.Rho.MulRat(f)}
}

// String names the amounts, as in "rho 0.01, delta 1e-9".
func (s Spend) String() string {
	var parts []string
	for _, p := range (filter.Amounts{Epsilon: s.Epsilon, Delta: s.Delta, Rho: s.Rho}).Positive() {
		parts = append(parts, p.Name+" "+numeric.Decimal(p.Amount.Rat(), numeric.CeilDigits))
	}
	return strings.Join(parts, ", ")
}

// A Cost is what a statement is charged, in its domain's measure.
type Cost struct {
	filter.Amounts
	Events []privacy.Event `json:"events"`
}

// Remaining is what the domain's budget has left, in its measure.
type Remaining struct {
	Measure filter.Measure `json:"measure"`
	filter.Amounts
}

// String names the amounts that the measure knows, as in "rho 0.04, delta 5e-8".
func (r Remaining) String() string {
	var parts []string
	for _, p := range r.In(r.Measure) {
		parts = append(parts, p.Name+" "+numeric.Decimal(p.Amount.Rat(), numeric.FloorDigits))
	}
	return strings.Join(parts, ", ")
}

// nominal is a cost of a domain's, at which a statement is planned that pays none.
func nominal(d *catalog.Domain) Spend {
	one := big.NewRat(1, 1)
	var s Spend
	switch filter.Measure(d.Measure) {
	case filter.ZCDP, filter.RDP:
		s.Rho, _ = privacy.NewRho(one)
	case filter.Pure:
		s.Epsilon, _ = privacy.NewEpsilon(one)
	default:
		s.Epsilon, _ = privacy.NewEpsilon(one)
		s.Delta, _ = privacy.NewDelta(big.NewRat(1, 1_000_000))
	}
	return s
}

// cost is what the domain's filter will charge for the statement's events.
func (s *statement) cost() (Cost, error) {
	d := s.certificate.Domain
	if s.free {
		return Cost{Events: []privacy.Event{}}, nil
	}
	if len(s.design.Events) == 0 {
		return s.charged(filter.Amounts{}), nil
	}
	f, err := filter.New(filter.Budget{Measure: filter.Measure(d.Measure), Epsilon: d.Epsilon, Delta: d.Delta,
		SelectionDelta: d.SelectionDelta, Neighbours: d.Neighbours})
	if err != nil {
		return Cost{}, fmt.Errorf("domain %q: %w", d.ID, err)
	}
	charge, err := f.Charge(s.design.Events, s.design.Delta)
	if err != nil {
		return Cost{}, fmt.Errorf("charge statement: %w", err)
	}
	return s.charged(f.Amounts(charge)), nil
}

func (s *statement) charged(a filter.Amounts) Cost {
	events := s.design.Events
	if events == nil {
		events = []privacy.Event{} // JSON's [], not null
	}
	return Cost{Amounts: a, Events: events}
}

func remaining(m filter.Measure, a filter.Amounts) Remaining {
	return Remaining{Measure: m, Amounts: a}
}
