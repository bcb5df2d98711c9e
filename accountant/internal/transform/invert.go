package transform

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// Theorem (bilateral Laplace inversion). For P, Q with loss ℓ and M(z) = E_P[e^{zℓ}],
// the integral of e^{zε} (1 - e^{ε-s})_+ over ε is e^{zs}/(z(z+1)) for Re z > 0, so
//
//	δ(ε) = E_P[(1 - e^{ε-S})_+] = 1/(2π) ∫ M(z) e^{-zε}/(z(z+1)) dt, z = θ + it,
//
// for any θ > 0 at which M is finite; the integral converges absolutely.
//
// Theorem (Poisson summation). The trapezoidal rule of step dt for it, T = 2π/dt, is
//
//	Σ over n of e^{θnT} δ(ε+nT) >= δ(ε),
//
// every term positive. For n < 0 and n > 0 the terms are bounded by Chernoff's
// inequality at some s < θ and some s > θ: geometric series of ratio e^{-|θ-s|T}.

// tolerance is the logarithm of each error's size, relative to δ, aimed at. What is
// claimed is what comes out.
const tolerance = 24

// A line is a sampled vertical line of the complex plane. It serves every ε near
// the one that it was laid for.
type line struct {
	meter  *work.Meter
	base   point
	dt     float64
	phi    []sample // at j dt, j = 1, 2, ...
	tail   float64  // bound of dt/π Σ |φ|/|z(z+1)| over all frequencies beyond
	points []point  // for Chernoff's inequality
}

// A sample is log φ(t), φ = M(θ+it)/M(θ) of the whole composition.
type sample struct {
	abs, arg float64
	most     float64 // log of |φ| and its error together
}

// period is the least T found at which the aliases of δ(ε) are small against it.
func period(b point, points []point, eps, logDelta float64) float64 {
	left, right := math.Inf(1), math.Inf(1)
	for _, p := range points {
		t := (p.chernoff(eps) - logDelta + tolerance) / math.Abs(p.theta-b.theta)
		switch {
		case p.theta < b.theta:
			left = min(left, t)
		case p.theta > b.theta:
			right = min(right, t)
		}
	}
	return max(left, right)
}

// aliases bounds the sum of the other terms of Poisson's formula, over e^{K-θε}.
func (l *line) aliases(eps float64) float64 {
	left, right := math.Inf(1), math.Inf(1)
	scale := l.base.k - l.base.err - l.base.theta*eps
	for _, p := range l.points {
		r := math.Abs(p.theta-l.base.theta) * 2 * math.Pi / l.dt
		t := math.Exp(p.chernoff(eps)-scale-r) / -math.Expm1(-r)
		switch {
		case p.theta < l.base.theta:
			left = min(left, t)
		case p.theta > l.base.theta:
			right = min(right, t)
		}
	}
	return left + right
}

// lay samples a line for δ(ε) about e^{logDelta}. Of the points whose integrand
// does not exceed the least by more than e^8, which rounding bears, it goes through
// the one with the shortest period.
func (c *Composition) lay(points []point, eps, logDelta float64) (*line, error) {
	l := &line{meter: c.meter, points: points}
	least := math.Inf(1)
	for _, p := range points[1:] {
		least = min(least, p.exponent(eps))
	}
	best := math.Inf(1)
	for _, p := range points[1:] {
		if p.exponent(eps) > least+8 {
			continue
		}
		if t := period(p, points, eps, logDelta); t < best {
			l.base, best = p, t
		}
	}
	if math.IsInf(best, 0) || !(best > 0) {
		return nil, fmt.Errorf("%w: no period was found", ErrUnsuited)
	}
	l.dt = 2 * math.Pi / best
	return l, c.sample(l, logDelta-(l.base.k-l.base.theta*eps))
}

// maxWork bounds nodes times frequencies: about a tenth of a second.
const maxWork = 2e7

// maxFrequencies bounds the memory of a line, of 24 bytes each, where a Gaussian of next
// to no variance does not end it.
const maxFrequencies = 1 << 20

// maxEvents bounds the memory of the tables, of about 20 kB each.
const maxEvents = 5000

// sample fills a line until what is beyond is small against e^{logI}.
func (c *Composition) sample(l *line, logI float64) error {
	if len(c.events) > maxEvents {
		return fmt.Errorf("%w: more than %.0e different events", ErrUnsuited, float64(maxEvents))
	}
	theta := l.base.theta
	laws := make([]*cells, len(c.events))
	steps := math.Log(max(1, float64(len(c.events))))
	for i, e := range c.events {
		if laws[i] = e.cells(theta); len(laws[i].list) == 0 {
			return fmt.Errorf("%w: the tilted law is too wide", ErrUnsuited)
		}
	}
	// The sum of 1/|z(z+1)| over the line is about dt/π of this: off the saddle point
	// it exceeds the integral.
	steps += max(0, -logI-math.Log(2*theta))
	s := spectrum{meter: c.meter}
	work := 0.
	last := 0. // log|φ| at the end
	for size := 32; ; size = min(2*size, 256) {
		from := len(l.phi)
		if from > maxFrequencies {
			return fmt.Errorf("%w: more than %.0e frequencies", ErrUnsuited, float64(maxFrequencies))
		}
		c.meter.Spend(size)
		for j := range size {
			t := float64(from+j+1) * l.dt
			g := -c.gauss * t * t / 2
			l.phi = append(l.phi, sample{abs: g, most: g, arg: (theta + 0.5) * c.gauss * t})
		}
		block := l.phi[from:]
		start, end := float64(from+1)*l.dt, float64(len(l.phi))*l.dt
		for i, e := range c.events {
			// What is small against e^{-tolerance} once it is a relative error of |φ|^n.
			depth := steps + math.Log(e.n) + 3 + max(0, tolerance+last) - laws[i].logPhi
			if !laws[i].spectrum(end, min(depth, steps+math.Log(e.n)+tolerance+6), &s) {
				return fmt.Errorf("%w: more than %.0e nodes", ErrUnsuited, float64(maxNodes))
			}
			if work += float64(len(s.p) * size); work > maxWork {
				return fmt.Errorf("%w: more than %.0e terms", ErrUnsuited, maxWork)
			}
			s.seed(start, l.dt)
			for j := range block {
				re, im, err := s.value(start + float64(j)*l.dt)
				abs, most := modulus(re, im, err)
				laws[i].logPhi = most
				block[j].abs += e.n * abs
				block[j].most += e.n * most
				block[j].arg += e.n * math.Atan2(im, 1+re)
			}
		}
		last = block[size-1].most
		if last+math.Log(2/(math.Pi*end)) <= logI-tolerance {
			if beyond := c.beyond(laws, end); beyond <= logI-tolerance {
				l.tail = math.Exp(beyond)
				return nil
			}
		}
	}
}

// beyond bounds, in logarithm, dt/π Σ |φ(t_j)|/t_j² over t_j > t, where the factor
// of |φ| is at most (1/π)(1/t)(1 + dt/t) <= 2/(πt).
func (c *Composition) beyond(laws []*cells, t float64) float64 {
	b := math.Log(2/(math.Pi*t)) - c.gauss*t*t/2
	for i, e := range c.events {
		b += e.n * laws[i].decay(t)
	}
	return b
}

// A value is δ(ε) = e^scale times a bracket.
type value struct {
	scale          float64
	low, mid, high float64
	slope          float64 // dδ/dε, estimated, in the same scale
}

func (v value) logs() (low, mid, high float64) {
	return v.scale + math.Log(max(0, v.low)), v.scale + math.Log(max(0, v.mid)), v.scale + math.Log(v.high)
}

// value sums the line at ε.
func (l *line) value(eps float64) (v value) {
	l.meter.Spend(8 * len(l.phi))
	theta := l.base.theta
	v.scale = l.base.k - theta*eps
	sum := 1 / (theta * (theta + 1)) / 2
	slope := -1 / (theta + 1) / 2
	size, fault := sum, 0.
	for j, p := range l.phi {
		t := float64(j+1) * l.dt
		// 1/(z(z+1)) and its argument.
		r := math.Hypot(theta, t) * math.Hypot(theta+1, t)
		g := math.Exp(p.abs) / r
		down := math.Atan2(t, theta+1)
		angle := p.arg - t*eps - down
		both := angle - math.Atan2(t, theta)
		sum += g * math.Cos(both)
		slope -= g * math.Hypot(theta, t) * math.Cos(angle)
		size += g
		fault += (math.Exp(p.most)-math.Exp(p.abs))/r +
			4*ulp*g*(1+math.Abs(p.abs)+math.Abs(p.arg)+math.Abs(t*eps))
	}
	w := l.dt / math.Pi
	v.mid = w * sum
	v.slope = w * slope
	// e^scale is not computed here but its argument is not exact.
	rel := l.base.err + 4*ulp*(math.Abs(l.base.k)+math.Abs(theta*eps)+2)
	err := w*(fault+2*ulp*float64(len(l.phi)+8)*size) + l.tail
	err += math.Expm1(rel) * (math.Abs(v.mid) + err)
	v.high = v.mid + err
	v.low = max(0, v.mid-err-l.aliases(eps)*math.Exp(rel))
	return v
}
