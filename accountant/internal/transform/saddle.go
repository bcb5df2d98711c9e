package transform

import "math"

// A point is K(θ) = log M(θ) of the whole composition, with mean and variance of
// the total loss tilted by θ.
type point struct {
	theta      float64
	k, err     float64 // |k - K(θ)| <= err
	mean, vari float64 // estimates
}

// at evaluates K; a Gaussian of total mu has M(z) = e^{z(z+1)mu²/2} exactly.
func (c *Composition) at(theta float64) point {
	c.meter.Spend(4)
	p := point{
		theta: theta,
		k:     theta * (theta + 1) * c.gauss / 2,
		mean:  (theta + 0.5) * c.gauss,
		vari:  c.gauss,
	}
	p.err = 8 * ulp * math.Abs(p.k)
	for _, e := range c.events {
		m := e.moments(theta)
		p.k += e.n * m.logM
		p.err += e.n * m.err
		p.mean += e.n * m.mean
		p.vari += e.n * m.vari
		p.err += ulp * (math.Abs(e.n*m.logM) + math.Abs(p.k))
	}
	return p
}

// exponent is G(θ) = K(θ) - θε - log θ(θ+1), convex, whose minimum over θ > 0 is the
// saddle point of the inversion integral: there δ is about e^G/√(2πG”).
func (p point) exponent(eps float64) float64 {
	return p.k - p.theta*eps - math.Log(p.theta) - math.Log1p(p.theta)
}

// stationary is the ε of which θ is the saddle point: where G' = 0.
func (p point) stationary() float64 { return p.mean - 1/p.theta - 1/(p.theta+1) }

// curvature is G”.
func (p point) curvature() float64 {
	return p.vari + 1/(p.theta*p.theta) + 1/((p.theta+1)*(p.theta+1))
}

// logDelta is the saddle-point estimate of log δ at ε = stationary().
func (p point) logDelta() float64 {
	return p.exponent(p.stationary()) - (ln2π+math.Log(p.curvature()))/2
}

// saddle finds θ > 0 near the root of an increasing function of it: value and
// slope are as functions of log θ. Bounds do not depend on how near.
func (c *Composition) saddle(start float64, f func(point) (value, slope float64)) (point, bool) {
	const least, most = -60, 60
	lo, hi := float64(least), float64(most)
	x := min(max(math.Log(start), least+1), most-1)
	var p point
	for range 200 {
		p = c.at(math.Exp(x))
		v, d := f(p)
		if !(v <= 0) {
			hi = x
		} else {
			lo = x
		}
		if !math.IsNaN(v) && (math.Abs(v/d)*p.theta*math.Sqrt(p.curvature()) < 0.2 || hi-lo < 1e-6) {
			return p, true // within a fifth of a standard deviation of the integrand
		}
		next := (lo + hi) / 2
		if step := v / d; !math.IsNaN(step) {
			next = x - min(max(step, -1.5), 1.5)
		}
		if next <= lo || next >= hi {
			next = (lo + hi) / 2
		}
		x = next
	}
	return p, false
}

// saddleAt is the saddle point of δ(ε).
func (c *Composition) saddleAt(eps float64) (point, bool) {
	o := c.at(0)
	d := eps - o.mean
	return c.saddle((d+math.Sqrt(d*d+8*o.vari))/(2*o.vari), func(p point) (float64, float64) {
		return p.stationary() - eps, p.theta * p.curvature()
	})
}

// saddleOf is the saddle point of the ε at which δ is as given.
func (c *Composition) saddleOf(logDelta float64) (point, bool) {
	o := c.at(0)
	z := math.Sqrt(max(1, -2*logDelta))
	return c.saddle(z/math.Sqrt(o.vari), func(p point) (float64, float64) {
		return logDelta - p.logDelta(), p.theta * p.theta * p.curvature()
	})
}

// points evaluates K around the saddle point: for lines to go through, and for
// Chernoff's inequality.
func (c *Composition) points(s point) []point {
	sd := math.Sqrt(s.vari)
	all := []point{{}, s}
	add := func(theta float64) {
		if p := c.at(theta); !math.IsInf(p.k, 0) && !math.IsNaN(p.k+p.err) {
			all = append(all, p)
		}
	}
	for _, d := range []float64{-6, -4, -2, 1, 2, 4, 6, 9} {
		if theta := s.theta + d/sd; theta > s.theta/3 && theta < 4*s.theta {
			add(theta)
		}
	}
	for _, r := range []float64{0.25, 0.35, 0.5, 0.7, 0.85, 1.3, 1.7, 2.2, 3} {
		add(s.theta * r)
	}
	return all
}

// chernoff is the logarithm of a bound of δ(ε): for any s > 0,
//
//	δ(ε) <= M(s) e^{-sε} C(s), C(s) = max over r of (1-e^{-r}) e^{-sr} = s^s/(1+s)^{1+s}.
func (p point) chernoff(eps float64) float64 {
	if p.theta == 0 {
		return 0 // δ <= 1
	}
	s := p.theta
	return p.k + p.err - s*eps - s*math.Log1p(1/s) - math.Log1p(s)
}

// chernoff is the least ε found at which Chernoff's inequality gives δ.
func chernoff(points []point, logDelta float64) float64 {
	eps := math.Inf(1)
	for _, p := range points {
		if p.theta > 0 {
			eps = min(eps, (p.chernoff(0)-logDelta)/p.theta)
		}
	}
	return eps
}
