package transform

import (
	"fmt"
	"math"
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
// inequality δ(x) <= C(s) M(s) e^{-sx} at some s < θ and some s > θ, with
// C(s) = max (1-e^{-r}) e^{-sr} = s^s/(1+s)^{1+s}: geometric series of ratio e^{-|θ-s|T}.

// tolerance is the logarithm of each error's size, relative to δ, aimed at. What is
// claimed is what comes out.
const tolerance = 27

// A line is a sampled vertical line of the complex plane. It serves every ε near
// the one that it was laid for.
type line struct {
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

func chernoff(p point, eps float64) float64 {
	if p.theta == 0 {
		return 0 // δ <= 1
	}
	s := p.theta
	return p.k + p.err - s*eps - s*math.Log1p(1/s) - math.Log1p(s)
}

// period is the least T found at which the aliases of δ(ε) are small against it.
func period(b point, points []point, eps, logDelta float64) float64 {
	left, right := math.Inf(1), math.Inf(1)
	for _, p := range points {
		t := (chernoff(p, eps) - logDelta + tolerance) / math.Abs(p.theta-b.theta)
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
		t := math.Exp(chernoff(p, eps)-scale-r) / -math.Expm1(-r)
		switch {
		case p.theta < l.base.theta:
			left = min(left, t)
		case p.theta > l.base.theta:
			right = min(right, t)
		}
	}
	return left + right
}

// lay samples the line for δ(ε) about e^{logDelta}, s being the saddle point.
func (c *Composition) lay(s point, eps, logDelta float64) (*line, error) {
	l := &line{points: []point{{}, s}}
	sd := math.Sqrt(s.vari)
	add := func(theta float64) {
		if p := c.at(theta); theta > 0 && !math.IsInf(p.k, 0) && !math.IsNaN(p.k) {
			l.points = append(l.points, p)
		}
	}
	for _, d := range []float64{-6, -4, -2, 1, 2, 4, 6, 9} {
		if theta := s.theta + d/sd; theta > s.theta/3 && theta < 4*s.theta {
			add(theta)
		}
	}
	for _, r := range []float64{0.25, 0.35, 0.5, 0.7, 1.3, 1.7, 2.2, 3} {
		add(s.theta * r)
	}
	best, work := math.Inf(1), math.Inf(1)
	for _, p := range l.points {
		if p.theta == 0 || p.theta > s.theta || p.exponent(eps) > s.exponent(eps)+4 {
			continue
		}
		t := period(p, l.points, eps, logDelta)
		if w := t / math.Sqrt(p.vari); w < work {
			l.base, best, work = p, t, w
		}
	}
	if math.IsInf(best, 0) || !(best > 0) {
		return nil, fmt.Errorf("%w: no period was found", ErrUnsuited)
	}
	l.dt = 2 * math.Pi / best
	return l, c.sample(l, logDelta-(l.base.k-l.base.theta*eps))
}

// maxWork bounds nodes times frequencies: about half a second.
const maxWork = 1e8

// sample fills a line until what is beyond is small against e^{logI}.
func (c *Composition) sample(l *line, logI float64) error {
	theta := l.base.theta
	laws := make([]*cells, len(c.events))
	steps := math.Log(max(1, float64(len(c.events))))
	for i, e := range c.events {
		laws[i] = e.cells(theta, e.moments(theta))
	}
	// Beyond flat, the bounds of tail suffice.
	enough := logI - tolerance
	flat := l.dt
	for c.beyond(laws, flat) > enough {
		if flat *= 1.5; flat > 1e18*l.dt {
			return fmt.Errorf("%w: the characteristic function does not fall", ErrUnsuited)
		}
	}
	var s spectrum
	work := 0.
	last := 0. // log|φ| at the end
	again := 0.
	for size := 32; ; size = min(2*size, 256) {
		from := len(l.phi)
		for j := range size {
			t := float64(from+j+1) * l.dt
			g := -c.gauss * t * t / 2
			l.phi = append(l.phi, sample{abs: g, most: g, arg: (theta + 0.5) * c.gauss * t})
		}
		block := l.phi[from:]
		start, end := float64(from+1)*l.dt, float64(len(l.phi))*l.dt
		for i, e := range c.events {
			laws[i].spectrum(end, steps+math.Log(e.n)+3+max(0, tolerance+last), &s)
			if work += float64(len(s.p) * size); work > maxWork {
				return fmt.Errorf("%w: more than %.0e terms", ErrUnsuited, maxWork)
			}
			s.seed(start, l.dt)
			for j := range block {
				re, im, err := s.value(start + float64(j)*l.dt)
				abs, most := modulus(re, im, err)
				block[j].abs += e.n * abs
				block[j].most += e.n * most
				block[j].arg += e.n * math.Atan2(im, 1+re)
			}
		}
		last = block[size-1].most
		if end >= again && last+math.Log(2/(math.Pi*end)) <= enough {
			if l.tail, again = c.guard(laws, end, flat, enough); again == 0 {
				return nil
			}
		}
	}
}

// beyond bounds, in logarithm, dt/π Σ |φ(t_j)|/t_j² over t_j > t, where the factor
// after dt/π is at most (1/t)(1 + dt/t) <= 2/t.
func (c *Composition) beyond(laws []*cells, t float64) float64 {
	b := math.Log(2/(math.Pi*t)) - c.gauss*t*t/2
	for i, e := range c.events {
		b += e.n * math.Log(laws[i].tail(t))
	}
	return b
}

// guard bounds the same sum over all t_j > from, or returns until where it cannot:
// the line is to be sampled up to there. Between its values at two points d apart,
// |φ|² = E[cos tD], D the difference of two independent losses, exceeds the greater by
// d²/8 times E[D²] = 2 Var ℓ at most. From flat on, tail serves.
func (c *Composition) guard(laws []*cells, from, flat, enough float64) (bound, until float64) {
	var s spectrum
	values := func(t float64) []float64 {
		v := make([]float64, len(laws))
		for i, law := range laws {
			law.spectrum(t, math.Log(float64(len(laws)))+math.Log(law.e.n)+4, &s)
			_, v[i] = modulus(s.once(t))
		}
		return v
	}
	var here []float64
	for t := from; t < flat; {
		if here == nil {
			here = values(t)
		}
		next := min(1.25*t, flat)
		there := values(next)
		b := math.Log(2/(math.Pi*t)) - c.gauss*t*t/2
		for i, e := range c.events {
			square := math.Expm1(2*max(here[i], there[i])) + (next-t)*(next-t)*laws[i].spread/4
			b += e.n * min(0, math.Log1p(square)/2)
		}
		if !(b <= enough) {
			return 0, next
		}
		bound += math.Exp(b)
		t, here = next, there
	}
	return bound + math.Exp(c.beyond(laws, max(from, flat))), 0
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
