package loss

import (
	"fmt"
	"math"
)

// gaussian is P = N(mu, 1) against Q = N(0, 1), whose loss at x is mu·x - mu²/2.
// It dominates the Gaussian mechanism with mu = sensitivity/sigma in any number of
// dimensions, both ways (Balle and Wang 2018), and is its exact profile.
type gaussian struct{ mu float64 }

// Gaussian returns the pair of mu-GDP, such as Gaussian noise whose standard
// deviation is the L2 sensitivity over mu.
func Gaussian(mu float64) (Pair, error) {
	if !positive(mu) || mu > 1e6 {
		return nil, fmt.Errorf("gaussian pair of mu %v: want 0 < mu <= 1e6", mu)
	}
	return gaussian{mu}, nil
}

func (g gaussian) Atoms() []Atom        { return nil }
func (g gaussian) Ends() (p, q float64) { return 0, 0 }
func (g gaussian) Max() float64         { return math.Inf(1) }
func (g gaussian) at(t float64) float64 { return t/g.mu + g.mu/2 }

func (g gaussian) Thresholds(n int) []float64 {
	t := normalGrid(n, g.mu)
	for i, x := range t {
		t[i] = g.mu * (x - g.mu/2)
	}
	return t
}

// normalGrid spreads n outcomes over what of N(0,1) and N(mu,1) counts: half of
// them evenly over the bulk, the others over the upper tail, which a tilt towards
// high losses makes the bulk.
func normalGrid(n int, mu float64) []float64 {
	x := make([]float64, n)
	lo, hi := -14.0, mu+48
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/float64(n-1)
	}
	return x
}

// Cells: the ends of a slice are rounded, but both laws are measured between the
// same ends, by the slice's middle and half-width. What remains is the rounding of
// the exponent m²/2. That a rounded end lies 1e-16 off its threshold moves a mass
// of that size over that loss: a second-order effect below every stated error.
func (g gaussian) Cells(t, logP, ratio []float64) Rounding {
	far, roughly := 0.0, false
	lo := g.at(t[0])
	for i := range logP {
		hi := g.at(t[i+1])
		var rough bool
		logP[i], ratio[i], rough = shifted(lo, hi, g.mu)
		if logP[i] > -745 {
			far = max(far, math.Abs(middle(lo, hi)-g.mu))
			roughly = roughly || rough
		}
		lo = hi
	}
	return normalRounding(far, g.mu).rough(roughly)
}

// normalRounding is the error of slices whose middles are at most far from the
// mean of P, under a shift of mu.
func normalRounding(far, mu float64) Rounding {
	return Rounding{
		Mass:  16 * unit * (4 + far*far/2),
		Ratio: 16 * unit * (mu*far + mu*mu),
	}
}

// rough adds what a ratio as a difference of logarithms errs by.
func (r Rounding) rough(yes bool) Rounding {
	if yes {
		r.Ratio += 2 * r.Mass
	}
	return r
}

func middle(lo, hi float64) float64 {
	switch {
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return 0
	case math.IsInf(lo, -1):
		return hi
	case math.IsInf(hi, 1):
		return lo
	}
	return lo + (hi-lo)/2
}

// shifted returns ln p and ln p/q for p, q the measures of (lo, hi] under N(mu,1)
// and N(0,1). A slice that is not narrow is parted into ones that are, so that the
// ratio keeps its precision; where that takes too many, it is a difference of
// logarithms and the slice is reported as rough.
func shifted(lo, hi, mu float64) (logP, ratio float64, rough bool) {
	if !(lo < hi) {
		return math.Inf(-1), 0, false
	}
	d := (hi - lo) / 2
	m := lo + d
	if narrow(m, d) && narrow(m-mu, d) {
		logP, ratio = narrowShifted(m, d, mu)
		return logP, ratio, false
	}
	parts := math.Ceil(d * max(1, math.Abs(m)+d, math.Abs(m-mu)+d) * 16)
	if !(parts <= 32) {
		logP = slice(lo-mu, hi-mu)
		return logP, logP - slice(lo, hi), true
	}
	first, reference := narrowShifted(lo+d/parts, d/parts, mu)
	p, less := 1.0, 0.0 // p, and p-q, relative to the first part's
	for i := 1.0; i < parts; i++ {
		lp, r := narrowShifted(lo+(2*i+1)*d/parts, d/parts, mu)
		w := math.Exp(lp - first)
		p += w
		less -= w * math.Expm1(reference-r)
	}
	return first + math.Log(p), reference - math.Log1p(-less/p), false
}

func narrowShifted(m, d, mu float64) (logP, ratio float64) {
	bp, bq := bulge(m-mu, d), bulge(m, d)
	return -(m-mu)*(m-mu)/2 - lnSqrt2Pi + math.Log(2*d*(1+bp)),
		mu*(m-mu/2) + math.Log1p((bp-bq)/(1+bq))
}

func slice(lo, hi float64) float64 {
	if d := (hi - lo) / 2; narrow(lo+d, d) {
		m := lo + d
		return -m*m/2 - lnSqrt2Pi + math.Log(2*d*(1+bulge(m, d)))
	}
	return logSlice(lo, hi)
}

// Delta is Theorem 8 of Balle and Wang 2018: Φc(z) - e^ε Φc(z+mu) at z = ε/mu-mu/2.
// As e^ε φ(z+mu) = φ(z), it is φ(z) times a difference of Mills ratios, which for
// close ones is the integral of -R' = 1 - xR(x), positive and smooth.
func (g gaussian) Delta(epsilon float64) float64 {
	z := epsilon/g.mu - g.mu/2
	if z < 5 {
		if g.mu < 0.1 && z > -5 {
			return math.Exp(-z*z/2-lnSqrt2Pi) * millsDrop(z, g.mu)
		}
		if epsilon > 700 {
			return math.Exp(logTail(z)) - math.Exp(epsilon+logTail(z+g.mu))
		}
		if epsilon < 0 { // 1 - e^ε + the divergence the other way round, by symmetry
			return -math.Expm1(epsilon) + math.Exp(epsilon)*g.Delta(-epsilon)
		}
		return math.Exp(logTail(z)) - math.Exp(epsilon)*math.Exp(logTail(z+g.mu))
	}
	if g.mu < 0.5 {
		return math.Exp(-z*z/2-lnSqrt2Pi) * millsDrop(z, g.mu)
	}
	return math.Exp(-z*z/2-lnSqrt2Pi) * (mills(z) - mills(z+g.mu))
}

// millsDrop returns R(z)-R(z+mu), R the Mills ratio, by the eight-point rule of
// Gauss and Legendre.
func millsDrop(z, mu float64) float64 {
	sum := 0.0
	for i, x := range legendreNodes {
		sum += legendreWeights[i] * (millsSlope(z+mu/2*(1+x)) + millsSlope(z+mu/2*(1-x)))
	}
	return sum * mu / 2
}

// millsSlope returns 1 - x·R(x).
func millsSlope(x float64) float64 {
	if x < 5 {
		return 1 - x*mills(x)
	}
	r := millsRest(x)
	return r / (x + r)
}

var (
	legendreNodes   = [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	legendreWeights = [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
)

// sampledReplace is P = (1-q)N(0,1)+qN(mu,1) against Q = (1-q)N(0,1)+qN(-mu,1):
// the Poisson-sampled Gaussian when one unit's contribution may turn from one end
// of a ball, mu standard deviations from 0, to the opposite end. P and Q mirror
// each other. With a = ln((1-q)e^{mu²/2}/q) the loss at x is the t of
// mu·x = t/2 + arsinh(e^a sinh(t/2)).
type sampledReplace struct {
	rate
	mu, a float64
}

// SampledGaussianReplace returns the pair of Gaussian noise on a Poisson sample of
// rate q under replacement of one unit; mu is the norm of one unit's contribution,
// not of a difference of two, over the noise's standard deviation.
func SampledGaussianReplace(mu, q float64) (Pair, error) {
	return sampledGaussianReplace(mu, rateOf(q))
}

func sampledGaussianReplace(mu float64, q rate) (Pair, error) {
	if !positive(mu) || mu > 100 || q.check() != nil { // above 100 an integral takes seconds
		return nil, fmt.Errorf("sampled gaussian pair of mu %v at rate %v: want 0 < mu <= 100, 0 < rate <= 1", mu, q.q)
	}
	if q.rest == 0 {
		return gaussian{2 * mu}, nil
	}
	return sampledReplace{q, mu, mu*mu/2 + math.Log(q.rest/q.q)}, nil
}

func (s sampledReplace) Atoms() []Atom        { return nil }
func (s sampledReplace) Ends() (p, q float64) { return 0, 0 }
func (s sampledReplace) Max() float64         { return math.Inf(1) }

func (s sampledReplace) at(t float64) float64 {
	if math.IsInf(t, 0) {
		return t
	}
	half := math.Abs(t) / 2
	z := s.a + half + math.Log(-math.Expm1(-2*half)/2) // ln(e^a sinh half)
	y := half + z + math.Ln2
	if z < 300 {
		y = half + math.Asinh(math.Exp(z))
	}
	return math.Copysign(y/s.mu, t)
}

// loss returns L(x).
func (s sampledReplace) loss(x float64) float64 {
	return logMix(s.rate, s.mu*(x-s.mu/2)) - logMix(s.rate, -s.mu*(x+s.mu/2))
}

func (s sampledReplace) Thresholds(n int) []float64 {
	t := normalGrid(n, s.mu)
	for i := range t {
		t[i] -= s.mu // Q reaches as far down as -mu
		t[i] = s.loss(t[i] * (1 + s.mu/(s.mu+48)))
	}
	return increasing(t)
}

// increasing drops what rounding made equal.
func increasing(t []float64) []float64 {
	kept := t[:0]
	for _, x := range t {
		if len(kept) == 0 || x > kept[len(kept)-1] {
			kept = append(kept, x)
		}
	}
	return kept
}

func (s sampledReplace) Cells(t, logP, ratio []float64) Rounding {
	far, roughly := 0.0, false
	lo := s.at(t[0])
	for i := range logP {
		hi := s.at(t[i+1])
		if lo < hi {
			center := slice(lo, hi)
			_, up, rough1 := shifted(lo, hi, s.mu)
			_, down, rough2 := shifted(-hi, -lo, s.mu)
			p := logMix(s.rate, up)
			logP[i], ratio[i] = center+p, p-logMix(s.rate, down)
			if logP[i] > -745 {
				far = max(far, math.Abs(middle(lo, hi)))
				roughly = roughly || rough1 || rough2
			}
		} else {
			logP[i], ratio[i] = math.Inf(-1), 0
		}
		lo = hi
	}
	r := normalRounding(far, s.mu)
	r.Ratio *= 2
	return r.rough(roughly)
}

func (s sampledReplace) cellSteps() int { return 32 }

// steps are those of Delta's panels, of sixteen points each.
func (s sampledReplace) steps() int { return 64 * int(3*(s.mu+60)*(1+s.mu)) }

func (s sampledReplace) Delta(epsilon float64) float64 {
	if epsilon < 0 {
		return -math.Expm1(epsilon) + math.Exp(epsilon)*s.Delta(-epsilon)
	}
	// The integral of P - e^ε Q from where the loss is ε; nothing cancels in it.
	lo := s.at(epsilon)
	if lo > s.mu+50 {
		return 0 // P beyond is below e^-1250
	}
	return integrate(lo, max(0, s.mu-lo), 1/(1+s.mu), func(x float64) float64 {
		p := logMix(s.rate, s.mu*(x-s.mu/2)) - x*x/2 - lnSqrt2Pi
		return -math.Exp(p) * math.Expm1(min(0, epsilon-s.loss(x)))
	})
}

// integrate returns the integral from lo of a positive f that, past lo+rise, falls
// at least as fast as a normal density past its mean, by the eight-point rule on
// panels over which such a density changes little, and no wider than half of scale.
func integrate(lo, rise, scale float64, f func(float64) float64) float64 {
	sum, last := 0.0, lo+rise
	for a := lo; ; {
		w := 0.5 / (1/scale + max(math.Abs(a), math.Abs(a-rise))/4)
		part := 0.0
		for i, x := range legendreNodes {
			part += legendreWeights[i] * (f(a+w/2*(1+x)) + f(a+w/2*(1-x)))
		}
		part *= w / 2
		sum += part
		// 60 past its mean the density is below e^-1800; farther off panels have no width.
		if a += w; a > last && part <= sum*1e-18 || a-rise > 60 {
			return sum
		}
	}
}
