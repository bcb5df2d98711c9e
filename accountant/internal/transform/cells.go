package transform

import "math"

// A cell is an interval of u with bounds of the tilted law on it.
type cell struct {
	lo, hi        edge
	least, most   float64 // its mass
	logMost       float64 // which may underflow
	kappaUp       float64 // ρ/(1+ρ)² of the mixture with N(mu), at least
	kappaNegative float64 // and of the one in the denominator, at most
}

// A rim is an interval without a cell, infinite at the ends of the window.
type rim struct {
	logMost float64 // of its mass
	rhoUp   float64 // at most
	rhoDown float64 // at most
	kappa   float64 // of the mixture in the denominator, at most
	logFlat float64 // of ∫ φ (1-q)^{-ν} over it, in units of M(θ), if that bounds f
	bounded float64 // and then ρ of the other mixture, at most
}

// An edge is a cell's end.
type edge struct {
	u, psi         float64
	rhoUp, rhoDown float64 // ρ of the two mixtures (0 of one that ℓ has not)
	rise           float64 // of the path of decay, for t = 1
}

// cells covers where the law of ℓ tilted by θ has its mass.
type cells struct {
	e        *event
	theta    float64
	list     []cell
	rim      []rim   // what no cell holds
	positive float64 // power of the mixture with N(mu) in e^{θℓ+b}, where positive
	negative float64 // power of the one in the denominator
	half     float64 // half width of the strip last found best
	height   float64 // of the path last found best
	logPhi   float64 // log|φ| where the last block ended
}

// width of the cells.
func (e *event) width() float64 { return min(0.5, 0.4/e.mu) }

// cells makes the table. On a cell of width d, a function with |f”| <= c leaves
// the range of its values at the ends by c d²/8 at most. For ψ = x - u²/2,
//
//	ψ'' = -1 + mu²((θ+1) s+(1-s+))              remove
//	ψ'' = -1 - mu² θ s+(1-s+)                   add
//	ψ'' = -1 + mu²((θ+1) s+(1-s+) - θ s-(1-s-)) replace
//
// with s+ increasing in u, s- decreasing, and s(1-s) <= min(s, 1/4).
func (e *event) cells(theta float64) *cells {
	m := e.moments(theta)
	depth := 2*(30+math.Log(e.n)) + 20
	w := e.window(theta, depth)
	c := &cells{e: e, theta: theta, negative: e.negative(theta)}
	if e.dir != Add {
		c.positive = theta + 1
	}
	norm := m.logM + ln2π/2
	lo, hi := e.edge(w.lo, theta), e.edge(w.hi, theta)
	c.rim = []rim{
		e.rim(edge{}, lo, lo.psi-norm+m.err-math.Log(w.slopeLo)),
		e.rim(hi, edge{rhoUp: math.Inf(1)}, hi.psi-norm+m.err-math.Log(w.slopeHi)),
	}
	if e.dir == Replace {
		c.rim[0].rhoDown = math.Inf(1)
		c.rim[0].kappa = kappaMax(lo.rhoDown, math.Inf(1))
		c.rim[1].rhoDown = hi.rhoDown
		c.rim[1].kappa = kappaMax(0, hi.rhoDown)
	}
	// Where the denominator's ρ is unbounded the other mixture is at most 1.
	flat := func(u float64) float64 { // P(N(0) > |u|) <= e^{-u²/2}
		return -u*u/2 - c.negative*math.Log1p(-e.q) - m.logM + m.err
	}
	switch e.dir {
	case Add:
		c.rim[1].logFlat = flat(w.hi)
	case Replace:
		c.rim[0].logFlat, c.rim[0].bounded = flat(w.lo), lo.rhoUp
	}
	width := e.width()
	for lo.u < w.hi {
		e.meter.Spend(24)
		if below := w.top - depth - lo.psi; below > 0 {
			// Far below the threshold longer steps do, over which ψ varies by below/2.
			hi := e.edge(lo.u+8*width, theta)
			for e.steepest(lo, hi, theta)*(hi.u-lo.u) > below/2 && hi.u-lo.u > width {
				hi = e.edge((lo.u+hi.u)/2, theta)
			}
			if d := hi.u - lo.u; d > width {
				c.rim = append(c.rim, e.rim(lo, hi, math.Log(d)+lo.psi+below/2-norm+m.err))
				lo = hi
				continue
			}
		}
		hi := e.edge(lo.u+width, theta)
		c.list = append(c.list, e.cell(lo, hi, theta, norm, m.err))
		lo = hi
	}
	return c
}

// steepest bounds |ψ'| = |-u + mu pull| between two edges.
func (e *event) steepest(lo, hi edge, theta float64) float64 {
	up, down := hi.rhoUp/(1+hi.rhoUp), lo.rhoDown/(1+lo.rhoDown)
	return max(math.Abs(lo.u), math.Abs(hi.u)) + e.mu*(math.Abs(theta)+1)*(up+down)
}

func (e *event) rim(lo, hi edge, logMass float64) rim {
	r := rim{logMost: logMass, rhoUp: hi.rhoUp, rhoDown: lo.rhoDown, logFlat: math.Inf(1)}
	switch e.dir {
	case Add:
		r.kappa = kappaMax(lo.rhoUp, hi.rhoUp)
	case Replace:
		r.kappa = kappaMax(hi.rhoDown, lo.rhoDown)
	}
	return r
}

// bound is that of the rim's ∫|f| on the lines up to v, but for e^{y²/2}.
//
// Where one mixture has the power -ν-it and is unbounded: the derivatives in ρ of the
// argument of 1 + ρe^{iv} and of the logarithm of its modulus are sin v and
// cos v + ρ over the same, so that for v < π/2 the first is at most tan v times the
// second, and |(1+ρe^{iv})^{-ν-it}| <= 1 while |t| tan v <= ν.
func (r *rim) bound(t, v, negative float64, arg func(float64) float64) float64 {
	b := math.Inf(1)
	if v < math.Pi/2 && t*math.Tan(v) <= negative {
		b = r.logFlat + t*arg(r.bounded)
	}
	x := r.logMost + t*(arg(r.rhoUp)+arg(r.rhoDown))
	if negative > 0 {
		x -= negative / 2 * math.Log1p(-2*r.kappa*(1-math.Cos(v)))
	}
	return math.Exp(min(b, x))
}

func (e *event) edge(u, theta float64) (d edge) {
	c := e.mu * e.mu / 2
	odds := e.q / (1 - e.q)
	d.u, d.psi = u, e.at(u, theta).psi
	d.rhoUp = odds * math.Exp(min(e.mu*u-c, 600))
	if e.dir == Replace {
		d.rhoDown = odds * math.Exp(min(-e.mu*u-c, 600))
	}
	d.rise = e.reach(u)
	return d
}

func (e *event) cell(lo, hi edge, theta, norm, err float64) cell {
	k := cell{lo: lo, hi: hi}
	bent := func(rho float64) float64 { return e.mu * e.mu * min(0.25, rho/(1+rho)) }
	up, down := bent(hi.rhoUp), bent(lo.rhoDown) // mu² s(1-s), at most
	convex, concave := -1., 1.                   // ψ'' <= convex, -ψ'' <= concave
	switch e.dir {
	case Remove:
		convex += (theta + 1) * up
	case Add:
		concave += theta * up
	case Replace:
		convex += (theta + 1) * up
		concave += theta * down
	}
	d := hi.u - lo.u
	k.logMost = math.Log(d) + max(lo.psi, hi.psi) + concave*d*d/8 - norm + err
	k.most = math.Exp(k.logMost)
	k.least = d * math.Exp(min(lo.psi, hi.psi)-max(0, convex)*d*d/8-norm-err)
	k.kappaUp = min(kappa(lo.rhoUp), kappa(hi.rhoUp))
	switch e.dir {
	case Add:
		k.kappaNegative = kappaMax(lo.rhoUp, hi.rhoUp)
	case Replace:
		k.kappaNegative = kappaMax(hi.rhoDown, lo.rhoDown)
	}
	return k
}

// kappa increases to 1/4 at 1 and then decreases.
func kappa(rho float64) float64 {
	if rho > 1e100 {
		return 1 / rho
	}
	return rho / ((1 + rho) * (1 + rho))
}

func kappaMax(lo, hi float64) float64 {
	if lo <= 1 && hi >= 1 {
		return 0.25
	}
	return max(kappa(lo), kappa(hi))
}

// step returns the h at which the trapezoidal rule for the transform at θ+it, for
// every |t| up to the one given, is right to e^{-depth} M(θ).
func (c *cells) step(t, depth float64) float64 {
	best := func(a float64) float64 { return 2 * math.Pi * a / (depth + 1 + c.strip(t, a)) }
	most := min(0.999*math.Pi/c.e.mu, 1.2*math.Sqrt(2*depth))
	a := most
	if c.half > 0 {
		a = min(most, 1.4*c.half)
	}
	h := best(a)
	for {
		next := best(a * 0.75)
		if !(next >= h) {
			c.half = a
			return h
		}
		a, h = a*0.75, next
	}
}

// strip returns log ∫|f|/M(θ) at most, over every line of the strip |Im u| < a.
//
// At |Im u| <= a the argument of 1 + ρe^{iv} is at most
//
//	A = max over v <= mu a of atan2(ρ sin v, 1 + ρ cos v),
//
// which is arcsin ρ where cos(mu a) < -ρ and else is attained at mu a; it increases
// in ρ. So ∫|f| <= e^{a²/2} M(θ) E_θ[e^{|t|A} (1-2κ(1-cos v))^{-ν/2}], cell by cell.
func (c *cells) strip(t, a float64) float64 {
	c.e.meter.Spend(2 * (len(c.rim) + len(c.list)))
	v := c.e.mu * a
	sin, cos := math.Sincos(v)
	arg := func(rho float64) float64 {
		switch {
		case cos < -rho:
			return math.Asin(rho)
		case rho > 1e100:
			return v
		}
		return math.Atan2(rho*sin, 1+rho*cos)
	}
	sum := 0.
	for i := range c.rim {
		sum += c.rim[i].bound(t, v, c.negative, arg)
	}
	for i := range c.list {
		k := &c.list[i]
		x := arg(k.hi.rhoUp)
		if c.e.dir == Replace {
			x += arg(k.lo.rhoDown)
		}
		x *= t
		if c.negative > 0 {
			x -= c.negative / 2 * math.Log1p(-2*k.kappaNegative*(1-cos))
		}
		sum += math.Exp(k.logMost + x)
	}
	return a*a/2 + math.Log(sum)
}

// decay bounds log|φ(t)|, φ(t) = M(θ+it)/M(θ), for every |t| at or above the one
// given.
//
// Theorem (Cauchy). f is analytic for |Im u| < π/mu and small at its ends, so that
// its integral along any path x + iy(x) there is the same; let y be continuous,
// piecewise linear and positive (negative where that makes e^{itℓ} small), v = mu y.
// Then |e^{itℓ}| = e^{-|t|A} with A >= 0 the arguments of the mixtures, and
//
//	|φ(t)| <= E_θ[e^{y²/2} √(1+y'²) e^{-|t|A} (1-2κ+(1-cos v))^{π/2} (1-2κ-(1-cos v))^{-ν/2}],
//
// π and ν the powers of the mixtures in e^{θℓ+b}. For a fixed path that decreases in
// |t|. Any path will do. For small t, y²/2 + y'²/2 - tℓ'y has under N(0) its least
// expectation, -t² Var ℓ/2 and so the best possible, at the y whose Hermite
// coefficients are those of tℓ' over 1, 2, 3, ...: y = t∫ of ℓ'(x s + √(1-s²) N(0)) ds
// for s in [0,1], which for ℓ' = mu q e^w is reach. Where t is large it is cut off.
func (c *cells) decay(t float64) float64 {
	most := min(0.5*math.Pi/c.e.mu, 8)
	top := most
	if c.height > 0 {
		top = min(most, 2*c.height)
	}
	best := math.Inf(1)
	for ; top > 1e-12; top *= 0.7 {
		b := c.along(t, top)
		if b > best && best < 0 {
			break
		}
		if b < best {
			best, c.height = b, top
		}
	}
	return min(0, best)
}

// reach is mu q ∫ e^{s mu u - s²mu²/2} ds, roughly: no bound depends on it.
func (e *event) reach(u float64) (y float64) {
	for _, s := range [...]float64{0.1, 0.3, 0.5, 0.7, 0.9} {
		c := s * s * e.mu * e.mu / 2
		y += math.Exp(min(s*e.mu*u-c, 300))
		if e.dir == Replace {
			y += math.Exp(min(-s*e.mu*u-c, 300))
		}
	}
	return e.mu * e.q * y / 5
}

// along evaluates the bound on the path cut off at top, of which v <= π/2: there the
// argument of 1 + ρe^{iv} increases in ρ and v. Of E[g] = 1 - E[1-g] the first form
// serves where φ is small, the second where it is near 1.
func (c *cells) along(t, top float64) float64 {
	c.e.meter.Spend(4 * (len(c.rim) + len(c.list)))
	sum, drop := 0., 0.
	for i := range c.list {
		k := &c.list[i]
		a, b := min(top, t*k.lo.rise), min(top, t*k.hi.rise)
		low, high := min(a, b), max(a, b)
		slope := (b - a) / (k.hi.u - k.lo.u)
		sin, cos := math.Sincos(c.e.mu * low)
		x := math.Atan2(k.lo.rhoUp*sin, 1+k.lo.rhoUp*cos)
		if c.e.dir == Replace {
			x += math.Atan2(k.hi.rhoDown*sin, 1+k.hi.rhoDown*cos)
		}
		x = high*high/2 + math.Log1p(slope*slope)/2 - t*x
		if c.positive > 0 {
			x += c.positive / 2 * math.Log1p(-2*k.kappaUp*(1-cos))
		}
		if c.negative > 0 {
			x -= c.negative / 2 * math.Log1p(-2*k.kappaNegative*(1-math.Cos(c.e.mu*high)))
		}
		g := math.Expm1(x)
		sum += k.most * (1 + g)
		if g < 0 {
			drop -= k.least * g
		} else {
			drop -= k.most * g
		}
	}
	// In the rim the path is level, or joins the ends of two cells.
	out := 0.
	for i := range c.rim {
		out += c.rim[i].bound(0, c.e.mu*top, c.negative, func(float64) float64 { return 0 })
	}
	out *= math.Exp(top*top/2) * (1 + top/c.e.width())
	return min(math.Log(sum+out), math.Log1p(-min(drop-out, 1)))
}
