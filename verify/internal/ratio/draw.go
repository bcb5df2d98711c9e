package ratio

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// draw couples a draw.
func (p *prover) draw(s *program.Draw, at state, line int) (effect, error) {
	switch s.Law {
	case program.Laplace, program.DiscreteLaplace, program.Gaussian, program.DiscreteGaussian:
		end := at.set(s.To, value{})
		end.fresh = append(slices.Clone(at.fresh), s)
		return effect{end: end}, p.steady(s, at, line)
	case program.Choose:
		return p.choose(s, at, line)
	case program.Bernoulli:
		if p.steady(s, at, line) != nil {
			return p.odds(s, at, line)
		}
	}
	// What has the same law in both runs is equal, and costs nothing.
	step := Step{line, fmt.Sprintf("%s: the same law in both runs, so coupled to be equal; that costs nothing", s.To.Name)}
	return effect{end: at.set(s.To, value{}), steps: []Step{step}}, p.steady(s, at, line)
}

// steady reports an error unless the parameter of a draw is equal in both runs.
func (p *prover) steady(s *program.Draw, at state, line int) error {
	if x, _, _ := p.eval(s.Parameter, at, line); x.relation != equal {
		return undecided("line %d: the parameter %v of %v depends on private data", line, s.Parameter, s.Law)
	}
	return nil
}

// choose couples a choice so that the index is equal.
//
// Theorem (McSherry and Talwar 2007; for one-sided differences Dong, Durfee and Rogers
// 2020). Choose takes i with probability wᵢ/W, wᵢ = e^(ε·sᵢ/2), W = Σ wⱼ. If every s'ⱼ−sⱼ is
// in [low, high], ε >= 0, the probabilities in the two runs have a ratio of at most
// e^(ε·(high−low)/2): of e^(ε·d) for [−d, d], and of e^(ε·d/2) for [0, d] or [−d, 0].
// Proof: (wᵢ/W)/(w'ᵢ/W') = (wᵢ/w'ᵢ)·(W'/W); the first factor is in
// [e^(−ε·high/2), e^(−ε·low/2)], the second, a mean of the w'ⱼ/wⱼ, in [e^(ε·low/2),
// e^(ε·high/2)].
//
// If the scores of the one run are those of the other in another order, W' = W, and the
// ratio is at most e^(ε·max(high, −low)/2). So it is if at most one score differs, by d
// say: w'ᵢ/wᵢ of that one is e^(ε·d/2) and of others 1, W'/W between 1 and e^(ε·d/2),
// so that their quotient, or its inverse, is between 1 and e^(ε·|d|/2).
func (p *prover) choose(s *program.Draw, at state, line int) (effect, error) {
	scores := at.get(s.Scores)
	if scores.relation == apart || !scores.lengths {
		return effect{}, undecided("line %d: by how much the scores %s differ", line, s.Scores.Name)
	}
	if scores.relation == equal {
		step := Step{line, fmt.Sprintf("%s: the same scores in both runs, so coupled to be equal; that costs nothing", s.To.Name)}
		return effect{end: at.set(s.To, value{}), steps: []Step{step}}, p.steady(s, at, line)
	}
	epsilon, err := p.parameter(s.Parameter, at)
	if err != nil {
		return effect{}, fmt.Errorf("line %d: %w", line, err)
	}
	epsilon, ok := p.size(epsilon)
	if !ok {
		return effect{}, undecided("line %d: the sign of %v", line, s.Parameter)
	}
	width, why := scores.high.minus(scores.low), fmt.Sprintf("scores differ by %v to %v", scores.low, scores.high)
	if scores.permuted || scores.one {
		d, ok := p.reach(scores)
		if !ok {
			return effect{}, undecided("line %d: by how much the scores %s differ", line, s.Scores.Name)
		}
		width, why = d, fmt.Sprintf("one score differs by at most %v", d)
		if scores.permuted {
			why = fmt.Sprintf("scores are the same in another order, and differ by at most %v", d)
		}
	}
	total := epsilon.times(width).times(rational(half))
	step := Step{line, fmt.Sprintf("%s: exponential mechanism; %s; coupled to be equal; that costs %v", s.To.Name, why, total)}
	return effect{end: p.pay(at.set(s.To, value{}), cost{fixed(total), rational(zero)}), steps: []Step{step}}, nil
}
