package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/transform"
	"github.com/discreet-dp/discreet/privacy"
)

// Privacy loss distributions: the loss of a plan is the sum of its events' losses,
// each distributed as under a dominating pair of laws, in either direction in which
// neighbours may lie (Zhu, Dong and Wang 2022, Theorem 10; Sommer, Meiser and
// Mohammadi 2019). Two engines invert the sum's law with certified bounds: for Gaussian
// noise, Poisson-subsampled or not, that of package transform, whose cost does not grow
// with the steps; for all else that of package pld, on a lattice. Both are tilted, so
// that δ may be as small as 1e-300. Where neither can, Rényi divergences are the
// fallback, and the note says so.
//
// The bounds hold for plans that are fixed in advance: not for a filter.

// A composed is the law of a plan's loss in one direction.
type composed interface {
	Epsilon(delta float64) (Bracket, error)
	Delta(epsilon float64) (Bracket, error)
}

func pldEpsilon(p *flat, delta float64) (answer, error) {
	return p.overDirections(
		func(c composed) (Bracket, error) { return c.Epsilon(delta) },
		func() (answer, error) { return rdpEpsilon(p, delta) })
}

func pldDelta(p *flat, epsilon float64) (answer, error) {
	return p.overDirections(
		func(c composed) (Bracket, error) { return c.Delta(epsilon) },
		func() (answer, error) { return rdpDelta(p, epsilon) })
}

// overDirections is the worst of all directions. The Low of any holds for the worst.
func (p *flat) overDirections(of func(composed) (Bracket, error), fallback func() (answer, error)) (answer, error) {
	var (
		all answer
		err error
	)
	for i, direct := range p.directions() {
		var (
			c      composed
			engine string
			b      Bracket
		)
		if c, engine, err = p.compose(direct); err == nil {
			b, err = of(c)
		}
		if err != nil {
			break
		}
		name := direct(p.terms[0]).String()
		switch {
		case i == 0:
			all = answer{b, name, engine}
			continue
		case b.High > all.High*(1+1e-9):
			all.direction = name
		case b.High >= all.High*(1-1e-9):
			all.direction = "both"
		}
		all.Low, all.Estimate, all.High = math.Max(all.Low, b.Low), math.Max(all.Estimate, b.Estimate), math.Max(all.High, b.High)
	}
	if err == nil {
		return all, nil
	}
	a, other := fallback()
	if other != nil {
		return answer{}, fmt.Errorf("%w; nor a fallback to rdp: %w", err, other)
	}
	a.note = fmt.Sprintf("fallback to rdp (%s), because: %v", a.note, err)
	return a, nil
}

// directions lists how P and Q may lie, term by term.
func (p *flat) directions() []func(term) loss.Direction {
	one := func(d [2]loss.Direction) func(term) loss.Direction {
		return func(t term) loss.Direction {
			if t.rel == privacy.ReplaceOne {
				return loss.Replace
			}
			return d[t.side]
		}
	}
	there := one([2]loss.Direction{loss.Remove, loss.Add})
	for _, t := range p.terms {
		if t.rel == privacy.AddRemove {
			return []func(term) loss.Direction{there, one([2]loss.Direction{loss.Add, loss.Remove})}
		}
	}
	return []func(term) loss.Direction{there}
}

func (p *flat) compose(direct func(term) loss.Direction) (composed, string, error) {
	if terms, d, ok := p.gaussianTerms(direct); ok {
		c, err := transform.New(terms, d)
		return c, "privacy loss distribution by inversion of its moment generating function", err
	}
	return nil, "", errors.New("no engine for these events")
}

// gaussianTerms are the plan's terms if all are Gaussian, Poisson-subsampled or
// not, and all samples lie in one direction.
func (p *flat) gaussianTerms(direct func(term) loss.Direction) (terms []transform.Term, d transform.Direction, ok bool) {
	of := map[loss.Direction]transform.Direction{loss.Remove: transform.Remove, loss.Add: transform.Add, loss.Replace: transform.Replace}
	seen := false
	for _, t := range p.terms {
		q, mu, sampled := t.gaussian()
		if mu == 0 {
			return nil, 0, false
		}
		e := of[direct(t)]
		if sampled && seen && e != d {
			return nil, 0, false
		}
		if sampled || len(terms) == 0 || !seen {
			d = e
		}
		seen = seen || sampled
		terms = append(terms, transform.Term{Sigma: 1, Sensitivity: mu, Rate: q, Count: int64(t.count)})
	}
	return terms, d, true
}

// gaussian returns the rate and the distance under AddRemove of a term that is
// Gaussian noise, on a Poisson sample or not; μ is 0 if it is not.
func (t term) gaussian() (q, mu float64, sampled bool) {
	if t.exact {
		mu = math.Sqrt(toFloat(t.gdp()))
		if t.rel == privacy.ReplaceOne {
			mu /= 2
		}
		return 1, mu, false
	}
	if q, mu, ok := poissonGaussian(t.event); ok {
		return q, mu, true
	}
	return 0, 0, false
}
