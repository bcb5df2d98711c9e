package transform

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A spectrum samples φ(t) = M(θ+it)/M(θ), the characteristic function of ℓ under
// its law tilted by θ, by the trapezoidal rule on one grid: φ is then a mean of
// e^{itℓ} over the nodes with weights p, of which each frequency takes one complex
// product per node.
//
// |φ - computed| <= e^{-depth}-sized error of the rule, the mass of nodes left
// out, and rounding: a term is off by its phase t ℓ (relative error of ℓ and of t ℓ),
// its weight, and 8 units for each turn since the last seed, all times
// min(2, t|ℓ|) <= t|ℓ|: so t(base + turns·each) in all.
type spectrum struct {
	meter            *work.Meter
	p, l             []float64
	re, im, dre, dim []float64 // e^{itℓ} - 1 and the turn e^{i dt ℓ} - 1
	turns            float64
	fixed            float64 // error of the rule and of what was left out
	base, each       float64
}

// spectrum prepares frequencies up to t to an error of about e^{-depth}, depth >= 3.
// It reports whether the grid is of moderate length.
func (c *cells) spectrum(t, depth float64, s *spectrum) bool {
	e := c.e
	h := c.step(t, depth)
	depth += 5 // of the nodes left out, which are many
	w := e.window(c.theta, depth)
	if !(w.hi-w.lo < maxNodes*h) {
		return false
	}
	s.p, s.l = s.p[:0], s.l[:0]
	s.base, s.each = 0, 0
	z, base := 0., 0.
	omitted := e.nodes(w, c.theta, h, depth, false, func(u float64, n node) {
		p := math.Exp(n.psi - w.top)
		z += p
		s.p = append(s.p, p)
		s.l = append(s.l, n.l)
		l := math.Abs(n.l)
		dw := 4 * n.s * (e.mu*math.Abs(u) + e.mu*e.mu) // rounding of ℓ, in ulps
		weight := 8 + 4*math.Abs(n.x) + 2*u*u + (2*math.Abs(c.theta)+1)*dw
		base += p * (l*(8+weight) + dw)
		s.each += p * l
	})
	for i := range s.p {
		s.p[i] /= z
	}
	s.base = ulp * (base + 2*float64(len(s.p))*s.each) / z
	s.each *= 8 * ulp / z
	s.fixed = 2*omitted/(z*h) + 2.3*math.Exp(5-depth)
	n := len(s.p)
	if cap(s.re) < n {
		s.re, s.im, s.dre, s.dim = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	}
	s.re, s.im, s.dre, s.dim = s.re[:n], s.im[:n], s.dre[:n], s.dim[:n]
	return true
}

// seed sets e^{itℓ} - 1 at t, as -2 sin²(tℓ/2) + i sin(tℓ), and its turn for dt.
func (s *spectrum) seed(t, dt float64) {
	s.meter.Spend(4 * len(s.l))
	for i, l := range s.l {
		sin, cos := math.Sincos(t * l / 2)
		s.re[i], s.im[i] = -2*sin*sin, 2*sin*cos
		sin, cos = math.Sincos(dt * l / 2)
		s.dre[i], s.dim[i] = -2*sin*sin, 2*sin*cos
	}
	s.turns = 0
}

// value returns φ(t) - 1 and its error, and turns on to t + dt.
func (s *spectrum) value(t float64) (re, im, err float64) {
	n := len(s.p)
	s.meter.Spend(n/8 + 1)
	p, a, b, c, d := s.p, s.re[:n], s.im[:n], s.dre[:n], s.dim[:n]
	for i := range p {
		x, y := a[i], b[i]
		re += p[i] * x
		im += p[i] * y
		a[i] = x + c[i] + (x*c[i] - y*d[i])
		b[i] = y + d[i] + (x*d[i] + y*c[i])
	}
	err = s.fixed + t*(s.base+s.turns*s.each)
	s.turns++
	return re, im, err
}

// modulus returns log|φ| from φ - 1, and that of |φ| and its error together. The
// second may exceed 0: then the error alone says so, and what adds 0 stays right.
func modulus(re, im, err float64) (abs, most float64) {
	a := math.Hypot(1+re, im)
	if a < 0.5 {
		return math.Log(a), math.Log(a + err)
	}
	// |φ|² = 1 + 2re + re² + im², whose terms may cancel.
	abs = math.Log1p(2*re+re*re+im*im) / 2
	return abs, abs + math.Log1p(err/a) + 4*ulp*(math.Abs(re)+re*re+im*im)
}
