package leakage

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// normal is Φ(x).
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// logNormal is ln Φ(x), also where Φ(x) is less than any float64.
func logNormal(x float64) float64 {
	if x > -30 {
		return math.Log(normal(x))
	}
	// Mills' ratio: Φ(−t) = φ(t)/t·(1 − 1/t² + 3/t⁴ − 15/t⁶ + …); the next term is 1e-10.
	u := 1 / (x * x)
	return -x*x/2 - math.Log(-x*math.Sqrt(2*math.Pi)) + math.Log1p(-u*(1-u*(3-15*u)))
}

// rule integrates smooth functions on short intervals to the last digits.
type rule struct{ x, weight []float64 }

func legendre(n int) rule {
	r := rule{make([]float64, n), make([]float64, n)}
	quad.Legendre{}.FixedLocations(r.x, r.weight, -1, 1)
	return r
}

func (r rule) integrate(f func(float64) float64, from, to float64) (sum float64) {
	half, middle := (to-from)/2, (to+from)/2
	for i, x := range r.x {
		sum += r.weight[i] * f(middle+half*x)
	}
	return sum * half
}

// owenT is Owen's T function: the probability that X > h and 0 < Y < a·X for
// independent standard normal X and Y,
//
//	T(h, a) = 1/(2π)·∫₀ᵃ exp(−h²(1+x²)/2)/(1+x²) dx.
//
// Steeper than a = 1 it is reflected (Owen 1956): T(h, a) =
// (Q(h) + Q(ah))/2 − Q(h)·Q(ah) − T(ah, 1/a) with Q = 1 − Φ and h ≥ 0.
func owenT(h, a float64) float64 {
	h = math.Abs(h)
	switch {
	case math.IsNaN(h) || math.IsNaN(a):
		return math.NaN()
	case a < 0:
		return -owenT(h, -a)
	case math.IsInf(a, 1):
		return normal(-h) / 2
	case a > 1:
		q, r := normal(-h), normal(-a*h)
		return (q+r)/2 - q*r - owenT(a*h, 1/a)
	}
	// The integrand falls like exp(−h²x²/2): beyond 9/h nothing is left.
	to := a
	if h > 0 {
		to = min(a, 9/h)
	}
	f := func(x float64) float64 { return math.Exp(-h*h*x*x/2) / (1 + x*x) }
	g, sum := legendre(24), 0.0
	const parts = 4
	for i := range parts {
		sum += g.integrate(f, to*float64(i)/parts, to*float64(i+1)/parts)
	}
	return math.Exp(-h*h/2) * sum / (2 * math.Pi)
}
