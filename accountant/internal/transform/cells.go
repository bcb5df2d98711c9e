package transform

import "math"

// A cell is an interval of u with what the bounds need of the tilted law on it.
type cell struct {
	lo, hi       edge
	width        float64
	mass         float64 // of the tilted law, at most
	kappa        float64 // ρ/(1+ρ)² of the mixture in the denominator, at most
	variation    float64 // of p/ℓ' on the cell, at most
	after        bool    // the next cell begins where this one ends
	left, beyond float64 // sums that tail needs: see seal
}

// An edge is a cell's end.
type edge struct {
	u, psi, l      float64
	rhoUp, rhoDown float64 // ρ of the two mixtures (0 of one that ℓ has not)
	h              float64 // p/|ℓ'|
}

// cells covers where the law of ℓ tilted by θ has its mass.
type cells struct {
	e       *event
	theta   float64
	m       moments
	w       window
	list    []cell
	outside float64 // mass that no cell holds, at most
	spread  float64 // the tilted variance of ℓ, at most
}

const cellWidth = 0.5

// cells makes the table. On a cell of width d, a function with f” >= -c exceeds
// the greater of its values at the ends by c d²/8 at most. For ψ = x - u²/2,
//
//	ψ'' = -1 + mu²((θ+1) s+(1-s+))              remove: >= -1
//	ψ'' = -1 - mu² θ s+(1-s+)                   add
//	ψ'' = -1 + mu²((θ+1) s+(1-s+) - θ s-(1-s-)) replace
//
// with s+ increasing in u, s- decreasing, s(1-s) <= min(s, 1/4). ℓ is monotone,
// and |ℓ'| = mu s or mu (s+ + s-), so (log ℓ')” = -mu² s(1-s) where there is one
// mixture, and between ±2mu² where there are two, for s” = s(1-s)(1-2s)mu².
func (e *event) cells(theta float64, m moments) *cells {
	depth := 2*(30+math.Log(e.n)) + 20
	c := &cells{e: e, theta: theta, m: m, w: e.window(theta, depth)}
	logNorm := m.logM - m.err + ln2π/2 // p <= e^{ψ - logNorm}
	c.outside = math.Exp(-logNorm+e.at(c.w.lo, theta).psi)/c.w.slopeLo +
		math.Exp(-logNorm+e.at(c.w.hi, theta).psi)/c.w.slopeHi
	steepest := max(-c.w.lo, c.w.hi) + e.mu*(2*math.Abs(theta)+1)
	var gap float64
	lo := e.edge(c.w.lo, theta, logNorm)
	for lo.u < c.w.hi {
		if below := c.w.top - depth - lo.psi; below > steepest*cellWidth {
			jump := below / steepest // all of it is below the threshold
			gap += jump * math.Exp(c.w.top-depth-logNorm)
			lo = e.edge(lo.u+jump, theta, logNorm)
			continue
		}
		hi := e.edge(lo.u+cellWidth, theta, logNorm)
		if n := len(c.list); n > 0 {
			c.list[n-1].after = c.list[n-1].hi.u == lo.u
		}
		c.list = append(c.list, e.cell(lo, hi, theta, logNorm))
		lo = hi
	}
	c.outside += gap
	c.seal()
	return c
}

func (e *event) edge(u, theta, logNorm float64) (d edge) {
	c := e.mu * e.mu / 2
	odds := e.q / (1 - e.q)
	n := e.at(u, theta)
	d.u, d.psi, d.l = u, n.psi, n.l
	d.rhoUp = odds * math.Exp(min(e.mu*u-c, 600))
	slope := d.rhoUp / (1 + d.rhoUp)
	if e.dir == Replace {
		d.rhoDown = odds * math.Exp(min(-e.mu*u-c, 600))
		slope += d.rhoDown / (1 + d.rhoDown)
	}
	d.h = math.Exp(n.psi-logNorm) / (e.mu * slope)
	return d
}

func (e *event) cell(lo, hi edge, theta, logNorm float64) cell {
	k := cell{lo: lo, hi: hi, width: hi.u - lo.u}
	bend := func(rho float64) float64 { return e.mu * e.mu * min(0.25, rho/(1+rho)) }
	up, down := bend(hi.rhoUp), bend(lo.rhoDown) // mu² s(1-s), at most
	var concave, any float64                     // ψ'' >= -concave; |(log p/ℓ')''| <= any
	switch e.dir {
	case Remove:
		concave, any = 1, 1+(theta+2)*up
	case Add:
		concave, any = 1+max(theta, 0)*up, 1+(math.Abs(theta)+1)*up
	case Replace:
		concave = 1 + max(theta, 0)*down
		any = 1 + (math.Abs(theta)+1)*(up+down) + 2*e.mu*e.mu
	}
	d2 := k.width * k.width / 8
	k.mass = k.width * math.Exp(max(lo.psi, hi.psi)+concave*d2-logNorm)
	// Derivatives of log p/ℓ' at the ends.
	steep := func(d edge) float64 {
		s, r := d.rhoUp/(1+d.rhoUp), d.rhoDown/(1+d.rhoDown)
		bent := 1 - s // (log ℓ')'/mu
		if e.dir == Replace {
			bent = (s*(1-s) - r*(1-r)) / (s + r)
		}
		return -d.u + e.mu*(e.pull(d.u, theta)-bent)
	}
	a, b := steep(lo), steep(hi)
	if any*k.width < math.Abs(a) && any*k.width < math.Abs(b) {
		k.variation = math.Abs(lo.h - hi.h) // monotone
	} else {
		k.variation = k.width * (max(math.Abs(a), math.Abs(b)) + any*k.width/2) * max(lo.h, hi.h) * math.Exp(any*d2)
	}
	// ρ/(1+ρ)² increases to 1/4 at ρ = 1 and then decreases.
	x, y := lo.rhoUp, hi.rhoUp
	if e.dir == Replace {
		x, y = hi.rhoDown, lo.rhoDown
	}
	switch {
	case y < 1:
		k.kappa = y / ((1 + y) * (1 + y))
	case x > 1:
		k.kappa = x / ((1 + x) * (1 + x))
	default:
		k.kappa = 0.25
	}
	return k
}

// step returns the h at which the trapezoidal rule for the transform at θ+it, for
// every |t| up to the one given, is right to e^{-depth} M(θ).
//
// On the line Im u = y, v = mu y, the argument of 1 + ρe^{iv} is at most
//
//	A(ρ, v) = max over v' <= v of atan2(ρ sin v', 1 + ρ cos v'),
//
// which is arcsin ρ where cos v < -ρ and else is attained at v; it increases in ρ
// and v. So ∫|f| <= e^{a²/2} M(θ) E_θ[e^{|t| A} (1-2κ(1-cos v))^{-ν/2}], cell by cell.
func (c *cells) step(t, depth float64) float64 {
	neg := c.e.negative(c.theta)
	best := 0.
	for a := min(0.999*math.Pi/c.e.mu, 1.2*math.Sqrt(2*depth)); ; a *= 0.75 {
		n := c.strip(t, a, neg)
		h := 2 * math.Pi * a / (depth + 1 + n)
		if h < best {
			return best
		}
		best = h
	}
}

// strip returns log ∫|f|/M(θ) at most, over the lines of the strip of half width a.
func (c *cells) strip(t, a, neg float64) float64 {
	v := c.e.mu * a
	sin, cos := math.Sincos(v)
	arg := func(rho float64) float64 {
		if cos < -rho {
			return math.Asin(rho)
		}
		return math.Atan2(rho*sin, 1+rho*cos)
	}
	sum := c.outside * math.Exp(c.e.arguments()*t*v-neg*math.Log(math.Cos(v/2)))
	for i := range c.list {
		k := &c.list[i]
		if k.mass == 0 {
			continue
		}
		x := t * arg(k.hi.rhoUp)
		if c.e.dir == Replace {
			x += t * arg(k.lo.rhoDown)
		}
		if neg > 0 {
			x -= neg / 2 * math.Log1p(-2*k.kappa*(1-cos))
		}
		sum += k.mass * math.Exp(x)
	}
	return a*a/2 + math.Log(sum)
}

// seal fills what tail and spread need.
func (c *cells) seal() {
	left := c.outside
	for i := range c.list {
		c.list[i].left = left
		left += c.list[i].mass
	}
	// beyond: the ends of runs of cells, and the variation between them.
	beyond := 0.
	for i := len(c.list) - 1; i >= 0; i-- {
		k := &c.list[i]
		if !k.after {
			beyond += k.hi.h // a run ends here
			if i+1 < len(c.list) {
				beyond += c.list[i+1].lo.h // and the next one began
			}
		}
		beyond += k.variation
		k.beyond = beyond + k.lo.h
	}
	far := max(math.Abs(c.e.at(c.w.lo, c.theta).l-c.m.mean), math.Abs(c.e.at(c.w.hi, c.theta).l-c.m.mean))
	for i := range c.list {
		k := &c.list[i]
		x := max(math.Abs(k.lo.l-c.m.mean), math.Abs(k.hi.l-c.m.mean))
		c.spread += k.mass * x * x
		far = max(far, x)
	}
	// Beyond the window ℓ grows by 2mu |u - edge| at most and the law falls like
	// e^{-slope |u-edge|}, slope >= 1.
	c.spread += c.outside * (2*far*far + 16*c.e.mu*c.e.mu)
}

// tail bounds |φ(t)|, φ the tilted characteristic function of ℓ, for every |t| at
// or above the one given.
//
// Integrating by parts on a run of cells, with ℓ monotone and p/ℓ' of bounded
// variation, |∫ p e^{itℓ}| <= (p/ℓ' at both ends + its variation)/t. The mass left
// of a point, where ℓ may be flat, counts in full; any point will do.
func (c *cells) tail(t float64) float64 {
	best := 1.
	for i := range c.list {
		best = min(best, c.list[i].left+c.list[i].beyond/t)
	}
	return best
}
