package filter

import (
	"errors"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// rdp admits while the sum of Rényi divergences at one order α, which is fixed
// with the budget, and Σδ stay within the budget.
//
// Theorem (Feldman and Zrnic 2021, "Individual Privacy Accounting via a Rényi
// Filter"; Lécuyer 2021, "Practical Privacy Filters and Odometers with Rényi
// Differential Privacy"): if every event has Rényi divergence of order α at most R_i
// given the answers before, with R_i chosen adaptively, stopping before ΣR_i > R gives
// divergence at most R.
//
// Proof. With densities p, q of the transcript so far, E_q[(p/q)^α]·exp(-(α-1)ΣR_i) is a
// supermartingale, because R_i is known before the i-th answer, and ΣR_i <= R on every
// path. It needs one α: a sum that may be small at some order, whichever, is not
// bounded at any of them.
//
// The conversion to (ε, δ_conv) is that of Canonne, Kamath and Steinke 2020,
// Proposition 12: R = ε - (ln(1/δ) + g(α-1))/(α-1), with g as in ZCDPEpsilon.
//
// The order is the one at which the budget admits most Gaussian noise: it makes
// R(α)/α greatest, so that with Gaussian noise alone rdp admits what zcdp does, and
// more with Laplace noise. It depends on ε and δ_conv alone and is rounded to six
// digits, so that every machine finds the same.
type rdp struct {
	base
	conversion privacy.Delta
	t          *big.Rat // α - 1
}

func newRDP(b base, conversion privacy.Delta) (Filter, error) {
	l, err := logInverse(conversion)
	if err != nil {
		return nil, err
	}
	best, err := numeric.FromFloat(orderForRho(b.epsilon.Float64(), -logFloat(conversion.Rat())))
	if err != nil {
		return nil, err
	}
	t := numeric.FloorDigits(best, 6)
	i := numeric.Of(t)
	b.budget.Loss = floorUnits(numeric.FloorDigits(numeric.Of(b.epsilon.Rat()).Sub(l.Add(g(i)).Quo(i)).Lo(), digits))
	if b.budget.Loss.Sign() <= 0 {
		return nil, errors.New("epsilon leaves a divergence below 1e-40")
	}
	return rdp{b, conversion, t}, nil
}

func (rdp) Measure() Measure { return RDP }

// Order returns the Rényi order of an RDP filter, exactly, and false of others.
func Order(f Filter) (*big.Rat, bool) {
	r, ok := f.(rdp)
	if !ok {
		return nil, false
	}
	return r.order(), true
}

func (f rdp) order() *big.Rat { return new(big.Rat).Add(f.t, big.NewRat(1, 1)) }

func (f rdp) Charge(events []privacy.Event, _ privacy.Delta) (Total, error) {
	l, err := sum(events, f.neighbours, f.price)
	if err != nil {
		return Total{}, err
	}
	return total(l.main, l.delta)
}

func (f rdp) price(e privacy.Event) (loss, error) {
	switch e := e.(type) {
	case privacy.RDP:
		r, err := f.between(e)
		return loss{main: r}, err
	case privacy.Laplace:
		return loss{main: f.laplace(new(big.Rat).Quo(e.Sensitivity, e.Scale))}, nil
	}
	eps, delta, isPoint := point(e)
	rho, isZCDP := concentrated(e)
	if isZCDP { // divergence αρ at every order α
		rho.Mul(rho, f.order())
	}
	switch {
	case isPoint && isZCDP:
		return loss{main: least(rho, f.response(eps)), delta: delta}, nil
	case isPoint:
		return loss{main: f.response(eps), delta: delta}, nil
	case isZCDP:
		return loss{main: rho}, nil
	}
	return loss{}, unsupported(e, "it has no Rényi divergence of a single order")
}

// response returns the largest divergence of an ε-DP event, rounded up: that of
// ε-randomized response, which every such event is made from (Kairouz, Oh and
// Viswanath 2015). With t = α-1,
//
//	R = ln((e^(αε) + e^(-tε)) / (1 + e^ε)) / t = ε + (ln(1 + e^(-(2t+1)ε)) - ln(1 + e^-ε)) / t.
//
// It is at most ε, and at most αε²/2 (Bun and Steinke 2016, Proposition 1.4), which is
// better than the bounds of the difference where ε is tiny.
func (f rdp) response(eps *big.Rat) *big.Rat {
	one, x, t := numeric.OfInt(1), numeric.Of(eps), numeric.Of(f.t)
	ln := func(y numeric.Interval) numeric.Interval { return one.Add(y.Neg().Exp()).Log() }
	r := x.Add(ln(x.Mul(numeric.OfInt(2).Mul(t).Add(one))).Sub(ln(x)).Quo(t))
	return least(least(numeric.CeilDigits(r.Hi(), digits), eps), new(big.Rat).Mul(halfSquare(eps), f.order()))
}

// laplace returns the divergence of Laplace noise with λ = S/b (Mironov 2017, "Rényi
// Differential Privacy", Proposition 6), rounded up. With t = α-1,
//
//	R = λ + ln((t+1)/(2t+1) + t/(2t+1)·e^(-(2t+1)λ)) / t.
//
// t·R is the logarithm of a sum of exponentials of λ, hence convex in λ, and 0 at 0:
// a vector whose shifts add up to S is no worse than one shift by S.
func (f rdp) laplace(lambda *big.Rat) *big.Rat {
	one, x, t := numeric.OfInt(1), numeric.Of(lambda), numeric.Of(f.t)
	both := numeric.OfInt(2).Mul(t).Add(one)
	inner := one.Add(t).Add(t.Mul(both.Mul(x).Neg().Exp())).Quo(both)
	return least(numeric.CeilDigits(x.Add(inner.Log().Quo(t)).Hi(), digits), f.response(lambda))
}

// between returns a bound at the filter's order from those at the event's orders.
// The logarithm of the moment generating function of the loss, (α-1)R(α), is convex
// in α for every pair of neighbours and 0 at α = 1, so it lies below the chord
// between two orders.
func (f rdp) between(e privacy.RDP) (*big.Rat, error) {
	lowT, lowK := new(big.Rat), new(big.Rat) // α-1 and (α-1)R of the order below
	for i, order := range e.Orders {
		t := new(big.Rat).Sub(order, big.NewRat(1, 1))
		k := new(big.Rat).Mul(t, e.Eps[i])
		if t.Cmp(f.t) >= 0 {
			share := new(big.Rat).Quo(new(big.Rat).Sub(f.t, lowT), new(big.Rat).Sub(t, lowT))
			k.Add(lowK, share.Mul(share, k.Sub(k, lowK)))
			return least(k.Quo(k, f.t), e.Eps[i]), nil // R increases in α
		}
		lowT, lowK = t, k
	}
	return nil, unsupported(e, "its orders end below the filter's, "+numeric.FormatRat(f.order()))
}

func (rdp) Amounts(t Total) Amounts {
	return Amounts{Renyi: lossOf(t.Loss), Delta: deltaOf(t.Delta)}
}

func (f rdp) Implies(t Total) (Amounts, error) {
	a := Amounts{Delta: deltaOf(t.Delta)}
	if t.Loss.Sign() == 0 {
		return a, nil
	}
	l, err := logInverse(f.conversion)
	if err != nil {
		return a, err
	}
	i := numeric.Of(f.t)
	eps, err := privacy.NewEpsilon(numeric.CeilDigits(numeric.Of(t.Loss.Rat()).Add(l.Add(g(i)).Quo(i)).Hi(), digits))
	a.Epsilon, a.Delta = eps, a.Delta.Add(f.conversion)
	return a, err
}

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}
