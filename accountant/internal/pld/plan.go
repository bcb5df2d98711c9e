package pld

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A plan is what is decided before anything large is allocated.
type plan struct {
	theta     float64 // the tilt: the law of the sum is multiplied by e^{θ·loss}
	saddle    float64 // the tilt that makes ε typical; d ln δ/dε is about minus this
	epsilon   float64 // the ε that the tilt makes typical; an estimate
	logDelta  float64 // ln δ(ε) of the finite losses; an estimate
	mean, sd  float64 // of the tilted sum
	low, high float64 // the window of the tilted sum
	tiltLow   float64 // further tilts, below and above θ, that bound what is outside
	tiltHigh  float64
	step      float64
	tolerance float64 // of ε, wanted
	lg        int     // 2^lg points in the window
	note      string
}

// composed returns the cumulant of the sum.
func composed(meter *work.Meter, fs []profile, counts []float64, theta float64) (k, mean, variance float64) {
	for i, f := range fs {
		meter.Spend(3 * len(f))
		a, b, c := f.cumulant(theta)
		k += counts[i] * a
		mean += counts[i] * b
		variance += counts[i] * c
	}
	return k, mean, variance
}

// saddle returns the tilt for a target: δ(ε) is the integral of the tilted law
// against e^{-θy}(1-e^{-y}), y = loss - ε > 0, and is about
//
//	e^{K(θ)-θε} / (θ(1+θ)·√(2π(K''(θ)+θ⁻²+(1+θ)⁻²)))   where   K'(θ) = ε + 1/θ + 1/(1+θ).
//
// Both sides of either equation are monotone in θ, so bisection finds it. Where ε is
// hardly below the greatest loss, most, a greater tilt would leave nothing but that;
// of smooth laws it would leave a part that no step resolves.
func saddle(meter *work.Meter, fs []profile, counts []float64, most float64, smooth bool, wanted func(epsilon, logDelta float64) bool) (theta, epsilon, logDelta float64) {
	_, natural, _ := composed(meter, fs, counts, 0)
	at := func(theta float64) (epsilon, logDelta float64, one bool) {
		k, mean, variance := composed(meter, fs, counts, theta)
		epsilon = mean - 1/theta - 1/(1+theta)
		curve := variance + 1/(theta*theta) + 1/((1+theta)*(1+theta))
		logDelta = k - theta*epsilon - math.Log(theta) - math.Log1p(theta) - math.Log(2*math.Pi*curve)/2
		one = theta*(most-mean) < 0.5 && most-mean < 0.1*(most-natural) || smooth && most-mean < 3e-4*most
		return epsilon, logDelta, one
	}
	lo, hi := math.Log(1e-9), math.Log(1e9)
	for range 44 {
		mid := (lo + hi) / 2
		e, d, one := at(math.Exp(mid))
		if !one && wanted(e, d) {
			lo = mid
		} else {
			hi = mid
		}
	}
	theta = math.Exp((lo + hi) / 2)
	epsilon, logDelta, _ = at(theta)
	return theta, epsilon, logDelta
}

// window sets where the tilted sum lies, by Chernoff's bound on either side: the
// tilted P{±sum > ±w} is at most e^{K(θ±λ)-K(θ)∓λw} for every λ > 0.
// outside is ln of the tilted mass that may lie beyond either end.
func (p *plan) window(meter *work.Meter, fs []profile, counts []float64, outside float64) {
	k0, mean, variance := composed(meter, fs, counts, p.theta)
	_, _, natural := composed(meter, fs, counts, 0)
	p.mean, p.sd = mean, math.Sqrt(max(variance, 1e-6*natural, 1e-280))
	side := func(sign float64) (bound, tilt float64) {
		reach := func(logLambda float64) float64 {
			lambda := math.Exp(logLambda)
			k, _, _ := composed(meter, fs, counts, p.theta+sign*lambda)
			return (k - k0 - outside) / lambda
		}
		guess := math.Log(math.Sqrt(-2*outside) / p.sd)
		most := guess + 3
		if sign > 0 { // a piece stands for its end too, if a tilt differs little over it
			for _, f := range fs {
				most = min(most, math.Log(5/max(f.coarseness(), 1e-300)))
			}
		}
		at := least(reach, most-10, most)
		return sign * reach(at), sign * math.Exp(at)
	}
	p.high, p.tiltHigh = side(1)
	p.low, p.tiltLow = side(-1)
}

// least returns about where a function that falls and then rises is least, by
// golden section.
func least(f func(float64) float64, lo, hi float64) float64 {
	const ratio = 0.6180339887498949
	a, b := hi-(hi-lo)*ratio, lo+(hi-lo)*ratio
	fa, fb := f(a), f(b)
	for range 16 {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - (hi-lo)*ratio
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + (hi-lo)*ratio
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}
