package filter

import (
	"errors"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// gdp admits while Σμ² and Σδ stay within the budget.
//
// Theorem (Smith and Thakurta 2022, "Fully Adaptive Composition for Gaussian
// Differential Privacy"; Koskela, Tobaben and Honkela 2023, "Individual Privacy
// Accounting with Gaussian Differential Privacy"): if every event is μ_i-GDP given
// the answers before, with μ_i chosen adaptively, stopping before Σμ_i² > μ² gives
// μ-GDP. (f-DP in general has no such filter: the trade-off curves of two plans may
// cross, and whoever chooses between them by the answers gets the worse of both.
// Those of Gaussians are ordered.)
//
// Proof. h(m, L) = E[(1 - e^(ε-L-Z))⁺], Z ~ N(m/2, m), is what an adversary at loss L
// gains with m of the budget left, if he spends it on Gaussian noise at once. A μ_i-GDP
// event is post-processing of N(0,1) or N(μ_i,1), of which he could see all; the loss
// of that is N(μ_i²/2, μ_i²), after which he gains h(m-μ_i², ·), in the mean h(m, L)
// again, because normal distributions convolve to one. h increases in m, so stopping
// early does not help: from the start, no adversary gains more than h(μ², 0), which is
// δ(ε) of μ-GDP.
//
// The cap is the largest μ² found for which (Dong, Roth and Su 2022, Corollary 1)
//
//	δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) <= δ_conv.
type gdp struct {
	base
	conversion privacy.Delta
}

func newGDP(b base, conversion privacy.Delta) (Filter, error) {
	eps, target := b.epsilon.Rat(), conversion.Rat()
	f, l := b.epsilon.Float64(), logFloat(target)
	guess := root(func(s float64) bool { return logGDPDelta(f, math.Sqrt(s)) >= l })
	square, ok := boundary(guess, -1, func(s *big.Rat) bool {
		return gdpDelta(eps, s).Hi().Cmp(target) <= 0
	})
	if !ok {
		return nil, errors.New("epsilon and delta leave no mu that can be certified")
	}
	b.budget.Loss = floorUnits(square)
	if b.budget.Loss.Sign() == 0 {
		return nil, errors.New("epsilon leaves a mu^2 below 1e-40")
	}
	return gdp{b, conversion}, nil
}

// boundary returns the last decimal of nine digits on the safe side of a boundary that
// was found about in floating point. The safe predicate, which is exact, holds below
// the boundary if direction is -1, and above it if 1. So the result is the same on
// every machine, whatever its floating-point unit does.
func boundary(guess float64, direction int64, safe func(*big.Rat) bool) (*big.Rat, bool) {
	g, err := numeric.FromFloat(guess)
	if err != nil || g.Sign() <= 0 {
		return nil, false
	}
	at := numeric.FloorDigits(g, 9)
	unit := new(big.Rat).Sub(numeric.CeilDigits(new(big.Rat).Add(at, new(big.Rat).Quo(at, big.NewRat(1e15, 1))), 9), at)
	moved := func(n int64) *big.Rat {
		return new(big.Rat).Add(at, new(big.Rat).Mul(unit, big.NewRat(n, 1)))
	}
	holds := func(n int64) bool { r := moved(n * direction); return r.Sign() > 0 && safe(r) }
	// n counts from the guess into safety: gallop to a bracket, then halve it.
	lo, hi := int64(0), int64(0) // lo does not hold, hi does
	if holds(0) {
		for step := int64(1); ; step *= 2 {
			if lo = hi - step; step > 1<<20 {
				return nil, false
			} else if !holds(lo) {
				break
			}
			hi = lo
		}
	} else {
		for step := int64(1); ; step *= 2 {
			if hi = lo + step; step > 1<<20 {
				return nil, false
			} else if holds(hi) {
				break
			}
			lo = hi
		}
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return moved(hi * direction), true
}

// gdpDelta returns δ(ε) of μ-GDP, for μ² = square.
func gdpDelta(eps, square *big.Rat) numeric.Interval {
	e, mu := numeric.Of(eps), numeric.Of(square).Sqrt()
	half := mu.Quo(numeric.OfInt(2))
	ratio := e.Quo(mu)
	return ratio.Sub(half).NormalTail().Sub(e.Exp().Mul(ratio.Add(half).NormalTail()))
}

// logGDPDelta returns about ln δ(ε) of μ-GDP. With u, v = ε/μ ∓ μ/2, e^ε φ(v) = φ(u),
// so that δ = φ(u)·(M(u) - M(v)), M being Mills' ratio.
func logGDPDelta(eps, mu float64) float64 {
	u, v := eps/mu-mu/2, eps/mu+mu/2
	if u < -30 {
		return 0
	}
	return -u*u/2 - math.Log(2*math.Pi)/2 + math.Log(mills(u)-mills(v))
}

// mills returns about P(N > x) / φ(x).
func mills(x float64) float64 {
	if x < 8 {
		return math.Erfc(x/math.Sqrt2) / 2 * math.Sqrt(2*math.Pi) * math.Exp(x*x/2)
	}
	z := x
	for n := 60.0; n > 0; n-- {
		z = x + n/z
	}
	return 1 / z
}

func (gdp) Measure() Measure { return GDP }

func (f gdp) Charge(events []privacy.Event, _ privacy.Delta) (Total, error) {
	l, err := sum(events, f.neighbours, func(e privacy.Event) (loss, error) {
		if square, ok := gaussianSquare(e); ok {
			return loss{main: square}, nil
		}
		if eps, delta, ok := point(e); ok {
			square, err := responseSquare(eps)
			return loss{main: square, delta: delta}, err
		}
		return loss{}, unsupported(e, "it is not known to be Gaussian differentially private")
	})
	if err != nil {
		return Total{}, err
	}
	return total(l.main, l.delta)
}

// responseSquare returns μ² of an ε-DP event, rounded up: μ = 2Φ⁻¹(e^ε/(1+e^ε)) is the
// least.
//
// Proof. ε-DP has the trade-off curve of ε-randomized response, two straight lines
// that meet at (α, β) with α = β = 1/(1+e^ε) (Dong, Roth and Su 2022, Proposition 3).
// The curve of μ-GDP, Φ(Φ⁻¹(1-α) - μ), passes through the same point and the same ends
// (0,1) and (1,0); it is convex, hence below the lines everywhere.
//
// For ε <= 1/1000, μ² = πε²/2 is little more: with y = ε√(π/8), Φ(y) - ½ >= (y - y³/6)/√(2π)
// = ε/4 - πε³/192, which exceeds ½tanh(ε/2) = e^ε/(1+e^ε) - ½ <= ε/4 - ε³/48 + ε⁵/480.
func responseSquare(eps *big.Rat) (*big.Rat, error) {
	if eps.Cmp(big.NewRat(1, 1000)) <= 0 {
		halfPi := new(big.Rat).SetFrac(big.NewInt(1570796326794896620), numeric.Pow10(18)) // rounded up
		return halfPi.Mul(halfPi, square(eps)), nil
	}
	if eps.Cmp(big.NewRat(1<<20, 1)) > 0 { // beyond, there are no intervals of e^ε
		return nil, errors.New("no mu is certified for an epsilon above 1048576")
	}
	one := numeric.OfInt(1)
	tail := one.Quo(one.Add(numeric.Of(eps).Exp())) // of half of μ
	log, _ := tail.Log().Neg().Lo().Float64()
	guess := root(func(square float64) bool {
		x := math.Sqrt(square) / 2
		return x*x/2+math.Log(2*math.Pi)/2-math.Log(mills(x)) >= log
	})
	s, ok := boundary(guess, 1, func(s *big.Rat) bool {
		return numeric.Of(s).Sqrt().Quo(numeric.OfInt(2)).NormalTail().Hi().Cmp(tail.Lo()) <= 0
	})
	if !ok {
		return nil, errors.New("no mu can be certified for epsilon " + numeric.FormatRat(eps))
	}
	return s, nil
}

func (gdp) Amounts(t Total) Amounts {
	return Amounts{MuSquared: lossOf(t.Loss), Delta: deltaOf(t.Delta)}
}

// Implies: μ-GDP is μ²/2-zCDP; see concentrated.
func (f gdp) Implies(t Total) (Amounts, error) {
	s := t.Loss.Rat()
	a := Amounts{Rho: rhoOfRat(new(big.Rat).Quo(s, big.NewRat(2, 1))), Delta: deltaOf(t.Delta)}
	if s.Sign() == 0 {
		return a, nil
	}
	target := f.conversion.Rat()
	square, _ := s.Float64()
	l := logFloat(target)
	guess := root(func(eps float64) bool { return logGDPDelta(eps, math.Sqrt(square)) <= l })
	eps, ok := boundary(guess, 1, func(eps *big.Rat) bool {
		return gdpDelta(eps, s).Hi().Cmp(target) <= 0
	})
	if budget := f.epsilon.Rat(); t.Loss.Cmp(f.budget.Loss) <= 0 && (!ok || eps.Cmp(budget) > 0) {
		eps = budget // the limit of the loss was certified for this epsilon
	} else if !ok {
		return a, errors.New("no epsilon can be certified for mu^2 " + numeric.FormatRat(s))
	}
	e, err := privacy.NewEpsilon(eps)
	a.Epsilon, a.Delta = e, a.Delta.Add(f.conversion)
	return a, err
}
