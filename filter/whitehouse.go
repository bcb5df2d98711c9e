package filter

import (
	"errors"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// whitehouse admits while Σε² and Σδ stay within the budget.
//
// Theorem (Whitehouse, Ramdas, Rogers and Wu 2023, "Fully-Adaptive Composition in
// Differential Privacy", the filter for approximate differential privacy): with
// adaptively chosen (ε_i, δ_i), stopping before
//
//	½S + √(2 ln(1/δ_conv)·S) > ε, S = Σε_i², or Σδ_i > δ_sel
//
// gives (ε, δ_conv+δ_sel)-DP. Condition: every event is (ε_i, δ_i)-DP given the answers
// before.
//
// The first test is increasing in S, so it is S > x for the one x that solves it
// with equality: a cap that is fixed beforehand. That is what makes it valid:
//
// Proof for δ_i = 0; splitDelta adds the rest. Let L_n be the privacy loss of the first
// n answers. By ε_i-DP, E[exp(λℓ_i) | before] <= exp(λ(λ+1)ε_i²/2) for the i-th loss ℓ_i and
// every λ > 0 (this is ε²/2-zCDP at the order λ+1: Bun and Steinke 2016, Proposition
// 1.4), so exp(λL_n - λ(λ+1)S_n/2) is a supermartingale: ε_i is known before the i-th
// answer. The filter keeps S <= x on every path, hence E[exp(λL)] <= exp(λ(λ+1)x/2) at
// the end, and P(L > ε) <= exp(λ(λ+1)x/2 - λε). At λ = √(2 ln(1/δ_conv)/x) and ε = ½x + √(2
// ln(1/δ_conv)x) this is δ_conv. (An S that may exceed x would need one λ for every S.)
//
// So it is the zcdp filter at ρ = x/2 with the conversion of Bun and Steinke 2016, and
// zcdp, which converts better, never admits less of the same events with the same
// split of δ. Gaussian events count as the (ε, δ) that the request names, as in
// approx.
type whitehouse struct {
	base
	conversion privacy.Delta
	log        numeric.Interval
}

func newWhitehouse(b base, conversion privacy.Delta) (Filter, error) {
	log, err := logInverse(conversion)
	if err != nil {
		return nil, err
	}
	// √x = √(2l+2ε) - √(2l), without the cancellation.
	two := numeric.OfInt(2)
	eps := numeric.Of(b.epsilon.Rat())
	root := two.Mul(eps).Quo(two.Mul(log.Add(eps)).Sqrt().Add(two.Mul(log).Sqrt()))
	b.budget.Loss = floorUnits(numeric.FloorDigits(root.Mul(root).Lo(), digits))
	if b.budget.Loss.Sign() == 0 {
		return nil, errors.New("epsilon leaves a sum of squares below 1e-40")
	}
	return whitehouse{b, conversion, log}, nil
}

func (whitehouse) Measure() Measure { return Whitehouse }

func (f whitehouse) Charge(events []privacy.Event, delta privacy.Delta) (Total, error) {
	l, err := sum(events, f.neighbours, pointPrice(square))
	if err != nil {
		return Total{}, err
	}
	if l.rho.Sign() > 0 {
		eps, err := convert(l.rho, delta)
		if err != nil {
			return Total{}, err
		}
		l.plus(loss{main: square(eps), delta: delta.Rat()}, big.NewRat(1, 1))
	}
	return total(l.main, l.delta)
}

func (whitehouse) Amounts(t Total) Amounts {
	return Amounts{EpsilonSquared: lossOf(t.Loss), Delta: deltaOf(t.Delta)}
}

// Implies: the proof above shows ½S-zCDP, but for mass Σδ_i.
func (f whitehouse) Implies(t Total) (Amounts, error) {
	a := Amounts{Rho: rhoOfRat(new(big.Rat).Quo(t.Loss.Rat(), big.NewRat(2, 1))), Delta: deltaOf(t.Delta)}
	if t.Loss.Sign() == 0 {
		return a, nil
	}
	s := numeric.Of(t.Loss.Rat())
	bound := s.Quo(numeric.OfInt(2)).Add(numeric.OfInt(2).Mul(f.log).Mul(s).Sqrt())
	eps, err := privacy.NewEpsilon(numeric.CeilDigits(bound.Hi(), digits))
	a.Epsilon, a.Delta = eps, a.Delta.Add(f.conversion)
	return a, err
}

func square(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }
