package accountant

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/pld"
	"github.com/discreet-dp/discreet/privacy"
)

// What choices cost at least: a plan's exponential(ε) stands for choices between any
// candidates, and what those between two reveal together is composed exactly. How far
// apart the two best are depends on the question: at many events in the middle of how
// far a unit can move them, at few and small δ nearly at the end.

func (p *flat) choices() bool {
	for _, t := range p.terms {
		if loss.HasChoice(t.event) {
			return true
		}
	}
	return false
}

// choiceFloor returns a lower bound by candidates at the best of some places, 0 where
// nothing is known. The greatest is sought, not certified: each is a bound.
func (p *flat) choiceFloor(q question, direct orientation) float64 {
	best, at := 0.0, 0.5
	try := func(part float64) bool {
		low := 0.0
		// At the limit of work the bound found so far stands.
		if p.meter.Do(p.meter.Left()/8, func() (err error) { low, err = p.choosing(q, direct, part); return err }) != nil || !(low > best) {
			return false
		}
		best, at = low, part
		return true
	}
	try(0.5)
	for step := 0.16; step > 0.005; step /= 2 {
		for at+step < 1 && try(at+step) {
		}
		if at-step > 0.5 {
			try(at - step)
		}
	}
	return best
}

// choosing is a lower bound by candidates at one place. Of events without a pair of their
// own nothing is looked at, which is post-processing.
func (p *flat) choosing(q question, direct orientation, part float64) (float64, error) {
	b, _, err := p.composed(p.law(direct, q, part), q, func() (terms []pld.Term, err error) {
		for _, t := range p.terms {
			e, err := t.chosen(p, direct, q, part)
			if err != nil {
				return nil, err
			}
			if e.Below != nil {
				terms = append(terms, pld.Term{Event: loss.Event{Above: e.Below, Below: e.Below}, Count: int64(t.count)})
			}
		}
		return terms, nil
	})
	if err != nil || b.check() != nil {
		return 0, err
	}
	return math.Max(0, down(b.Low)), nil
}

func (t term) chosen(p *flat, direct orientation, q question, part float64) (loss.Event, error) {
	if loss.HasChoice(t.event) {
		return loss.OfChoice(privacy.OfPlan(simple(p.meter, t.event), t.rel), direct(t), part)
	}
	return t.loss(p.meter, direct, q)
}
