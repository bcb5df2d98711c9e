package filter

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// The optimal known conversion from zCDP (Canonne, Kamath and Steinke 2020,
// "The Discrete Gaussian for Differential Privacy", Proposition 12 and Corollary
// 13; better than that of Bun and Steinke 2016). A ρ-zCDP mechanism has Rényi
// divergence at most αρ for every α > 1, and so is (ε, δ)-DP whenever, for some
// α > 1,
//
//	δ >= exp((α-1)(αρ-ε)) / (α-1) · (1-1/α)^α.
//
// With t = α-1 > 0, L = ln 1/δ and g(t) = -t·ln(1+1/t) - ln(1+t), that is
//
//	ln δ >= t((1+t)ρ - ε) + g(t)
//	ε    >= (1+t)ρ + (L + g(t))/t
//	ρ    <= (ε - (L + g(t))/t) / (1+t).
//
// Any t is valid, so t is sought in floating point, to make the bound good, and
// the bound itself is computed at that t with every rounding against the
// spender.

// digits of a conversion's result, or of another number that is not rational; it is
// rounded to them in the safe direction.
const digits = 30

// ZCDPEpsilon returns an epsilon for which every rho-zCDP mechanism is (epsilon,
// delta)-DP: the least that the conversion shows, rounded up in the 30th digit.
// Delta must be positive, unless rho is zero.
func ZCDPEpsilon(rho privacy.Rho, delta privacy.Delta) (privacy.Epsilon, error) {
	if rho.Sign() == 0 {
		return privacy.Epsilon{}, nil
	}
	l, err := logInverse(delta)
	if err != nil {
		return privacy.Epsilon{}, err
	}
	t := numeric.OfFloat(orderForEpsilon(rho.Float64(), -logFloat(delta.Rat())))
	one := numeric.OfInt(1)
	eps := one.Add(t).Mul(numeric.Of(rho.Rat())).Add(l.Add(g(t)).Quo(t))
	e, err := privacy.NewEpsilon(numeric.CeilDigits(eps.Hi(), digits)) // a bound below 0 gives 0
	if err != nil {
		return privacy.Epsilon{}, fmt.Errorf("convert rho %v at delta %v: %w", rho, delta, err)
	}
	return e, nil
}

// ZCDPDelta returns a delta for which every rho-zCDP mechanism is (epsilon,
// delta)-DP: the least that the conversion shows, rounded up in the 30th digit.
func ZCDPDelta(rho privacy.Rho, epsilon privacy.Epsilon) (privacy.Delta, error) {
	if rho.Sign() == 0 {
		return privacy.Delta{}, nil
	}
	t := numeric.OfFloat(orderForDelta(rho.Float64(), epsilon.Float64()))
	exponent := numeric.OfInt(1).Add(t).Mul(numeric.Of(rho.Rat())).Sub(numeric.Of(epsilon.Rat()))
	exponent = exponent.Mul(t).Add(g(t))
	if exponent.Hi().Sign() >= 0 {
		return privacy.Delta{}, fmt.Errorf("convert rho %v at epsilon %v: delta is not below 1", rho, epsilon)
	}
	// The least delta that can be written, 1e-300, stands for all below it.
	delta := new(big.Rat).SetFrac(big.NewInt(1), numeric.Pow10(300))
	if exponent.Hi().Cmp(big.NewRat(-690, 1)) > 0 { // ln 1e-300 < -690
		delta = numeric.CeilDigits(exponent.Exp().Hi(), digits)
	}
	d, err := privacy.NewDelta(delta)
	if err != nil {
		return privacy.Delta{}, fmt.Errorf("convert rho %v at epsilon %v: %w", rho, epsilon, err)
	}
	return d, nil
}

// ZCDPRho returns a rho for which every rho-zCDP mechanism is (epsilon,
// delta)-DP: the largest that the conversion shows, rounded down in the 18th
// digit. ZCDPEpsilon of the result is at most epsilon. Both must be positive.
func ZCDPRho(epsilon privacy.Epsilon, delta privacy.Delta) (privacy.Rho, error) {
	if epsilon.Sign() == 0 {
		return privacy.Rho{}, errors.New("convert epsilon to rho: epsilon is not positive")
	}
	l, err := logInverse(delta)
	if err != nil {
		return privacy.Rho{}, err
	}
	t := numeric.OfFloat(orderForRho(epsilon.Float64(), -logFloat(delta.Rat())))
	one := numeric.OfInt(1)
	bound := numeric.Of(epsilon.Rat()).Sub(l.Add(g(t)).Quo(t)).Quo(one.Add(t))
	// The conversion back seeks a t of its own, whose epsilon may be greater by the
	// square of that search's error: leave it room, so that the noise calibrated
	// for an epsilon is never charged more.
	room := new(big.Rat).SetFrac(new(big.Int).Sub(numeric.Pow10(18), big.NewInt(1)), numeric.Pow10(18))
	rho, err := privacy.NewRho(numeric.FloorDigits(room.Mul(room, bound.Lo()), digits))
	if err == nil && rho.Sign() == 0 {
		err = errors.New("rho is too small")
	}
	if err != nil {
		return privacy.Rho{}, fmt.Errorf("convert epsilon %v at delta %v: %w", epsilon, delta, err)
	}
	return rho, nil
}

// logInverse returns ln 1/delta.
func logInverse(delta privacy.Delta) (numeric.Interval, error) {
	if delta.Sign() == 0 || delta.Rat().Cmp(big.NewRat(1, 1)) >= 0 {
		return numeric.Interval{}, fmt.Errorf("convert zCDP: delta %v does not lie between 0 and 1", delta)
	}
	return numeric.Of(delta.Rat()).Log().Neg(), nil
}

func g(t numeric.Interval) numeric.Interval {
	one := numeric.OfInt(1)
	return t.Mul(one.Add(one.Quo(t)).Log()).Add(one.Add(t).Log()).Neg()
}

// The search for t, in floating point. Each of the two bounds is least where its
// derivative in t vanishes; both derivatives, times a positive factor, increase
// in t, so bisection finds their root.

func orderForDelta(rho, epsilon float64) float64 {
	return root(func(t float64) bool { return (2*t+1)*rho-epsilon-math.Log1p(1/t) >= 0 })
}

func orderForEpsilon(rho, l float64) float64 {
	return root(func(t float64) bool { return rho*t*t+math.Log1p(t)-l >= 0 })
}

// orderForRho finds the largest rho whose epsilon stays below the given one, and
// returns its t.
func orderForRho(epsilon, l float64) float64 {
	gf := func(t float64) float64 { return -t*math.Log1p(1/t) - math.Log1p(t) }
	rho := root(func(rho float64) bool {
		t := orderForEpsilon(rho, l)
		return (1+t)*rho+(l+gf(t))/t >= epsilon
	})
	return orderForEpsilon(rho, l)
}

// root returns about the least x between e^-700 and e^700 of which the
// increasing predicate holds.
func root(holds func(float64) bool) float64 {
	lo, hi := -700.0, 700.0
	for range 80 {
		if mid := (lo + hi) / 2; holds(math.Exp(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Exp(hi)
}

// logFloat returns about ln r, without leaving float64's range for an r that
// does.
func logFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return math.Log(f)
}
