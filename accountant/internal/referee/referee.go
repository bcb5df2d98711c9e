// Package referee evaluates privacy profiles slowly and plainly, in intervals of 256
// bits that are rounded outward: what the fast accountants, which work in float64 and
// bound their own errors, are held against.
//
// It guarantees that the interval it returns for δ(ε) holds the truth for the pair of
// laws, or the family of mechanisms, that is named. It shares no code with the other
// accountants, and has no transform, saddle point or search: closed forms and sums
// over outcomes. It is no accountant: it knows few events, few of them at a time, and
// takes milliseconds for what others do in microseconds.
package referee

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// An Interval holds a real number between certified bounds.
type Interval = numeric.Interval

// A Profile returns an interval that holds δ(ε) = sup_S P(S) - e^ε Q(S), for every
// ε >= 0 in its argument.
type Profile func(epsilon Interval) Interval

// At is the profile at one rational.
func (p Profile) At(epsilon *big.Rat) Interval { return p(numeric.Of(epsilon)) }

// Worse is the greater of two profiles everywhere: of two directions, say.
func (p Profile) Worse(q Profile) Profile {
	return func(eps Interval) Interval { return p(eps).Max(q(eps)) }
}

func zero() Interval { return numeric.OfInt(0) }
func one() Interval  { return numeric.OfInt(1) }
func two() Interval  { return numeric.OfInt(2) }

// least and most are ends of what Interval.Exp takes, with room; numbers below small
// are those whose square does not count.
func least() Interval { return numeric.OfInt(-1 << 19) }
func most() Interval  { return numeric.OfInt(1 << 19) }
func small() Interval { return numeric.OfFloat(0x1p-100) }

// exp returns e^x, also where that is very small.
func exp(x Interval) Interval {
	if x.Cmp(least()) < 0 {
		return zero().Hull(least().Exp())
	}
	return x.Exp()
}

// fall returns 1 - e^-x for x >= 0, without cancellation: between x - x²/2 and x.
func fall(x Interval) Interval {
	if x.Cmp(small()) < 0 {
		return positive(x.Sub(x.Mul(x))).Hull(x)
	}
	return positive(one().Sub(exp(x.Neg())))
}

// log1p returns ln(1+x) for x >= 0, without cancellation: between x - x²/2 and x.
func log1p(x Interval) Interval {
	if x.Cmp(small()) < 0 {
		return x.Sub(x.Mul(x)).Hull(x)
	}
	return one().Add(x).Log()
}

// rise returns e^x - 1 for x >= 0, without cancellation: below 1, between x and x + x².
func rise(x Interval) Interval {
	if x.Cmp(small()) < 0 {
		return x.Hull(x.Add(x.Mul(x)))
	}
	return exp(x).Sub(one())
}

// positive returns max(0, x).
func positive(x Interval) Interval { return x.Max(zero()) }

// decreasing makes a profile of a function of one number, which falls.
func decreasing(f func(eps Interval) Interval) Profile {
	return func(eps Interval) Interval {
		lo, hi := eps.Ends()
		if lo.Cmp(hi) == 0 { // one() number
			return f(eps)
		}
		return f(hi).Hull(f(lo))
	}
}
