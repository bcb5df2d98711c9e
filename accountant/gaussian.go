package accountant

import "math"

// The curve of a pair N(0,1), N(μ,1), which any composition of Gaussian events is.
//
// Theorem 8 of Balle and Wang 2018 ("Improving the Gaussian Mechanism for
// Differential Privacy"), an equality: with a = ε/μ - μ/2 and b = ε/μ + μ/2,
//
//	δ(ε) = Φ(-a) - e^ε Φ(-b).
//
// As e^ε φ(b) = φ(a), that is φ(a)(M(a) - M(b)), where M = (1-Φ)/φ is Mills' ratio,
// and φ(a) ∫ from a to b of 1 - xM(x), which is positive: no tail underflows, and
// no difference of nearly equal numbers is left.

// mills returns (1-Φ(x))/φ(x) for x above -30, within some 2^-50.
func mills(x float64) float64 {
	if x < 5 {
		return math.Sqrt(math.Pi/2) * math.Erfc(x/math.Sqrt2) * math.Exp(x*x/2)
	}
	// Laplace's continued fraction, 1/(x+1/(x+2/(x+3/...))), as far as it changes.
	f := x
	for n := math.Ceil(3 + 130/x); n >= 1; n-- {
		f = x + n/f
	}
	return 1 / f
}

var logRootTau = math.Log(2*math.Pi) / 2

// millsRest returns 1/M(x) - x = 1/(x+2/(x+3/...)) for x >= 5, by the fraction's
// positive terms.
func millsRest(x float64) float64 {
	f := x
	for n := math.Ceil(3 + 130/x); n >= 2; n-- {
		f = x + n/f
	}
	return 1 / f
}

// millsSlope returns 1 - xM(x).
func millsSlope(x float64) float64 {
	if x < 5 {
		return 1 - x*mills(x)
	}
	r := millsRest(x)
	return r / (x + r)
}

// gaussianLogDelta returns ln δ(ε) and a bound of its absolute error.
func gaussianLogDelta(mu, eps float64) (logDelta, err float64) {
	const u = 0x1p-50
	a, b := eps/mu-mu/2, eps/mu+mu/2
	if a > 1e150 {
		return -1e299, 0 // an upper bound, below every logarithm of a float64
	}
	if mu < 0.5 {
		// Gauss and Legendre with ten nodes; the integrand is entire, and what they
		// leave is below (μ/2)^20 of it. 1 - xM(x) loses a factor x² up to 5.
		sum := 0.0
		for i, x := range legendreNodes {
			for _, s := range [2]float64{-1, 1} {
				sum += legendreWeights[i] * millsSlope(a+mu/2*(1+s*x))
			}
		}
		return -a*a/2 - logRootTau + math.Log(mu/2) + math.Log(sum), (8 + 4*min(a*a, 25) + 2*a*a + eps - math.Log(mu)) * u
	}
	if a >= 5 { // M(a) - M(b) = M(a) M(b) (1/M(b) - 1/M(a)) = M(a) M(b) (μ - (rest(a) - rest(b)))
		rest := millsRest(a) - millsRest(b)
		return -a*a/2 - logRootTau + math.Log(mills(a)) + math.Log(mills(b)) + math.Log(mu-rest), (8 + 2*a*a + eps + 2*math.Log(a+b)) * u
	}
	if a >= 0 {
		d := mills(a) - mills(b)
		return -a*a/2 - logRootTau + math.Log(d), (2 + 2*a*a + eps + 2*mills(a)/d) * u
	}
	above := math.Erfc(a/math.Sqrt2) / 2
	density := math.Exp(-a*a/2 - logRootTau)
	rest := density * mills(b)
	return math.Log(above - rest), (2 + (above+rest*(1+a*a)+density*(b-a))/(above-rest)*2) * u
}

// Half of the nodes of ten, and the weights.
var (
	legendreNodes   = [5]float64{0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717}
	legendreWeights = [5]float64{0.2955242247147529, 0.2692667193099963, 0.2190863625159820, 0.1494513491505806, 0.0666713443086881}
)

// gaussianEpsilon returns ε at ln δ for μ.
func gaussianEpsilon(mu, logDelta float64) Bracket {
	switch {
	case !(mu > 0) || math.IsNaN(logDelta): // μ = 0 would be noise without end: a number underflowed
		return bracket(math.NaN(), math.NaN(), math.NaN())
	case math.IsInf(logDelta, -1) || math.IsInf(mu, 1):
		return bracket(0, math.Inf(1), math.Inf(1))
	case logDelta >= 0:
		return Bracket{}
	}
	slack := math.Abs(logDelta) * 0x1p-52 // logDelta is itself rounded
	if log, err := gaussianLogDelta(mu, 0); log+err+slack <= logDelta {
		return Bracket{}
	}
	// The secant for ln δ(ε), which is concave, between 0 and μ²/2 + μ√(2 ln 1/δ), the
	// older conversion of zCDP; and from its root steps of what the error is worth, until
	// the bounds of ln δ are on either side. Nothing rests on the search.
	lo, hi := 0.0, mu*mu/2+mu*math.Sqrt(-2*logDelta)
	if math.IsInf(hi, 1) {
		return bracket(0, math.Inf(1), math.Inf(1))
	}
	at := func(eps float64) float64 { log, _ := gaussianLogDelta(mu, eps); return log - logDelta }
	flo, fhi := at(lo), at(hi)
	for i := 0; i < 200 && hi-lo > hi*0x1p-50; i++ {
		mid := lo + (hi-lo)*flo/(flo-fhi)
		if i%4 == 3 || !(mid > lo && mid < hi) {
			mid = lo + (hi-lo)/2
		}
		f := at(mid)
		if math.Abs(f) < 0x1p-48 {
			lo, hi = mid, mid
		} else if f > 0 {
			lo, flo, fhi = mid, f, fhi/2
		} else {
			hi, fhi, flo = mid, f, flo/2
		}
	}
	root := lo + (hi-lo)/2
	step := root*0x1p-51 + 0x1p-1070
	low, high := root, root
	for d := step; high < math.Inf(1); d *= 2 { // high = +Inf claims nothing
		if log, err := gaussianLogDelta(mu, high); log+err+slack <= logDelta {
			break
		}
		high = root + d
	}
	for d := step; low > 0; d *= 2 {
		if log, err := gaussianLogDelta(mu, low); log-err-slack >= logDelta {
			break
		}
		low = math.Max(0, root-d)
	}
	return bracket(low, high, high)
}

// gaussianDelta returns δ at ε for μ.
func gaussianDelta(mu, eps float64) Bracket {
	log, err := gaussianLogDelta(mu, eps)
	return bracket(down(math.Exp(log-err)), math.Exp(log), math.Min(1, up(math.Exp(log+err))))
}

// up and down move a number that a library function gave within an ulp or two to
// the safe side.
func up(x float64) float64   { return math.Nextafter(x*(1+0x1p-50), math.Inf(1)) }
func down(x float64) float64 { return math.Max(0, math.Nextafter(x*(1-0x1p-50), math.Inf(-1))) }

// bisect narrows [lo, hi] around the least x of which holds, which is monotone, is
// true: holds(hi) may be taken for granted. The bracket's ends differ by an ulp
// or two; if holds(lo), both are lo.
func bisect(lo, hi float64, holds func(float64) bool) (float64, float64) {
	if holds(lo) {
		return lo, lo
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		// From 0 go by halves of the exponent, so that small numbers are found.
		if lo == 0 && mid > 0 && hi > 1e-300 && hi > 2*math.SmallestNonzeroFloat64 {
			mid = hi / 16
		}
		if mid <= lo || mid >= hi || hi-lo <= hi*0x1p-51 {
			break
		}
		if holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo, hi
}

// normalQuantile returns x with ln Φ(x) = logP, for a p of at most 1/2.
func normalQuantile(logP float64) float64 {
	if logP >= -math.Ln2 {
		return 0
	}
	lo, hi := bisect(0, math.Sqrt(-2*logP)+1, func(x float64) bool {
		return -x*x/2-logRootTau+math.Log(mills(x)) <= logP
	})
	return -(lo + hi) / 2
}
