package referee

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// laplaceNoise is the profile of Laplace noise, t its sensitivity over its scale:
// 1 - e^((ε-t)/2) (Balle, Barthe and Gaboardi 2018, Theorem 3).
func laplaceNoise(t Interval) Profile {
	return func(eps Interval) Interval { return fall(positive(t.Sub(eps)).Quo(two())) }
}

// boundedRange is the greatest profile, at each ε by itself, of all choices of range
// e: (1 - e^((ε-e)/2))²/(1-e^-e) (Dong, Durfee and Rogers 2020).
func boundedRange(e Interval) Profile {
	return func(eps Interval) Interval {
		root := fall(positive(e.Sub(eps)).Quo(two()))
		return root.Mul(root).Quo(fall(e))
	}
}

// Response is the profile of count randomized responses of odds e^e each, which also
// give everything away with probability lost: by Kairouz, Oh and Viswanath 2015,
// Theorem 3.3, the worst of all compositions of (e, lost)-DP events,
//
//	1 - (1-lost)^count (1 - Σ_l C(count,l) e^(l·e) (1 - e^(ε-(2l-count)e))⁺ / (1+e^e)^count).
func Response(e, lost *big.Rat, count int64) Profile {
	x := numeric.Of(e)
	p := one().Quo(one().Add(exp(x.Neg()))) // of the likelier answer
	odds := exp(x.Neg())
	kept := power(one().Sub(numeric.Of(lost)), count)
	return func(eps Interval) Interval {
		sum := zero()
		mass := power(p, count) // of l = count, and on by the ratio of neighbours
		for l := count; l >= 0; l-- {
			gap := numeric.OfInt(2*l - count).Mul(x).Sub(eps)
			if gap.Cmp(zero()) < 0 {
				break
			}
			sum = sum.Add(mass.Mul(fall(positive(gap))))
			mass = mass.Mul(odds).Mul(numeric.OfInt(l)).Quo(numeric.OfInt(count - l + 1))
		}
		return one().Sub(kept.Mul(one().Sub(sum)))
	}
}

func power(x Interval, n int64) Interval {
	y := one()
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y = y.Mul(x)
		}
		x = x.Mul(x)
	}
	return y
}

// Gaussian is the profile of N(μ,1) against N(0,1) (Balle and Wang 2018, Theorem 8):
// with a = ε/μ - μ/2, b = a + μ, φ the normal density and M(x) = P(N > x)/φ(x),
//
//	δ = P(N > a) - e^ε P(N > b) = φ(a)(M(a) - M(b)) = φ(a) ∫ from a to b of 1 - xM(x) dx.
//
// The integrand is positive and falls, so that for small μ it lies between its ends.
func Gaussian(mu Interval) Profile {
	return decreasing(func(eps Interval) Interval {
		a := eps.Quo(mu).Sub(mu.Quo(two()))
		b := a.Add(mu)
		if a.Cmp(numeric.OfInt(-700)) < 0 {
			// P(N > a) is within e^-2^17 of 1, and P(N > b) e^ε = φ(a)M(b) within that of 0.
			tiny := exp(numeric.OfInt(-1 << 17))
			return one().Sub(zero().Hull(tiny)).Sub(zero().Hull(tiny))
		}
		if b.Cmp(numeric.OfInt(700)) > 0 && a.Cmp(numeric.OfInt(600)) > 0 {
			return zero().Hull(exp(numeric.OfInt(-1 << 17)))
		}
		if mu.Cmp(small()) < 0 {
			return density(a).Mul(mu).Mul(slope(b).Hull(slope(a)))
		}
		if a.Cmp(numeric.OfInt(6)) > 0 {
			return positive(density(a).Mul(mills(a).Sub(mills(b))))
		}
		return positive(tail(a).Sub(density(a).Mul(mills(b))))
	})
}

// tail is P(N > x); mills is that over the density; slope is 1 - x·mills(x).
func tail(x Interval) Interval { return x.NormalTail() }

func density(x Interval) Interval {
	return exp(x.Mul(x).Quo(two()).Neg()).Quo(two().Mul(pi()).Sqrt())
}

// mills is between 1/x - 1/x³ and 1/x for large x.
func mills(x Interval) Interval {
	if x.Cmp(numeric.OfInt(700)) > 0 {
		i := one().Quo(x)
		return i.Sub(i.Mul(i).Mul(i)).Hull(i)
	}
	return x.NormalTail().Quo(density(x))
}

// slope is between 1/x² - 3/x⁴ and 1/x² for large x.
func slope(x Interval) Interval {
	if x.Cmp(numeric.OfInt(700)) > 0 {
		i := one().Quo(x.Mul(x))
		return i.Sub(numeric.OfInt(3).Mul(i).Mul(i)).Hull(i)
	}
	return positive(one().Sub(x.Mul(mills(x))))
}

func pi() Interval {
	return decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899").
		Hull(decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620900"))
}

func decimal(s string) Interval {
	r, err := numeric.ParseRat(s)
	if err != nil {
		panic("referee: " + err.Error())
	}
	return numeric.Of(r)
}

// removed is the profile of an event on a Poisson sample of rate q with the unit on
// P's side, Added with it on Q's, of an event whose own profile is attained (Zhu, Dong
// and Wang 2022, Theorem 11): with α = e^ε
//
//	remove: q·δ(ε'),  e^ε' = (α-1+q)/q
//	add:    c·δ(ε'),  e^ε' = αq/c,  c = 1 - α(1-q), and 0 where c <= 0.
func removed(q *big.Rat, p Profile) Profile {
	rate := numeric.Of(q)
	return decreasing(func(eps Interval) Interval { return rate.Mul(p(before(eps, rate))) })
}

// before is ε' = ln(1 + (e^ε-1)/q). Where ε is large it is above ε - ln q - 2e^-ε/…, as
// ln(1 - (1-q)e^-ε) >= -2e^-ε.
func before(eps, rate Interval) Interval {
	if eps.Cmp(numeric.OfInt(1<<10)) > 0 {
		x := eps.Sub(rate.Log())
		return x.Sub(two().Mul(exp(eps.Neg()))).Hull(x)
	}
	return log1p(rise(eps).Quo(rate))
}

// added is the other direction: see removed.
func added(q *big.Rat, p Profile) Profile {
	rate := numeric.Of(q)
	rest := one().Sub(rate)
	return decreasing(func(eps Interval) Interval {
		if q.Cmp(big.NewRat(1, 1)) == 0 {
			return p(eps)
		}
		if eps.Cmp(most()) > 0 {
			return zero()
		}
		c := rate.Sub(rise(eps).Mul(rest)) // 1 - α + αq = q - (α-1)(1-q)
		if !c.Positive() {
			return zero().Hull(positive(c)) // δ <= 1
		}
		return c.Mul(p(positive(exp(eps).Mul(rate).Quo(c).Log())))
	})
}
