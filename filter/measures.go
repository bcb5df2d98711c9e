package filter

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// pure admits while Σε stays within the budget.
//
// Theorem (Rogers, Roth, Ullman and Vadhan 2016, "Privacy Odometers and
// Filters", the basic-composition filter): with adaptively chosen parameters ε_i,
// stopping before Σε_i > ε gives ε-DP. Condition: every event is ε_i-DP given the
// answers before.
type pure struct{ budget Total }

func (pure) Measure() Measure { return Pure }
func (f pure) Budget() Total  { return f.budget }

func (f pure) Charge(events []privacy.Event, _ privacy.Delta) (Total, error) {
	l, err := sum(events)
	if err != nil {
		return Total{}, err
	}
	if l.rho.Sign() > 0 || l.delta.Sign() > 0 {
		return Total{}, fmt.Errorf("charge: pure epsilon admits no Gaussian noise and no delta: %w", ErrUnsupported)
	}
	return total(l.epsilon, l.delta)
}

func (pure) Amounts(t Total) Amounts { return Amounts{Epsilon: epsilonOf(t.Loss)} }

// approx admits while Σε and Σδ stay within the budget.
//
// Theorem (the same, for (ε_i, δ_i)-DP events): stopping before Σε_i > ε or Σδ_i > δ
// gives (ε, δ)-DP. The zCDP events of one request are one (ε(ρ), δ)-DP event, at
// the δ that the request names before anything is released.
type approx struct{ budget Total }

func (approx) Measure() Measure { return Approx }
func (f approx) Budget() Total  { return f.budget }

func (f approx) Charge(events []privacy.Event, delta privacy.Delta) (Total, error) {
	l, err := sum(events)
	if err != nil {
		return Total{}, err
	}
	if l.rho.Sign() > 0 {
		rho, err := privacy.NewRho(l.rho)
		if err != nil {
			return Total{}, fmt.Errorf("charge: %w", err)
		}
		if delta.Sign() == 0 {
			return Total{}, errors.New("charge: Gaussian noise needs a delta in the request")
		}
		eps, err := ZCDPEpsilon(rho, delta)
		if err != nil {
			return Total{}, fmt.Errorf("charge: %w", err)
		}
		l.epsilon.Add(l.epsilon, eps.Rat())
		l.delta.Add(l.delta, delta.Rat())
	}
	return total(l.epsilon, l.delta)
}

func (approx) Amounts(t Total) Amounts {
	return Amounts{Epsilon: epsilonOf(t.Loss), Delta: deltaOf(t.Delta)}
}

// zcdp admits while Σρ and Σδ stay within the budget.
//
// Theorem (Whitehouse, Ramdas, Rogers and Wu 2023, "Fully-Adaptive Composition in
// Differential Privacy", Theorem 1): with adaptively chosen parameters, stopping
// before Σρ_i > ρ or Σδ_i > δ_sel gives δ_sel-approximate ρ-zCDP. Condition: every
// event is δ_i-approximate ρ_i-zCDP given the answers before.
//
// δ_sel-approximate ρ-zCDP is (ε, δ_sel + δ_conv)-DP where ρ-zCDP is (ε,
// δ_conv)-DP: but for mass δ_sel, the two output distributions are those of a
// ρ-zCDP mechanism (Bun and Steinke 2016, section 8). The budget's δ is split
// here, once, so that no later choice can depend on answers.
type zcdp struct{ budget Total }

func newZCDP(b Budget) (Filter, error) {
	conversion := b.Delta.Rat()
	conversion.Sub(conversion, b.SelectionDelta.Rat())
	if conversion.Sign() <= 0 {
		return nil, errors.New("selection_delta leaves nothing of delta to convert rho with")
	}
	delta, err := privacy.NewDelta(conversion)
	if err != nil {
		return nil, err
	}
	rho, err := ZCDPRho(b.Epsilon, delta)
	if err != nil {
		return nil, err
	}
	budget := Total{floorUnits(rho.Rat()), floorUnits(b.SelectionDelta.Rat())}
	if budget.Loss.Sign() == 0 {
		return nil, errors.New("epsilon leaves a rho below 1e-40")
	}
	return zcdp{budget}, nil
}

func (zcdp) Measure() Measure { return ZCDP }
func (f zcdp) Budget() Total  { return f.budget }

func (f zcdp) Charge(events []privacy.Event, _ privacy.Delta) (Total, error) {
	l, err := sum(events)
	if err != nil {
		return Total{}, err
	}
	return total(l.rho.Add(l.rho, l.halfSquares), l.delta)
}

func (zcdp) Amounts(t Total) Amounts {
	return Amounts{Rho: rhoOf(t.Loss), Delta: deltaOf(t.Delta)}
}

// One unit times a count: sums of admitted amounts may exceed what NewEpsilon and
// the others admit from outside.

func epsilonOf(u Units) privacy.Epsilon { return scale(privacy.NewEpsilon, u) }
func deltaOf(u Units) privacy.Delta     { return scale(privacy.NewDelta, u) }
func rhoOf(u Units) privacy.Rho         { return scale(privacy.NewRho, u) }

func scale[A interface{ MulRat(*big.Rat) A }](amount func(*big.Rat) (A, error), u Units) A {
	unit, err := amount(Units{big.NewInt(1)}.Rat())
	if err != nil {
		panic("filter: the unit is not an amount: " + err.Error())
	}
	return unit.MulRat(new(big.Rat).SetInt(u.int()))
}
