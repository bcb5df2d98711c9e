package pld

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

// Atoms off the lattice have no good law below them: a loss between two points can
// only go down to a point, which errs by a part of the step and not of its square.
// So they are put on the lattice as from above, and what that adds to δ is bounded
// and taken off again.
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
// density of L: of second order in the step.
type crossing struct {
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
	reach := int(40/(c.lambda*c.step)) + 2 // beyond, e^{-40} of a mass that is below 1
	var up, down float64
	for j := first; j < min(n, first+reach); j++ {
		y := c.offset + float64(j)*c.step - epsilon
		up -= math.Expm1(-y) * math.Exp(-(c.lambda+c.theta)*y) * (c.up.weight[j] + c.up.slack)
	}
	for j := first - 1; j >= max(0, first-reach); j-- {
		y := epsilon - c.offset - float64(j)*c.step
		down += math.Expm1(y) * math.Exp((c.theta-c.lambda)*y) * (c.down.weight[j] + c.down.slack)
	}
	rest := 2 * math.Exp(-39) // λ > 2(θ+1): the weights fall faster than e^{-λy/2}
	scale := func(m crossed) float64 {
		t := m.logM - c.theta*epsilon
		return math.Exp(t + m.factor + 8*unit*math.Abs(t))
	}
	return scale(c.up)*(up+c.up.lost+rest) + scale(c.down)*(down+c.down.lost+rest)
}

// cross returns three laws of a pair: between, below the pair but for atoms off the
// lattice, which are as above it; and that with the weights e^{λX} and e^{-λX}.
func cross(p loss.Pair, g grid, lambda float64) (between, up, down law, rounding loss.Rounding) {
	b, rounding := belowSmooth(p, g)
	u, d := b.fork(), b.fork()
	for _, a := range p.Atoms() {
		if i, ok := b.on(a.Loss); ok {
			for _, c := range []*builder{&b, &u, &d} {
				c.add(i, a.LogP)
			}
			continue
		}
		i := b.grid.below(a.Loss)
		part := math.Expm1(b.at(i)-a.Loss) / math.Expm1(-g.step)
		for _, to := range []struct {
			index int64
			logP  float64
		}{{i, a.LogP + math.Log1p(-part)}, {i + 1, a.LogP + math.Log(part)}} {
			x := lambda * (b.at(to.index) - a.Loss)
			b.add(to.index, to.logP)
			u.add(to.index, to.logP+x)
			d.add(to.index, to.logP-x)
		}
	}
	end, _ := p.Ends()
	return b.done(end), u.done(0), d.done(0), rounding
}

// fork returns a copy that grows by itself.
func (b *builder) fork() builder {
	c := *b
	c.index = append([]int64(nil), b.index...)
	c.weight = append([]float64(nil), b.weight...)
	return c
}

// moved returns the variance of X under the tilt, about h²/6 for each atom off the
// lattice, and whether there are any.
func (e *engine) moved(p *plan) (variance float64, any bool) {
	for i, m := range e.terms {
		if m.Below == nil {
			continue
		}
		k, _, _ := e.profiles[i].cumulant(p.theta)
		g := grid{step: p.step, offset: e.offsets[i]}
		for _, a := range m.Below.Atoms() {
			if _, ok := g.on(a.Loss); !ok {
				any = true
				variance += e.counts[i] * math.Exp(a.LogP+p.theta*a.Loss-k) * p.step * p.step / 6
			}
		}
	}
	return variance, any
}
