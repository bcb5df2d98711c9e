package loss

import "math"

const (
	unit      = 1.0 / (1 << 53)       // the rounding unit of float64
	lnSqrt2Pi = 0.9189385332046727418 // ln √(2π)
)

// logTail returns ln P{Z > x} of a standard normal Z, to a relative error of the
// probability of at most 16·unit·(4 + x²/2) for x > 0 and 16·unit otherwise.
func logTail(x float64) float64 {
	switch {
	case x < -1:
		return math.Log1p(-math.Erfc(-x/math.Sqrt2) / 2)
	case x < 5:
		return math.Log(math.Erfc(x/math.Sqrt2) / 2)
	case math.IsInf(x, 1):
		return math.Inf(-1)
	}
	return -x*x/2 - lnSqrt2Pi + math.Log(mills(x))
}

// mills returns P{Z > x}/φ(x). From 5 on it is Laplace's continued fraction
// 1/(x+1/(x+2/(x+3/(x+...)))), whose terms are positive, so that rounding errors
// stay relative; below, where the fraction is slow, the definition.
func mills(x float64) float64 {
	if x < 5 {
		return math.Erfc(x/math.Sqrt2) / 2 * math.Exp(x*x/2+lnSqrt2Pi)
	}
	return 1 / (x + millsRest(x))
}

// millsRest returns 1/(x+2/(x+3/(x+...))) for x >= 5; forty terms leave less than
// a rounding unit there (the test compares with big numbers).
func millsRest(x float64) float64 {
	terms := 40.0
	if x > 12 {
		terms = 12
	}
	r := 0.0
	for k := terms; k >= 1; k-- {
		r = k / (x + r)
	}
	return r
}

// A slice of the normal law around m, of half-width d, is P{m-d < Z <= m+d}. It is
// narrow when the Taylor series of its density about m converges at once: the
// slice is then φ(m)·2d·(1+bulge(m, d)).
func narrow(m, d float64) bool { return d*max(1, math.Abs(m)) <= 0.0625 }

// bulge is the series Σ He_{2n}(m) d^{2n}/(2n+1)! without its first term. After
// n = 4 a narrow slice leaves |He_10(m)| d^10/11! <= 945·2^-40/11! < unit/4.
func bulge(m, d float64) float64 {
	m2, d2 := m*m, d*d
	h2 := m2 - 1
	h4 := (m2-6)*m2 + 3
	h6 := ((m2-15)*m2+45)*m2 - 15
	h8 := (((m2-28)*m2+210)*m2-420)*m2 + 105
	return d2 * (h2/6 + d2*(h4/120+d2*(h6/5040+d2*(h8/362880))))
}

// logSlice returns ln P{lo < Z <= hi}, lo < hi, for a slice that is not narrow: the
// two tails then differ by a factor of some e^{1/8} at least, so that their
// difference loses some three bits.
func logSlice(lo, hi float64) float64 {
	if lo < 0 && hi > 0 {
		return math.Log((math.Erf(hi/math.Sqrt2) + math.Erf(-lo/math.Sqrt2)) / 2)
	}
	if lo < 0 {
		lo, hi = -hi, -lo
	}
	if hi < 1.5 {
		return math.Log((math.Erf(hi/math.Sqrt2) - math.Erf(lo/math.Sqrt2)) / 2)
	}
	a, b := logTail(lo), logTail(hi)
	return a + math.Log1p(-math.Exp(b-a))
}

// logAdd returns ln(e^a + e^b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// A rate is the probability of being in a sample, and of not being in it, which a rate
// near 1 does not tell.
type rate struct{ q, rest float64 }

func rateOf(q float64) rate { return rate{q, 1 - q} }

// logMix returns ln(1-q+q·e^a) with an error relative to its value: it is what
// sampling at rate q makes of a log-ratio a.
func logMix(r rate, a float64) float64 {
	switch {
	case r.q == 1:
		return a
	case a > 700: // e^a may overflow where q·e^a does not
		if b := a + math.Log(r.q); b > 40 {
			return b + math.Log1p(r.rest*math.Exp(-b))
		}
		half := math.Exp(a / 2)
		return math.Log1p(r.q * half * half)
	case r.q >= 0.5 && a < -1:
		return math.Log(r.rest + r.q*math.Exp(a))
	}
	return math.Log1p(r.q * math.Expm1(a))
}

// logUnmix is the inverse of logMix, -Inf where there is none: ln((e^t-1+q)/q).
func logUnmix(r rate, t float64) float64 {
	switch {
	case r.q == 1:
		return t
	case t > 40:
		return t - math.Log(r.q)
	case r.q >= 0.5 && t < -1: // ln((e^t - (1-q))/q)
		if y := math.Exp(t) - r.rest; y > 0 {
			return math.Log(y / r.q)
		}
		return math.Inf(-1)
	}
	y := math.Expm1(t) / r.q
	switch {
	case y <= -1:
		return math.Inf(-1)
	case y > 1e300: // or too much for a float64
		return math.Log(math.Expm1(t)) - math.Log(r.q)
	}
	return math.Log1p(y)
}
