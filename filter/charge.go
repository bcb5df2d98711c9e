package filter

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// loss is what the events of one request imply, summed exactly by kind: parts
// that are (epsilon, delta)-DP, squares of those epsilons, and zCDP parts. It is
// rounded once, by the filter, so that three thirds of a budget fit it.
type loss struct {
	epsilon, halfSquares, delta, rho *big.Rat
}

func sum(events []privacy.Event) (loss, error) {
	l := loss{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)}
	if len(events) == 0 {
		return loss{}, fmt.Errorf("charge: no events")
	}
	for _, e := range events {
		if e == nil {
			return loss{}, fmt.Errorf("charge: an event is missing")
		}
		if err := e.Validate(); err != nil {
			return loss{}, fmt.Errorf("charge: %w", err)
		}
		if err := l.add(e, big.NewRat(1, 1)); err != nil {
			return loss{}, err
		}
	}
	return l, nil
}

// add counts e as many times as count says.
func (l *loss) add(e privacy.Event, count *big.Rat) error {
	times := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, count) }
	point := func(eps, delta *big.Rat) {
		l.epsilon.Add(l.epsilon, times(eps))
		// ε-DP implies ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4), and
		// (ε, δ)-DP implies δ-approximate ε²/2-zCDP: a pair of (ε, δ)-
		// indistinguishable distributions is, but for a part of mass δ, a pair of
		// ε-indistinguishable ones, because both are made from one (ε, δ)-randomized
		// response (Kairouz, Oh and Viswanath 2015, "The Composition Theorem for
		// Differential Privacy").
		half := new(big.Rat).Mul(eps, eps)
		l.halfSquares.Add(l.halfSquares, times(half.Quo(half, big.NewRat(2, 1))))
		l.delta.Add(l.delta, times(delta))
	}
	switch e := e.(type) {
	// A shift by S of noise with scale b changes no probability by more than
	// e^(S/b) (Dwork et al. 2006; over a grid, Ghosh et al. 2009).
	case privacy.Laplace:
		point(new(big.Rat).Quo(e.Sensitivity, e.Scale), new(big.Rat))
	case privacy.DiscreteLaplace:
		point(new(big.Rat).Quo(e.Sensitivity, e.Scale), new(big.Rat))
	// Gaussian noise is S²/(2σ²)-zCDP (Bun and Steinke 2016, Proposition 1.6), the
	// discrete one with independent coordinates on the grid too (Canonne, Kamath
	// and Steinke 2020, Theorem 4 and its multivariate form).
	case privacy.Gaussian:
		l.addRho(e.SensitivitySquared, e.Variance, count)
	case privacy.DiscreteGaussian:
		l.addRho(e.SensitivitySquared, e.Variance, count)
	case privacy.ZCDP:
		l.rho.Add(l.rho, times(e.Rho.Rat()))
	case privacy.Pure:
		point(e.Epsilon.Rat(), new(big.Rat))
	case privacy.Approx:
		point(e.Epsilon.Rat(), e.Delta.Rat())
	case privacy.Selection:
		point(e.Epsilon.Rat(), e.Delta.Rat())
	case privacy.Repeat:
		return l.add(e.Event, times(new(big.Rat).SetInt64(int64(e.Count))))
	default:
		return fmt.Errorf("charge: event %v: %w", e, ErrUnsupported)
	}
	return nil
}

func (l *loss) addRho(square, variance, count *big.Rat) {
	rho := new(big.Rat).Quo(square, variance)
	rho.Quo(rho, big.NewRat(2, 1))
	l.rho.Add(l.rho, rho.Mul(rho, count))
}

// total rounds a charge up to units. What costs nothing even so is refused: the
// caller asked for something.
func total(loss, delta *big.Rat) (Total, error) {
	t := Total{ceilUnits(loss), ceilUnits(delta)}
	if t.Loss.Sign() == 0 && t.Delta.Sign() == 0 {
		return Total{}, fmt.Errorf("charge: the events cost nothing")
	}
	return t, nil
}
