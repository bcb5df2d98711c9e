package filter

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Sums are the running sums that the bounds of Rogers et al. and the odometers
// need: more than the two of a Total, and with no fixed caps. The zero Sums is
// nothing spent.
type Sums struct {
	Drift   Units // Σε(e^ε-1)/2, which bounds the mean of the privacy loss
	Squares Units // Σε², which bounds its variance
	Delta   Units // Σδ
	Epsilon Units // Σε
	NoPoint bool  // some event had no ε, so that Epsilon says nothing
}

// Add returns s + t.
func (s Sums) Add(t Sums) Sums {
	return Sums{s.Drift.add(t.Drift), s.Squares.add(t.Squares), s.Delta.add(t.Delta), s.Epsilon.add(t.Epsilon), s.NoPoint || t.NoPoint}
}

// Times returns n times s, for an n that is not negative.
func (s Sums) Times(n *big.Int) Sums {
	return Sums{s.Drift.times(n), s.Squares.times(n), s.Delta.times(n), s.Epsilon.times(n), s.NoPoint}
}

// SumsOf returns what events add to Sums, rounded up. It refuses events without an
// (ε, δ) point, with an error that wraps ErrUnsupported.
func SumsOf(events []privacy.Event, n privacy.Neighbours) (Sums, error) {
	return sums(events, n, func(e privacy.Event) (cost, error) {
		eps, delta, ok := point(e)
		if !ok {
			return cost{}, unsupported(e, "it has no (epsilon, delta)")
		}
		return cost{drift(eps), square(eps), delta, eps}, nil
	})
}

// A cost is what one event adds to each of the Sums; epsilon is nil if it has none.
type cost struct{ mean, variance, delta, epsilon *big.Rat }

func sums(events []privacy.Event, n privacy.Neighbours, of func(privacy.Event) (cost, error)) (Sums, error) {
	var s Sums
	for _, part := range []struct {
		into *Units
		of   func(cost) *big.Rat
	}{
		{&s.Drift, func(x cost) *big.Rat { return x.mean }},
		{&s.Squares, func(x cost) *big.Rat { return x.variance }},
		{&s.Epsilon, func(x cost) *big.Rat { return x.epsilon }},
	} {
		l, err := sum(events, n, func(e privacy.Event) (loss, error) {
			x, err := of(e)
			s.NoPoint = s.NoPoint || x.epsilon == nil
			return loss{main: part.of(x), delta: x.delta}, err
		})
		if err != nil {
			return Sums{}, err
		}
		*part.into, s.Delta = ceilUnits(l.main), ceilUnits(l.delta)
	}
	return s, nil
}

// drift returns ε(e^ε-1)/2, rounded up; above 100, the value at 100, which is beyond
// every budget already.
func drift(eps *big.Rat) *big.Rat {
	x := numeric.Of(least(eps, big.NewRat(100, 1)))
	return x.Mul(x.Exp().Sub(numeric.OfInt(1))).Quo(numeric.OfInt(2)).Hi()
}

// A RogersFilter is the filter of Rogers et al., to be compared with the others. It
// is no Filter: whitehouse with half of δ for each purpose admits more, whatever the
// events, because ε(e^ε-1) >= ε², and H > 0 below only adds.
//
// Theorem (Rogers, Roth, Ullman and Vadhan 2016, "Privacy Odometers and Filters",
// Theorem 5.1): for ε > 0 and 0 < δ < 1/e, with H = ε²/(28.04 ln(1/δ)), stopping before
// Σδ_i > δ/2 or
//
//	K = Σε_i(e^ε_i - 1)/2 + √(2(S+H)(1 + ½ln(S/H + 1)) ln(2/δ)) > ε, S = Σε_i²,
//
// gives (ε, δ)-DP. Condition: every event is (ε_i, δ_i)-DP given the answers before.
//
// Proof for δ_i = 0; splitDelta adds the rest. See mixture for the martingale's bound at
// the probability d = δ/2, which holds for every H > 0 that is fixed beforehand, so that
// 28.04 is a matter of tightness alone: (S+H)(2ln(1/d) + ln(S/H+1)) is at most the
// product above, because ln(1/d) > 1. The mean of the i-th loss is at most
// ε_i tanh(ε_i/2) <= ε_i(e^ε_i - 1)/2.
type RogersFilter struct {
	epsilon *big.Rat
	h, log  numeric.Interval // H and ln(2/δ)
	half    Units            // δ/2
}

// NewRogersFilter returns the filter of a budget.
func NewRogersFilter(epsilon privacy.Epsilon, delta privacy.Delta) (*RogersFilter, error) {
	if epsilon.Sign() == 0 {
		return nil, errors.New("rogers: epsilon is not positive")
	}
	log, err := logInverse(delta)
	if err != nil {
		return nil, fmt.Errorf("rogers: %w", err)
	}
	if log.Lo().Cmp(big.NewRat(1, 1)) <= 0 {
		return nil, fmt.Errorf("rogers: delta %v is not below 1/e", delta)
	}
	eps := numeric.Of(epsilon.Rat())
	half := delta.Rat()
	return &RogersFilter{
		epsilon: epsilon.Rat(),
		h:       eps.Mul(eps).Quo(numeric.Of(big.NewRat(2804, 100)).Mul(log)),
		log:     log.Add(numeric.OfInt(2).Log()),
		half:    floorUnits(half.Quo(half, big.NewRat(2, 1))),
	}, nil
}

// Bound returns K, rounded up in the 30th digit.
func (f *RogersFilter) Bound(s Sums) (privacy.Epsilon, error) {
	return privacy.NewEpsilon(numeric.CeilDigits(f.bound(s).Hi(), digits))
}

func (f *RogersFilter) bound(s Sums) numeric.Interval {
	one, two, squares := numeric.OfInt(1), numeric.OfInt(2), numeric.Of(s.Squares.Rat())
	log := squares.Quo(f.h).Add(one).Log().Quo(two)
	under := two.Mul(squares.Add(f.h)).Mul(one.Add(log)).Mul(f.log)
	return numeric.Of(s.Drift.Rat()).Add(under.Sqrt())
}

// Admits reports whether the filter goes on when the sums are s.
func (f *RogersFilter) Admits(s Sums) bool {
	return s.Delta.Cmp(f.half) <= 0 && f.bound(s).Hi().Cmp(f.epsilon) <= 0
}
