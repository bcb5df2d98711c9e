package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/privacy"
)

// Privacy loss distributions: the loss of a plan is the sum of its events' losses,
// each distributed as under a dominating pair of laws, in either direction in which
// neighbours may lie (Sommer, Meiser and Mohammadi 2019; Zhu, Dong and Wang 2022,
// Theorem 10). Where no engine has an answer, Rényi divergences are the fallback, and
// the note says so.
//
// The bounds hold for plans that are fixed in advance: not for a filter.

// A question is what is asked of the law of a plan's loss: ε at a δ, or δ at an ε.
type question struct {
	x       float64
	isDelta bool // x is δ
}

func pldEpsilon(p *flat, delta float64) (answer, error) {
	return p.overDirections(question{delta, true}, func() (answer, error) { return rdpEpsilon(p, delta) })
}

func pldDelta(p *flat, epsilon float64) (answer, error) {
	return p.overDirections(question{epsilon, false}, func() (answer, error) { return rdpDelta(p, epsilon) })
}

// overDirections is the worst of all directions. The Low of any holds for the worst.
func (p *flat) overDirections(q question, fallback func() (answer, error)) (answer, error) {
	var all answer
	var each []Directed
	mirrored, directions := p.mirrored(), p.directions()
	for i, direct := range directions {
		var a answer
		var err error
		if i == 0 || !mirrored {
			to := 1
			if !mirrored {
				to = len(directions) - i
			}
			a, err = p.ask(q, direct, to)
		} else {
			a.Bracket = each[0].Bracket // the pairs are their own mirror images
		}
		if err != nil {
			a, other := fallback()
			if other != nil {
				return answer{}, fmt.Errorf("%w; nor a fallback to rdp: %w", err, other)
			}
			a.note = fmt.Sprintf("fallback to rdp (%s), because: %v", a.note, err)
			return a, nil
		}
		a.direction = Direction(direct(p.terms[0]).String())
		each = append(each, Directed{a.direction, a.Bracket})
		switch {
		case i == 0:
			all = a
			continue
		case a.High > all.High*(1+1e-9):
			all.direction, all.note = a.direction, a.note
		case a.High >= all.High*(1-1e-9):
			all.direction = Both
		}
		all.Low, all.Estimate, all.High = math.Max(all.Low, a.Low), math.Max(all.Estimate, a.Estimate), math.Max(all.High, a.High)
	}
	if !q.narrow(all.Bracket) {
		if a, err := fallback(); err == nil && a.High < all.High {
			all.note += "; High is the lesser one of rdp, " + a.note
			all.High, all.Estimate = a.High, math.Min(a.High, all.Estimate)
		}
	}
	all.each = each
	return all, nil
}

// ask asks one engine after another, until the bracket is narrow. It spends its part of the
// work of so many directions.
func (p *flat) ask(q question, direct orientation, directions int) (answer, error) {
	var (
		best    answer
		some    bool
		refused error
	)
	for _, e := range p.engines(direct) {
		var a answer
		// Leave work for the other directions and for a fallback.
		share := p.meter.Left() / 8 * 7 / int64(directions)
		err := p.meter.Do(share, func() (err error) { a, err = e(q); return err })
		if err == nil {
			err = a.check()
		}
		switch {
		case err != nil:
			refused = errors.Join(refused, err)
			continue
		case !some:
			best, some = a, true
		default:
			best = best.join(a)
		}
		if q.narrow(best.Bracket) {
			break
		}
	}
	if !some {
		return answer{}, refused
	}
	if (len(p.terms) > 1 || p.terms[0].count > 1) && p.choices() && !q.narrow(best.Bracket) {
		if low := math.Min(p.choiceFloor(q, direct), best.High); low > best.Low {
			best.Low, best.Estimate = low, math.Max(low, best.Estimate)
			best.note += "; at least by choices between two candidates"
		}
	}
	return best, nil
}

// mirrored reports whether the pairs of all events are known to be their own mirror images,
// so that adding a unit is removing one: those that package loss gives no direction.
func (p *flat) mirrored() bool {
	for _, t := range p.terms {
		switch t.event.(type) {
		case privacy.Laplace, privacy.Gaussian, privacy.DiscreteLaplace, privacy.DiscreteGaussian, privacy.Skellam, privacy.Tree, privacy.GDP,
			privacy.Pure, privacy.Approx, privacy.Selection, privacy.Exponential, privacy.PermuteAndFlip, privacy.NoisyMax, privacy.SparseVector, groupPoint:
		default:
			return false
		}
	}
	return true
}

// narrow reports whether a bracket is as narrow as an engine is expected to make it.
func (q question) narrow(b Bracket) bool {
	if q.isDelta {
		return b.High-b.Low <= math.Max(1e-3*b.High, 1e-6)
	}
	return b.High-b.Low <= 1e-2*b.High
}

// join is what two answers to the same question show together.
func (a answer) join(b answer) answer {
	if b.High < a.High {
		a, b = b, a
	}
	a.Low = math.Min(math.Max(a.Low, b.Low), a.High)
	a.Estimate = math.Max(a.Low, math.Min(a.Estimate, a.High))
	return a
}

// An orientation says for each term how P and Q lie.
type orientation func(term) loss.Direction

func (p *flat) directions() []orientation {
	one := func(d ...loss.Direction) orientation {
		return func(t term) loss.Direction {
			if t.replaces() {
				return loss.Replace
			}
			return d[t.side]
		}
	}
	there, back := one(loss.Remove, loss.Add), one(loss.Add, loss.Remove)
	for _, t := range p.terms {
		if !t.replaces() {
			return []orientation{there, back}
		}
	}
	return []orientation{there} // the reverse of a replacement is one: the directions agree
}
