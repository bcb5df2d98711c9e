package pld

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// The pair from below is merged into atoms that lie off the lattice. Losses between
// two points can only go down to a point, if the law is to stay below; which errs by
// a part of the step and not of its square. So they are put on the lattice as from
// above, and what that adds to δ is bounded and taken off again.
//
// Let L be the true loss and L' = L+X the lattice's, X the sum of the events' moves.
// Moves keep Q-measures: E_P[e^{-X} | L] = 1. With g(y) = (1-e^ε y)⁺, which is convex
// and has one kink, at e^{-ε}, the two profiles are E_P g(e^{-L}) and E_P g(e^{-L'}).
// Taking off g's tangent at e^{-L}, whose mean is unmoved,
//
//	δ'(ε) - δ(ε) = E_P[ |1 - e^{ε-L'}| ; L' and L on different sides of ε ].
//
// There L'-ε has the sign of X and no more than its size, so for every λ > 0 the
// indicator is at most e^{λ(X-(L'-ε))} where L' > ε, and e^{λ((L'-ε)-X)} where L' <= ε:
//
//	δ'(ε) - δ(ε) <= Σ_{s>ε} (1-e^{ε-s}) e^{-λ(s-ε)} E_P[e^{λX}; L'=s]
//	             + Σ_{s<=ε} (e^{ε-s}-1) e^{-λ(ε-s)} E_P[e^{-λX}; L'=s].
//
// The two measures are compositions of lattice laws themselves, of weights e^{±λX}.
// With λ = √2 over the standard deviation of X the bound is some e·Var X times the
// density of L: of second order in the step. It is at least 2.5(1+θ), so that the
// sums converge in the tilt.
type crossing struct {
	meter                       *work.Meter
	theta, lambda, step, offset float64
	up, down                    crossed
}

// crossed is one of the two measures, tilted: its mass at the j-th point is
// e^{logM-θ·s_j}·weight[j], to within slack, and lost lies outside of the window.
type crossed struct {
	weight             []float64
	logM, factor       float64
	slack, lost, shift float64
}

// at returns the bound at ε.
func (c *crossing) at(epsilon float64) float64 {
	n := len(c.up.weight)
	x := (epsilon - c.offset) / c.step
	if !(x >= 0 && x < float64(n)) {
		return math.Inf(1)
	}
	first := int(x) + 1
	reach := int(70/(c.lambda*c.step)) + 2
	c.meter.Spend(4 * min(n, reach))
	var up, down float64
	for j := first; j < min(n, first+reach); j++ {
		y := c.offset + float64(j)*c.step - epsilon
		up -= math.Expm1(-y) * math.Exp(-(c.lambda+c.theta)*y) * (c.up.weight[j] + c.up.slack)
	}
	for j := first - 1; j >= max(0, first-reach); j-- {
		y := epsilon - c.offset - float64(j)*c.step
		down += math.Expm1(y) * math.Exp((c.theta-c.lambda)*y) * (c.down.weight[j] + c.down.slack)
	}
	rest := math.Exp(-41) // weights fall faster than e^{-0.6λy}, of a mass of 1
	scale := func(m crossed) float64 {
		t := m.logM - c.theta*epsilon
		return math.Exp(t + m.factor + 8*unit*math.Abs(t))
	}
	return scale(c.up)*(up+c.up.lost+rest) + scale(c.down)*(down+c.down.lost+rest)
}
