package transform

import "math"

const (
	ulp  = 0x1p-52 // of 1; twice the error of a correctly rounded operation
	ln2π = 1.8378770664093453
)

// Theorem (Trefethen and Weideman 2014, "The exponentially convergent trapezoidal
// rule", Theorem 5.1). If f is analytic for |Im u| < a, tends to 0 there as
// |u| -> ∞, and ∫|f(x+iy)| dx <= N for every |y| < a, then
//
//	|h Σ f(jh) - ∫ f| <= 2N/(e^{2πa/h} - 1).
//
// For f = φ e^{zℓ+b}, z = θ+it, on the line u = x+iy, with v = mu y, ρ = q e^w/(1-q)
// and a mixture being (1-q)(1 + ρe^{iv}):
//   - |φ(u)| = φ(x) e^{y²/2};
//   - |1+ρe^{iv}| <= 1+ρ, and >= (1+ρ) cos(v/2) for |v| < π, because its square
//     over (1+ρ)² is 1 - 2(1-cos v) ρ/(1+ρ)² and ρ/(1+ρ)² <= 1/4;
//   - its argument is between 0 and v, since it lies in the cone of 1 and e^{iv}.
//     A mixture has no zero and its logarithm is analytic for |v| < π.
//
// So N <= e^{a²/2} cos(mu a/2)^{-ν} e^{c|t| mu a} M(θ), ν the power of the mixture
// that is in a denominator, c the number of mixtures in ℓ. (Cells sharpen this.)
//
// For add and v <= π/2 there is another bound, for great θ and small q: as
// |1+ρe^{iv}| >= 1 + ρ cos v >= (1+ρ)^{cos v}, the integral of |f| at t = 0 is at most
// e^{a²/2} (1-q)^{-θ(1-cos v)} M(θ cos v), and M increases on θ >= 0.

// step returns the h at which the trapezoidal rule for real θ is right to
// e^{-depth} of max(1, M(θ)), also for φ times 1 and times the y of the centred form.
func (e *event) step(theta, depth float64) float64 {
	linear := math.Log(2 + 2*e.q*(2*math.Abs(theta)+1))
	neg := e.negative(theta)
	best := 0.
	for a := min(0.999*math.Pi/e.mu, 1.2*math.Sqrt(2*depth)); ; a *= 0.8 {
		e.meter.Spend(2)
		v := e.mu * a
		power := -math.Log(math.Cos(v / 2))
		if e.dir == Add && v <= math.Pi/2 {
			power = min(power, -math.Log1p(-e.q)*(1-math.Cos(v)))
		}
		n := a*a/2 + neg*power + linear
		h := 2 * math.Pi * a / (depth + 1 + n)
		if !(h >= best) {
			return best
		}
		best = h
	}
}

// nodes calls keep at the points jh where the tilted density matters: those where
// ψ > top - depth, and with all set also those near the modes of N(0) and N(±mu).
// It returns h Σ e^{ψ-top} over all the others, at most.
func (e *event) nodes(w window, theta, h, depth float64, all bool, keep func(u float64, n node)) (omitted float64) {
	r := math.Sqrt(2 * depth)
	steepest := max(-w.lo, w.hi) + e.mu*(2*math.Abs(theta)+1) // >= |ψ'|
	skipped := 0.
	for j, last := math.Ceil(w.lo/h), math.Floor(w.hi/h); j <= last; j++ {
		e.meter.Spend(8)
		u := j * h
		var n node
		if e.grid != nil {
			n = e.on(e.grid, int(j), theta)
		} else {
			n = e.at(u, theta)
		}
		low := w.top - depth - n.psi
		near := math.Abs(u)
		if all {
			near = min(near, math.Abs(u-e.mu), math.Abs(u+e.mu))
		} else {
			near = math.Inf(1)
		}
		if low < 0 || near <= r {
			keep(u, n)
			continue
		}
		// ψ stays below the threshold for low/steepest.
		jump := math.Floor(low / (steepest * h))
		if all {
			jump = min(jump, math.Floor((near-r)/h))
		}
		skipped += jump + 1
		j += jump
	}
	return skipped*h*math.Exp(-depth) +
		math.Exp(e.at(w.lo, theta).psi-w.top)*(h+1/w.slopeLo) +
		math.Exp(e.at(w.hi, theta).psi-w.top)*(h+1/w.slopeHi)
}

// maxNodes bounds the nodes of a grid.
const maxNodes = 3e4

// Moments are log M(θ) of one step and the mean and variance of ℓ tilted by θ.
type moments struct {
	logM, err  float64 // |logM - truth| <= err
	mean, vari float64 // estimates, for searches
}

// moments integrates the real transform. As E[y±] = 0 under N(0),
//
//	M(θ) - 1 = E[e^x - 1 - x + (x - its linear part in y)]
//
// has an integrand of second order in q: M - 1 comes out to a few units in the
// last place of itself, and a billion steps of rate 1e-9 have a log M(θ)^n to that
// accuracy. Where M is large the plain integral does. It is NaN where the grid would
// be too long.
func (e *event) moments(theta float64) (m moments) {
	depth := 40 + math.Log(e.n)
	var h float64
	if e.grid != nil {
		h = e.grid.h // no coarser
	} else {
		h = e.step(theta, depth)
	}
	w := e.window(theta, depth)
	if !(w.hi-w.lo < maxNodes*h) {
		return moments{logM: math.NaN(), err: math.NaN()}
	}
	centred := w.top < 30 && e.mu < 20
	if w.top < 0 {
		w.top = 0
	}
	var sum, size, fault, mass, first, second, count float64
	omitted := e.nodes(w, theta, h, depth, centred, func(u float64, n node) {
		count++
		dw := ulp * 2 * (e.mu*math.Abs(u) + e.mu*e.mu) // rounding of w, times s of L
		if centred {
			g := math.Exp(-u * u / 2)
			p, ex := expx(n.x)
			p, ex = g*p, g*ex
			if n.x > 100 { // e^x may overflow where φ e^x does not
				ex = math.Exp(n.psi)
				p = ex - g*(1+n.x)
			}
			sum += p + g*n.d
			size += math.Abs(p) + g*math.Abs(n.d)
			fault += math.Abs(ex-g)*(3*ulp*math.Abs(n.x)+(2*math.Abs(theta)+1)*n.s*dw) +
				g*n.y*(2*math.Abs(theta)+1)*n.s*dw
			mass += ex
			first += ex * n.l
			second += ex * n.l * n.l
			return
		}
		g := math.Exp(n.psi - w.top)
		fault += g * (ulp*(8+4*math.Abs(n.x)+2*u*u+math.Abs(w.top)) + (2*math.Abs(theta)+1)*n.s*dw)
		mass += g
		first += g * n.l
		second += g * n.l * n.l
	})
	m.mean = first / mass
	m.vari = max(0, second/mass-m.mean*m.mean)
	norm := h / math.Sqrt(2*math.Pi)
	if !centred {
		mass *= norm
		m.logM = w.top + math.Log(mass)
		m.err = (fault*norm+omitted)/mass + ulp*(count+2+math.Abs(m.logM)) + 2*math.Exp(-depth-min(0, m.logM))
		return m
	}
	// The nodes left out have also φ|1 + x's linear part|, below the tail of N(0)
	// and of N(±mu) beyond sqrt(2 depth), of which x has |θ|+1 times q at most.
	linear := (1 + 8*e.q*(2*math.Abs(theta)+1)) * (h + 1) * math.Exp(-depth)
	s := sum * norm
	m.logM = math.Log1p(s)
	m.err = ((fault+ulp*(64+count)*size)*norm+omitted*math.Exp(w.top)+linear+2*math.Exp(-depth)*(1+max(s, 0)))/(1+s) + 2*ulp*math.Abs(m.logM)
	return m
}

// expx returns e^x - 1 - x without cancellation, and e^x.
func expx(x float64) (p, ex float64) {
	ex = math.Exp(x)
	if math.Abs(x) > 0.3 {
		return ex - 1 - x, ex
	}
	p = 1 + x/3*(1+x/4*(1+x/5*(1+x/6*(1+x/7*(1+x/8*(1+x/9*(1+x/10*(1+x/11*(1+x/12*(1+x/13))))))))))
	return x * x / 2 * p, ex
}
