package accountant

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Rényi divergences of events that are pure. Each function returns one of an
// order above 1. To keep what is left of a small divergence, they compute A-1,
// where A = E_Q[(P/Q)^α], as sums of positive terms wherever there is a form
// without cancellation; R = ln(A)/(α-1).

// rdpError bounds the relative error of every Rényi divergence computed here.
//
// Where A-1 is a sum of positive terms, or of a difference that leaves a tenth of its parts,
// some tens of roundings err by at most 2^-52 each. Terms that are exponentials have an
// argument below 700, whose rounding is one of 700·2^-52 of the term; ε, μ and q are
// rounded numbers themselves, and α²ε² or αε next to 700 is what becomes of that. Together
// that is below 1000·2^-52 < 1e-12/4. ln(1+m)/(α-1) adds two roundings, as α-1 is exact.
// Where A itself is summed, as it is above e^600 and of fractional orders above e, ln A is
// at least 1 and its absolute error, 2^-52 for each unit, is relative. Bounded ranges,
// discrete Laplace noise and binomial sums add bounds of their own errors before. What is
// denormal has no relative error: divergences adds that.
//
// The argument is about each formula by hand. It is tested against intervals of 256 bits,
// at every decade of the parameters, by TestDivergencesAreAboveTheReferees.
const rdpError = 1e-12

// ofMoment returns the divergence of order a for A-1 = m. A moment that underflowed is
// none of zero: the divergence is then at most this.
func ofMoment(m, a float64) float64 { return (math.Log1p(m) + 0x1p-1000) / (a - 1) }

// pureRDP is the divergence of randomized response with odds e^ε, the worst of all
// ε-DP events (Bun and Steinke 2016, Lemma B.2; Mironov 2017, Proposition 5).
//
//	A - 1 = (e^((α-1)ε) - 1)(1 - e^(-αε)) / (1 + e^-ε)
func pureRDP(eps float64) func(float64) float64 {
	return func(a float64) float64 {
		scale := -math.Expm1(-a*eps) / (1 + math.Exp(-eps))
		if x := (a - 1) * eps; x > 600 {
			return math.Min(eps, (x+math.Log(scale))/(a-1)) // A itself; the 1 is below rounding
		} else {
			return math.Min(eps, ofMoment(math.Expm1(x)*scale, a))
		}
	}
}

// laplaceRDP is the divergence of Laplace noise with sensitivity/scale = t
// (Mironov 2017, Proposition 6), written without cancellation:
//
//	A = α/(2α-1) e^((α-1)t) + (α-1)/(2α-1) e^(-αt)
//	A - 1 = (α(e^((α-1)t) - 1) + (α-1)(e^(-αt) - 1)) / (2α-1)
//
// where the first bracket exceeds the second by the integral over [0, t] of
// α(α-1)(e^((α-1)u) - e^(-αu)); for small t that integral is summed as a series.
func laplaceRDP(t float64) func(float64) float64 {
	return func(a float64) float64 {
		x, y := (a-1)*t, a*t
		switch {
		case x > 600:
			return math.Min(t, (x+math.Log(a/(2*a-1)))/(a-1))
		case y < 0.5:
			// Σ over n >= 2 of t^n/n! (α(α-1)^n + (α-1)(-α)^n), with u = (α-1)t, v = αt:
			// α(α-1)t² Σ (u^(n-2)·(α-1)... ) in differences of positive and negative terms:
			// the n-th term is α(α-1)t²/n! (u^(n-1) - (-v)^(n-1))/t.
			// (u^m - (-v)^m) = (u+v) Σ_{j<m} u^j (-v)^(m-1-j), with u+v = (2α-1)t.
			sum, fact := 0.0, 1.0
			pow := 0.0   // Σ_{j<m} u^j (-v)^(m-1-j), m = n-1
			power := 1.0 // u^(m-1)
			for n := 2; n < 40; n++ {
				fact *= float64(n)
				pow = pow*(-y) + power
				power *= x
				sum += pow / fact
			}
			return math.Min(t, ofMoment(a*(a-1)*t*t*sum, a))
		}
		m := (a*math.Expm1(x) + (a-1)*math.Expm1(-y)) / (2*a - 1)
		return math.Min(t, ofMoment(m, a))
	}
}

// discreteLaplaceRDP is the divergence of discrete Laplace noise, P(x)
// proportional to r^|x| with r = e^(-1/b), shifted by the whole number s. With
// P/Q = e^(s/b) below 0 and e^(-s/b) from s on, and a geometric sum between,
//
//	A = (e^((α-1)s/b) + e^(-αs/b))/(1+r) + (1-r)/(1+r) Σ_{0<x<s} r^(αx + (1-α)(s-x)).
func discreteLaplaceRDP(b, s float64) func(float64) float64 {
	return func(a float64) float64 {
		eps := s / b
		r := math.Exp(-1 / b)
		x := (a - 1) * eps
		// The sum is e^x Σ_{0<j<s} r^((2α-1)j), with the logarithm of e^x put aside.
		step := -(2*a - 1) / b
		middle := math.Exp(step) * math.Expm1((s-1)*step) / math.Expm1(step)
		logA := x + math.Log((1+math.Exp(-x-a*eps)+(-math.Expm1(-1/b))*middle)/(1+r))
		// The logarithm of a number near 1 keeps an absolute error only.
		return math.Max(0, math.Min(eps, math.Min((logA+math.Max(1, x)*0x1p-48)/(a-1), pureRDP(eps)(a))))
	}
}

// responseRDP is the divergence of randomized response with k answers, under
// ReplaceOne: with p' = (1-p)/(k-1), A - 1 = p^α p'^(1-α) + p'^α p^(1-α) - p - p'.
// With l = ln p/p', that is p'(e^(αl) - e^l)(1 - e^(-αl)), as for pureRDP.
func responseRDP(p *big.Rat, k int) func(float64) float64 {
	other := new(big.Rat).Sub(big.NewRat(1, 1), p) // exactly: 1-p of a rounded p has few digits
	other.Quo(other, big.NewRat(int64(k-1), 1))
	if p.Cmp(other) < 0 {
		p, other = other, p
	}
	ratio := new(big.Rat).Quo(p, other)
	l := math.Log(upFloat(ratio))
	if ratio.Cmp(big.NewRat(2, 1)) < 0 {
		l = math.Log1p(upFloat(ratio.Sub(ratio, big.NewRat(1, 1))))
	}
	top := upFloat(p)
	return func(a float64) float64 {
		x := (a - 1) * l
		scale := -math.Expm1(-a*l) * top
		if x > 600 {
			return math.Min(l, (x+math.Log(scale))/(a-1))
		}
		return math.Min(l, ofMoment(math.Expm1(x)*scale, a))
	}
}

// boundedRangeRDP is the divergence of the worst choice of bounded range ε: the
// likelihood ratio lies in [e^(t-ε), e^t] for some t in [0, ε], A is convex in
// the ratio, so two outcomes at the ends are the worst, and the best t has a
// closed form (Dong, Durfee and Rogers 2020, Corollary 3.2 and Lemma 3.4 there for
// KL). It is at most αε²/8 (Cesar and Rogers 2021).
//
//	e^t = (1-1/α) e^ε (1-e^(-αε)) / (1-e^(-(α-1)ε))
//	A   = e^(αt) (1-e^(-(α-1)ε)) / ((α-1)(e^ε-1))
func boundedRangeRDP(eps float64) func(float64) float64 {
	return func(a float64) float64 {
		upper := math.Min(eps, a*eps*eps/8)
		num, den := -math.Expm1(-a*eps), -math.Expm1(-(a-1)*eps)
		l, m := math.Log1p(-1/a), math.Log(num/den)
		t := l + eps + m
		logA := a*t + math.Log(den/(a-1)) - eps - math.Log(-math.Expm1(-eps))
		if math.IsNaN(logA) {
			return upper
		}
		// The logarithm of a number near 1 keeps an absolute error only.
		// The parts of t cancel, and num/den is rounded: α times what t loses is lost.
		err := (math.Abs(a*t) + math.Abs(math.Log(den/(a-1))) + eps + 1 + a*(math.Abs(l)+eps+math.Abs(m)+1)) * 0x1p-48
		return math.Min(upper, math.Max(0, logA+err)/(a-1))
	}
}

// givenRDP is the curve of an event that states orders and values. Between two
// orders (α-1)R(α), a cumulant generating function, is convex for every pair of
// laws, so that the chord is above it; below the first order R is at most what it
// is there, because it increases (van Erven and Harremoës 2014, Theorem 3 and
// Corollary 2); above the last one nothing is known.
func givenRDP(e privacy.RDP) func(orders, out []float64) {
	n := len(e.Orders)
	at, k := make([]float64, n), make([]float64, n)
	for i := range at {
		at[i] = toFloat(e.Orders[i])
		k[i] = (at[i] - 1) * upFloat(e.Eps[i])
	}
	return each(func(a float64) float64 { return chord(at, k, a) / (a - 1) })
}

// chord returns the chord through the points (x[i], k[i]) and (1, 0), +Inf beyond
// the last one.
func chord(x, k []float64, a float64) float64 {
	x0, k0 := 1.0, 0.0
	for i := range x {
		if a <= x[i] {
			w := (a - x0) / (x[i] - x0)
			return (1-w)*k0 + w*k[i]
		}
		x0, k0 = x[i], k[i]
	}
	return math.Inf(1)
}

// pureRho is the least ρ for which every ε-DP event is ρ-zCDP, ε·tanh(ε/2), rounded
// up in the 30th digit (https://differentialprivacy.org/pdp-to-zcdp/; at order 1 it
// is the divergence of randomized response, which is the worst).
func pureRho(eps *big.Rat) *big.Rat {
	if eps.Cmp(big.NewRat(600, 1)) > 0 {
		return eps
	}
	e := numeric.Of(eps).Exp()
	one := numeric.OfInt(1)
	return numeric.CeilDigits(numeric.Of(eps).Mul(e.Sub(one)).Quo(e.Add(one)).Hi(), 30)
}

// pureMuSquared is the square of a μ for which every ε-DP event is μ-GDP: μ =
// -2Φ^-1(1/(1+e^ε)). The trade-off curve of ε-DP is two straight lines that meet
// at α = β = 1/(1+e^ε) and end in (0, 1) and (1, 0); that of this μ is convex
// through the same three points, and so nowhere above it.
//
// For small ε, where a quantile near 1/2 loses its digits, by erf(μ/2√2) = tanh(ε/2).
func pureMuSquared(eps float64) *big.Rat {
	var mu float64
	if eps < 1 {
		t := math.Tanh(eps / 2)
		_, x := bisect(t/2, 2*t, func(x float64) bool { return math.Erf(x) >= t })
		mu = 2 * math.Sqrt2 * x
	} else {
		mu = -2 * normalQuantile(-math.Log1p(math.Exp(-eps))-eps)
	}
	if !(mu > 0x1p-1000) || eps > 700 {
		return nil
	}
	r := new(big.Rat).SetFloat64(mu * (1 + 1e-12))
	return r.Mul(r, r)
}
