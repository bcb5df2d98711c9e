package transform

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A Direction says which of the two neighbours P is. The record is in the batch
// with probability q and then moves the mean by mu standard deviations.
type Direction int

const (
	Remove  Direction = iota // P = (1-q)N(0) + qN(mu), Q = N(0): P has the record
	Add                      // P = N(0), Q = (1-q)N(0) + qN(mu): Q has the record
	Replace                  // P = (1-q)N(0) + qN(mu), Q = (1-q)N(0) + qN(-mu)
)

func (d Direction) String() string {
	switch d {
	case Remove:
		return "remove"
	case Add:
		return "add"
	default:
		return "replace"
	}
}

// An event is n equal steps of Poisson-subsampled Gaussian noise, 0 < q < 1.
//
// Everything is an integral against the standard normal density of u: with
//
//	w±(u) = ±mu u - mu²/2,  y± = q(e^w± - 1),  L± = log(1 + y±),
//
// N(±mu) has density e^w± relative to N(0), so that the loss ℓ = log dP/dQ and
// b = log dP/dN(0) are L+ and L+ (remove), -L+ and 0 (add), L+ - L- and L+
// (replace), and M(z) = E_P[e^{zℓ}] = ∫ φ(u) e^{zℓ + b} du. Of replace either
// direction is the other one reflected, u to -u.
type event struct {
	mu, q, n float64
	dir      Direction
	grid     *grid // of RDP, or nil
	meter    *work.Meter
}

// A grid keeps the mixtures at the points jh, first <= j, for many θ. It is not safe
// for concurrent use.
type grid struct {
	h     float64
	first int
	known []struct {
		ok       bool
		up, down half
	}
}

// on is at for the point jh of a grid.
func (e *event) on(g *grid, j int, theta float64) node {
	u := float64(j) * g.h
	if j -= g.first; j < 0 || j >= len(g.known) {
		return e.at(u, theta)
	}
	k := &g.known[j]
	if !k.ok {
		c := e.mu * e.mu / 2
		k.ok, k.up = true, e.mixture(e.mu*u-c)
		if e.dir == Replace {
			k.down = e.mixture(-e.mu*u - c)
		}
	}
	return e.node(u, theta, &k.up, &k.down)
}

// A half is one of the two mixtures at a point.
type half struct {
	l, y float64 // L and y
	d    float64 // L - y, without cancellation
	s    float64 // q e^w/(1-q+q e^w): dL/dw
}

// mixture evaluates 1 - q + q e^w.
func (e *event) mixture(w float64) (m half) {
	if w > 300 { // y may overflow; it is needed where the shift is moderate only
		r := (1 - e.q) / e.q * math.Exp(-w)
		m.l = w + math.Log(e.q) + math.Log1p(r)
		m.y = e.q * math.Exp(min(w, 700))
		m.d = m.l - m.y
		m.s = 1 / (1 + r)
		return m
	}
	m.y = e.q * math.Expm1(w)
	if math.Abs(m.y) < 0.15 {
		// log(1+y) = 2 artanh r with r = y/(2+y), and 2r - y = -ry.
		r := m.y / (2 + m.y)
		r2 := r * r
		m.d = -r*m.y + 2*r*r2*(1./3+r2*(1./5+r2*(1./7+r2*(1./9+r2*(1./11+r2*(1./13+r2/15))))))
		m.l = m.y + m.d
	} else {
		m.l = math.Log1p(m.y)
		m.d = m.l - m.y
	}
	m.s = (m.y + e.q) / (1 + m.y)
	return m
}

// A node is the loss at a point, tilted by theta.
type node struct {
	l   float64 // ℓ
	x   float64 // θℓ + b
	d   float64 // x less its part that is linear in y, whose expectation is 0
	y   float64 // |y+| + |y-|
	s   float64 // s+ + s-, where they are part of ℓ: |ℓ'|/mu
	psi float64 // x - u²/2
}

func (e *event) at(u, theta float64) node {
	c := e.mu * e.mu / 2
	var p, m half
	p = e.mixture(e.mu*u - c)
	if e.dir == Replace {
		m = e.mixture(-e.mu*u - c)
	}
	return e.node(u, theta, &p, &m)
}

// node is at for known mixtures with N(mu) and N(-mu).
func (e *event) node(u, theta float64, p, m *half) node {
	switch e.dir {
	case Remove:
		return node{p.l, (theta + 1) * p.l, (theta + 1) * p.d, math.Abs(p.y), p.s, (theta+1)*p.l - u*u/2}
	case Add:
		return node{-p.l, -theta * p.l, -theta * p.d, math.Abs(p.y), p.s, -theta*p.l - u*u/2}
	}
	x := (theta+1)*p.l - theta*m.l
	return node{p.l - m.l, x, (theta+1)*p.d - theta*m.d, math.Abs(p.y) + math.Abs(m.y), p.s + m.s, x - u*u/2}
}

// pull is (x')/mu: the tilted log density has the derivative -u + mu pull.
func (e *event) pull(u, theta float64) float64 {
	c := e.mu * e.mu / 2
	p := e.mixture(e.mu*u - c).s
	switch e.dir {
	case Remove:
		return (theta + 1) * p
	case Add:
		return -theta * p
	}
	return (theta+1)*p + theta*e.mixture(-e.mu*u-c).s
}

// negative is the power, at most, of a mixture in a denominator of e^{θℓ+b}.
func (e *event) negative(theta float64) float64 {
	if e.dir == Remove {
		return max(0, -theta-1)
	}
	return max(0, theta)
}

// A window is where a tilted density lives: outside of [lo, hi] it is at most its
// value at the edge times e^{-slope |u-edge|}, for ψ' = -u + mu pull and
//
//	remove:  0 <= pull <= θ+1;  replace: 0 <= pull <= 2θ+1 (θ >= 0);
//	add:     -θ s(lo) <= pull <= 0 left of lo, since s increases with u
//
// (with the signs turned for θ < 0). top is its logarithm at its greatest mode, as
// far as the search finds it: it sets thresholds and no bound depends on it.
type window struct {
	lo, hi           float64
	slopeLo, slopeHi float64
	top              float64
}

// window finds where ψ > top - depth, and with it where the untilted N(0) and
// N(±mu) lie to the same depth.
func (e *event) window(theta, depth float64) (w window) {
	e.meter.Spend(120)
	r := math.Sqrt(2 * depth)
	push := func(u float64) float64 { return e.mu * e.pull(u, theta) }
	var most float64 // the greatest pull to the right
	switch e.dir {
	case Remove:
		most = e.mu * max(theta+1, 1)
	case Add:
		most = e.mu * max(-theta, 1)
	case Replace:
		most = e.mu * (2*max(theta, 0) + 1)
	}
	w.lo, w.hi = -r, most+r
	if e.dir == Replace {
		w.lo -= e.mu
	}
	// Modes are fixed points u = mu pull(u): the least and the greatest.
	w.top = e.at(0, theta).psi
	if e.dir == Add && theta > 0 {
		lo, hi := -e.mu*theta, 0.
		for range 60 {
			if mid := (lo + hi) / 2; mid < push(mid) {
				lo = mid
			} else {
				hi = mid
			}
		}
		w.top = e.at(hi, theta).psi
		w.lo = hi - r // ψ'' <= -1
	} else {
		for _, u := range []float64{0, most} {
			for range 50 {
				next := push(u)
				if math.Abs(next-u) < 0.02 {
					break
				}
				u = next
			}
			w.top = max(w.top, e.at(u, theta).psi)
		}
	}
	w.slopeLo = -w.lo
	switch {
	case e.dir == Add && theta > 0:
		w.slopeLo += push(w.lo)
	case e.dir == Replace:
		w.slopeLo -= e.mu * max(-theta, 0)
	}
	w.slopeHi = w.hi - most
	return w
}
