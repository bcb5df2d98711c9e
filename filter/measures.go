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
type pure struct{ base }

func (pure) Measure() Measure { return Pure }

func (f pure) Charge(events []privacy.Event, _ privacy.Delta) (Total, error) {
	l, err := sum(events, f.neighbours, func(e privacy.Event) (loss, error) {
		eps, delta, ok := point(e)
		if !ok || delta.Sign() > 0 {
			return loss{}, unsupported(e, "pure epsilon admits no Gaussian noise and no delta")
		}
		return loss{main: eps}, nil
	})
	if err != nil {
		return Total{}, err
	}
	return total(l.main, l.delta)
}

func (pure) Amounts(t Total) Amounts { return Amounts{Epsilon: epsilonOf(t.Loss)} }

// Implies: ε-DP is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4).
func (pure) Implies(t Total) (Amounts, error) {
	return Amounts{Epsilon: epsilonOf(t.Loss), Rho: rhoOfRat(halfSquare(t.Loss.Rat()))}, nil
}

// approx admits while Σε and Σδ stay within the budget.
//
// Theorem (the same, for (ε_i, δ_i)-DP events): stopping before Σε_i > ε or Σδ_i > δ
// gives (ε, δ)-DP. The zCDP events of one request are one (ε(ρ), δ)-DP event, at
// the δ that the request names before anything is released.
type approx struct{ base }

func (approx) Measure() Measure { return Approx }

func (f approx) Charge(events []privacy.Event, delta privacy.Delta) (Total, error) {
	l, err := sum(events, f.neighbours, pointPrice(func(eps *big.Rat) *big.Rat { return eps }))
	if err != nil {
		return Total{}, err
	}
	if l.rho.Sign() > 0 {
		eps, err := convert(l.rho, delta)
		if err != nil {
			return Total{}, err
		}
		l.plus(loss{main: eps, delta: delta.Rat()}, big.NewRat(1, 1))
	}
	return total(l.main, l.delta)
}

func (approx) Amounts(t Total) Amounts {
	return Amounts{Epsilon: epsilonOf(t.Loss), Delta: deltaOf(t.Delta)}
}

func (f approx) Implies(t Total) (Amounts, error) { return f.Amounts(t), nil }

// pointPrice prices (ε, δ) points by a function of ε, and leaves the zCDP events
// that are none to be converted together.
func pointPrice(of func(eps *big.Rat) *big.Rat) price {
	return func(e privacy.Event) (loss, error) {
		if eps, delta, ok := point(e); ok {
			return loss{main: of(eps), delta: delta}, nil
		}
		if rho, ok := concentrated(e); ok {
			return loss{rho: rho}, nil
		}
		return loss{}, unsupported(e, "it has no (epsilon, delta)")
	}
}

var errNeedsDelta = errors.New("charge: Gaussian noise needs a delta in the request")

// convert returns the epsilon of ρ-zCDP at the δ of a request.
func convert(rho *big.Rat, delta privacy.Delta) (*big.Rat, error) {
	r, err := privacy.NewRho(rho)
	if err != nil {
		return nil, fmt.Errorf("charge: %w", err)
	}
	if delta.Sign() == 0 {
		return nil, errNeedsDelta
	}
	eps, err := ZCDPEpsilon(r, delta)
	if err != nil {
		return nil, fmt.Errorf("charge: %w", err)
	}
	return eps.Rat(), nil
}

// zcdp admits while Σρ and Σδ stay within the budget.
//
// Theorem (Whitehouse, Ramdas, Rogers and Wu 2023, "Fully-Adaptive Composition in
// Differential Privacy", Theorem 1): with adaptively chosen parameters, stopping
// before Σρ_i > ρ or Σδ_i > δ_sel gives δ_sel-approximate ρ-zCDP. Condition: every
// event is δ_i-approximate ρ_i-zCDP given the answers before. ε-DP is ε²/2-zCDP
// (Bun and Steinke 2016, Proposition 1.4); how events with a delta count, and what
// they add to δ, is said at splitDelta.
type zcdp struct {
	base
	conversion privacy.Delta
}

func newZCDP(b base, conversion privacy.Delta) (Filter, error) {
	rho, err := ZCDPRho(b.epsilon, conversion)
	if err != nil {
		return nil, err
	}
	b.budget.Loss = floorUnits(rho.Rat())
	if b.budget.Loss.Sign() == 0 {
		return nil, errors.New("epsilon leaves a rho below 1e-40")
	}
	return zcdp{b, conversion}, nil
}

func (zcdp) Measure() Measure { return ZCDP }

func (f zcdp) Charge(events []privacy.Event, _ privacy.Delta) (Total, error) {
	l, err := sum(events, f.neighbours, func(e privacy.Event) (loss, error) {
		if rho, ok := concentrated(e); ok {
			return loss{main: rho}, nil
		}
		if eps, delta, ok := point(e); ok {
			return loss{main: halfSquare(eps), delta: delta}, nil
		}
		return loss{}, unsupported(e, "it has no rho")
	})
	if err != nil {
		return Total{}, err
	}
	return total(l.main, l.delta)
}

func (zcdp) Amounts(t Total) Amounts {
	return Amounts{Rho: rhoOf(t.Loss), Delta: deltaOf(t.Delta)}
}

func (f zcdp) Implies(t Total) (Amounts, error) {
	a := f.Amounts(t)
	if t.Loss.Sign() == 0 {
		return a, nil
	}
	eps, err := ZCDPEpsilon(a.Rho, f.conversion)
	a.Epsilon, a.Delta = eps, a.Delta.Add(f.conversion)
	return a, err
}

func halfSquare(r *big.Rat) *big.Rat {
	s := new(big.Rat).Mul(r, r)
	return s.Quo(s, big.NewRat(2, 1))
}

// splitDelta takes from a budget's δ what is kept for events with a δ of their own
// (δ_sel, Budget.SelectionDelta) and returns the rest, which the measure's
// conversion to (ε, δ_conv) may use. It is split once, so that no later choice can
// depend on answers.
//
// Theorem. Let a filter be such that, with δ_i = 0 throughout, what it admits is
// (ε, δ_conv)-DP. If every event is δ_i-approximately what it is charged as (its two
// output distributions are, but for parts of mass δ_i, two distributions P', Q' for
// which the charge holds), and the filter also stops before Σδ_i > δ_sel, then what
// it admits is (ε, δ_conv + δ_sel)-DP.
//
// Proof. Let p', q' be the densities of whole transcripts under the P' and Q' alone,
// and w = Π(1-δ_i), which depends on the transcript alone. Then ∫(p' - e^ε q')⁺ <=
// δ_conv by assumption, because the filter's decisions depend on the transcript. The
// true P has density w·p' on transcripts without an exceptional part, and gives the
// others 1 - E[w] <= E[Σδ_i] <= δ_sel; the true Q has density w·q' at least. So P(S) <=
// ∫_S w·p' + δ_sel <= e^ε Q(S) + δ_conv + δ_sel. (For zCDP this is Bun and Steinke 2016,
// section 8, and Whitehouse et al. 2023, Theorem 1.)
//
// A pair of (ε, δ)-indistinguishable distributions is, but for a part of mass δ, a
// pair of ε-indistinguishable ones, because both are made from one (ε, δ)-randomized
// response (Kairouz, Oh and Viswanath 2015, "The Composition Theorem for
// Differential Privacy"). So (ε, δ)-DP events are δ-approximately ε-DP ones.
func splitDelta(b Budget) (privacy.Delta, error) {
	rest := b.Delta.Rat()
	rest.Sub(rest, b.SelectionDelta.Rat())
	if rest.Sign() <= 0 {
		return privacy.Delta{}, errors.New("selection_delta leaves nothing of delta for the conversion to epsilon")
	}
	return privacy.NewDelta(rest)
}
