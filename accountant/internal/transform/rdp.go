package transform

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// newGrid is fine and long enough for every θ up to the one given: of a strip, the
// bound that step has increases in θ >= 0, and the windows widen.
func newGrid(e *event, theta float64) *grid {
	depth := 40 + math.Log(e.n)
	g := &grid{h: e.step(theta, depth)}
	w := e.window(theta, depth)
	if n := (w.hi - w.lo) / g.h; n < maxNodes {
		g.first = int(math.Floor(w.lo / g.h))
		g.known = slices.Grow(g.known, int(n)+2)[:int(n)+2]
	}
	return g
}

// RDP returns the Rényi divergence of P from Q, in nats, of one step of t at each
// order: log M(a-1)/(a-1), M the real transform. Orders must be above 1 and finite.
// t.Count is ignored.
//
// Of adding and removing, removing has the greater divergence at every order
// (Mironov, Talwar and Zhang 2019, "Rényi differential privacy of the sampled
// Gaussian mechanism", Theorem 5).
func RDP(meter *work.Meter, t Term, d Direction, orders []float64) ([]loss.Bracket, error) {
	top := 1.
	for _, a := range orders {
		if !(a > 1) || math.IsInf(a, 0) {
			return nil, fmt.Errorf("find Rényi divergence: order %g is not finite and above 1", a)
		}
		top = max(top, a)
	}
	t.Count = 1
	c, err := New(meter, []Term{t}, d)
	if err != nil {
		return nil, err
	}
	if len(c.events) > 0 { // log M is about (q mu)²: find it to 1e-11 of that
		e := c.events[0]
		scale := e.q * min(1, e.mu)
		if e.n = 1e-5 / (scale * scale); !(e.n < 1e200) {
			return nil, fmt.Errorf("find Rényi divergence at rate %g: %w", e.q, ErrUnsuited)
		}
		e.grid = newGrid(e, top-1)
	}
	out := make([]loss.Bracket, len(orders))
	for i, a := range orders {
		p := c.at(a - 1)
		k, e := p.k, p.err
		if len(c.events) > 0 {
			k, e = k/c.events[0].n, e/c.events[0].n
		}
		if math.IsNaN(k+e) || math.IsInf(k+e, 0) {
			return nil, fmt.Errorf("find Rényi divergence of order %g: %w", a, ErrUnsuited)
		}
		b := loss.Bracket{Low: k, Estimate: k, High: k}.Outward(e)
		b.Low, b.Estimate, b.High = max(0, b.Low/(a-1)), max(0, b.Estimate/(a-1)), b.High/(a-1)
		out[i] = b.Outward(2 * ulp * b.High)
		out[i].Low = max(0, out[i].Low)
		if err := out[i].Check(); err != nil {
			return nil, fmt.Errorf("find Rényi divergence of order %g: %w", a, err)
		}
	}
	return out, nil
}
