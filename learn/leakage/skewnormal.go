package leakage

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// A skewNormal is Azzalini's law (1985): density 2/ω·φ(z)·Φ(αz) at z = (x − ξ)/ω.
type skewNormal struct {
	Location float64 `json:"location"` // ξ
	Scale    float64 `json:"scale"`    // ω
	Shape    float64 `json:"shape"`    // α
}

// log is the logarithm of the density of z, times ω.
func (s skewNormal) log(z float64) float64 {
	return math.Ln2 - z*z/2 - math.Log(2*math.Pi)/2 + logNormal(s.Shape*z)
}

// logCDF is the logarithm of the probability of x or less, to about ten digits in
// the lower tail as well, which is where exposure looks.
func (s skewNormal) logCDF(x float64) float64 {
	z := (x - s.Location) / s.Scale
	switch {
	case math.IsNaN(z):
		return math.NaN()
	case math.IsInf(z, -1):
		return math.Inf(-1)
	case math.IsInf(z, 1):
		return 0
	}
	// Φ(z) − 2·T(z, α) loses the tail to cancellation: there, integrate instead.
	if p := normal(z) - 2*owenT(z, s.Shape); p > 1e-3 {
		return math.Log(min(1, p))
	}
	// The density is log-concave, and left of its mode falls at least exponentially at
	// its rate here: 40 of its lengths hold all but e^−40.
	at := s.log(z)
	length := 1 / (-z + s.Shape*mills(s.Shape*z))
	f := func(u float64) float64 { return math.Exp(s.log(z-u*length) - at) }
	g, sum := legendre(16), 0.0
	for u := 0.0; u < 40; u += 2 {
		sum += g.integrate(f, u, u+2)
	}
	return at + math.Log(sum*length)
}

// errNoFit is returned where no skew-normal law is likeliest: the likelihood of very
// asymmetric samples grows with the shape forever.
var errNoFit = errors.New("no skew-normal law fits best")

// steepest bounds the shape: beyond it the law ends at its location like a half-normal
// one, and what lies outside would have no probability at all.
const steepest = 100

// fitSkewNormal returns the likeliest law of a sample of 8 or more.
func fitSkewNormal(sample []float64) (skewNormal, error) {
	n := float64(len(sample))
	if n < 8 {
		return skewNormal{}, bad("a skew-normal fit of %d values", len(sample))
	}
	var mean, variance, third float64
	for _, x := range sample {
		mean += x / n
	}
	for _, x := range sample {
		variance += (x - mean) * (x - mean) / n
	}
	deviation := math.Sqrt(variance)
	if !(deviation > 0) || math.IsInf(deviation, 1) {
		return skewNormal{}, fmt.Errorf("%w: the values don't vary, or are not finite", errNoFit)
	}
	z := make([]float64, len(sample))
	for i, x := range sample {
		z[i] = (x - mean) / deviation
		third += z[i] * z[i] * z[i] / n
	}
	// In the parameters (ξ, ln ω, asinh α) nothing is out of bounds.
	law := func(p []float64) skewNormal { return skewNormal{p[0], math.Exp(p[1]), math.Sinh(p[2])} }
	problem := optimize.Problem{
		Func: func(p []float64) (loss float64) {
			s := law(p)
			for _, x := range z {
				loss -= s.log((x - s.Location) / s.Scale)
			}
			return loss/n + p[1]
		},
		Grad: func(grad, p []float64) {
			s := law(p)
			clear(grad)
			for _, x := range z {
				y := (x - s.Location) / s.Scale
				q := mills(s.Shape * y)
				grad[0] -= (y - s.Shape*q) / s.Scale / n
				grad[1] -= (y*y - 1 - s.Shape*y*q) / n
				grad[2] -= y * q * math.Cosh(p[2]) / n
			}
		},
	}
	best := math.Inf(1)
	var fit skewNormal
	// α = 0 is a stationary point of every sample (its information is singular there):
	// start on both sides of it, from the moments.
	for _, skew := range []float64{third, -third / 4} {
		r, err := optimize.Minimize(problem, moments(skew), &optimize.Settings{GradientThreshold: 1e-9, MajorIterations: 500}, &optimize.BFGS{})
		// A search that ends early for want of digits has the point that it reached; one
		// that ran away has a shape that is refused below.
		if r == nil || math.IsNaN(r.F) {
			return skewNormal{}, fmt.Errorf("fit a skew-normal law: %w", err)
		}
		if r.F < best {
			best, fit = r.F, law(r.X)
		}
	}
	if !(math.Abs(fit.Shape) <= steepest) {
		return skewNormal{}, errNoFit
	}
	return skewNormal{mean + deviation*fit.Location, deviation * fit.Scale, fit.Shape}, nil
}

// mills is φ(x)/Φ(x).
func mills(x float64) float64 {
	return math.Exp(-x*x/2 - math.Log(2*math.Pi)/2 - logNormal(x))
}

// moments is where the standardised law with this skewness lies, at the most 0.99.
func moments(skew float64) []float64 {
	skew = max(-0.99, min(0.99, skew))
	b := math.Pow(math.Abs(skew), 2.0/3)
	delta := math.Copysign(math.Sqrt(math.Pi/2*b/(b+math.Pow((4-math.Pi)/2, 2.0/3))), skew)
	delta = max(-0.995, min(0.995, delta))
	scale := 1 / math.Sqrt(1-2*delta*delta/math.Pi)
	return []float64{-scale * delta * math.Sqrt(2/math.Pi), math.Log(scale), math.Asinh(delta / math.Sqrt(1-delta*delta))}
}
