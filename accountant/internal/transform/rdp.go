package transform

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

// RDP returns the Rényi divergence of P from Q, in nats, of one step of t at each
// order: log M(a-1)/(a-1), M the real transform. Orders must be above 1 and finite.
// t.Count is ignored.
//
// Of adding and removing, removing has the greater divergence at every order
// (Mironov, Talwar and Zhang 2019, "Rényi differential privacy of the sampled
// Gaussian mechanism", Theorem 5).
func RDP(t Term, d Direction, orders []float64) ([]loss.Bracket, error) {
	t.Count = 1
	c, err := New([]Term{t}, d)
	if err != nil {
		return nil, err
	}
	out := make([]loss.Bracket, len(orders))
	for i, a := range orders {
		if !(a > 1) || math.IsInf(a, 0) {
			return nil, fmt.Errorf("find Rényi divergence: order %g is not finite and above 1", a)
		}
		p := c.at(a - 1)
		b := loss.Bracket{Low: p.k, Estimate: p.k, High: p.k}.Outward(p.err)
		b.Low, b.Estimate, b.High = max(0, b.Low/(a-1)), max(0, b.Estimate/(a-1)), b.High/(a-1)
		out[i] = b.Outward(2 * ulp * b.High)
		out[i].Low = max(0, out[i].Low)
		if err := out[i].Check(); err != nil {
			return nil, fmt.Errorf("find Rényi divergence of order %g: %w", a, err)
		}
	}
	return out, nil
}
