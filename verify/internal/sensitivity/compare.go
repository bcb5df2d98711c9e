package sensitivity

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// compare holds a plan against a claimed cost.
func (r Result) compare(p *Plan, c *claim.Cost) Result {
	if c == nil {
		return r.refused(fmt.Errorf("no cost is claimed"))
	}
	read := func(x fmt.Stringer) (e Expr, err error) {
		if x == nil {
			return Expr{}, nil
		}
		return p.facts.reading(nil).expression(x)
	}
	if c.Measure == claim.Approximate {
		eps, err := read(c.Epsilon)
		if err != nil {
			return r.refused(err)
		}
		delta, err := read(c.Delta)
		if err != nil {
			return r.refused(err)
		}
		return r.approximate(p, eps, delta)
	}
	claimed, measured := c.Epsilon, p.pure
	r.Note = "by the costs of releases, which add up"
	if c.Measure == claim.ZCDP {
		claimed, measured = c.Rho, p.zcdp
		r.Note = "by the zCDP of releases, which adds up (Bun and Steinke 2016)"
	}
	most, err := read(claimed)
	if err != nil {
		return r.refused(err)
	}
	total, err := measured()
	if err != nil {
		return r.refused(err)
	}
	r.Inferred = total.String()
	if r.Proved = p.facts.isNonneg(most.sub(total)); !r.Proved {
		hint := fmt.Sprintf("//dp:cost %s", total)
		if c.Measure == claim.ZCDP {
			hint = fmt.Sprintf("//dp:cost zcdp(%s)", total)
		}
		return r.refused(&Refusal{Reason: fmt.Sprintf("it costs at most %s, which is not known to be at most %s%s; the plan is %s", total, most, excess(total, most), p), Hint: hint})
	}
	return r
}

// excess says how many times a claim something is: nothing where that is no quotient.
func excess(total, claimed Expr) string {
	inverse, ok := claimed.inverse()
	if !ok {
		return ""
	}
	factor := total.mul(inverse)
	if n, ok := factor.number(); ok && n.Cmp(big.NewRat(1, 1)) <= 0 {
		return ""
	}
	return fmt.Sprintf(": %s times that", factor)
}

// approximate tries the ways to an (ε, δ), each with its theorem.
func (r Result) approximate(p *Plan, eps, delta Expr) Result {
	type way struct {
		total Expr
		note  string
	}
	var ways []way
	if !p.facts.isNonneg(delta) {
		return r.refused(fmt.Errorf("the claimed delta %s is not known to be positive", delta))
	}
	points, err := p.points(delta)
	if err == nil {
		sum, spent := Expr{}, Expr{}
		for _, q := range points {
			sum = sum.add(q.times.mul(q.epsilon))
			spent = spent.add(q.times.mul(q.delta))
		}
		if p.facts.isNonneg(delta.sub(spent)) {
			ways = append(ways, way{sum, "by basic composition (Dwork and Roth 2014, Theorem 3.16)"})
		}
		// Theorem (Dwork, Rothblum and Vadhan 2010, III.3): k releases that are (ε, δ)-DP
		// each are (ε·√(2k·ln(1/δ')) + k·ε·(e^ε − 1), k·δ + δ')-DP together, for every
		// δ' > 0. The form 2ε·√(2k·ln(1/δ')) leaves the second term out, and holds only
		// where that is not larger than the first.
		slack := delta.sub(spent)
		if p.facts.isPositive(slack) && p.facts.isPositive(one().sub(slack)) {
			inverse, _ := slack.inverse()
			for i, q := range points {
				e := Expr{}
				for j, o := range points {
					if i != j {
						e = e.add(o.times.mul(o.epsilon))
					}
				}
				e = e.add(q.epsilon.mul(integer(2).mul(q.times).mul(inverse.log()).sqrt()))
				e = e.add(q.times.mul(q.epsilon).mul(q.epsilon.exp().sub(one())))
				ways = append(ways, way{e, "by advanced composition, in full (Dwork, Rothblum and Vadhan 2010)"})
			}
		}
	}
	// Theorem (Bun and Steinke 2016, Proposition 1.3): ρ-zCDP is (ρ + 2√(ρ·ln(1/δ)), δ)-DP.
	if rho, zerr := p.zcdp(); zerr == nil && p.facts.isPositive(delta) && p.facts.isPositive(one().sub(delta)) {
		inverse, _ := delta.inverse()
		ways = append(ways, way{rho.add(integer(2).mul(rho.mul(inverse.log()).sqrt())), "by zCDP (Bun and Steinke 2016, Proposition 1.3)"})
	}
	if p.facts.isPositive(delta) && len(p.items) > 0 && !slices.ContainsFunc(p.items, func(it item) bool { return it.law == choice }) {
		if total, note, ok := p.accounted(delta); ok {
			ways = append(ways, way{total, note})
		}
	}
	for _, w := range ways {
		if p.facts.isNonneg(eps.sub(w.total)) {
			r.Proved, r.Inferred, r.Note = true, fmt.Sprintf("%s, %s", w.total, delta), w.note
			return r
		}
	}
	if len(ways) == 0 && err != nil {
		return r.refused(err)
	}
	tried := ""
	for _, w := range ways {
		tried += fmt.Sprintf("; %s: %s, %s", w.note, w.total, delta)
		if r.Inferred == "" {
			r.Inferred = fmt.Sprintf("%s, %s", w.total, delta)
		}
	}
	hint := "//dp:cost zcdp(RHO)"
	if r.Inferred != "" {
		hint = "//dp:cost " + r.Inferred
	}
	return r.refused(&Refusal{Reason: fmt.Sprintf("no theorem gives the claimed (%s, %s) of the plan %s%s", eps, delta, p, tried), Hint: hint})
}

// accounted asks package accountant, where all parameters are numbers.
func (p *Plan) accounted(delta Expr) (Expr, string, bool) {
	d, ok := delta.number()
	if !ok {
		return Expr{}, "", false
	}
	event, err := p.Event(nil)
	if err != nil {
		return Expr{}, "", false
	}
	at, exact := d.Float64()
	if !exact {
		// Never more than was claimed.
		at *= 1 - 1e-15
	}
	report, err := accountant.Epsilon(context.Background(), event, at, accountant.Options{})
	if err != nil {
		return Expr{}, "", false
	}
	best, ok := report.Best()
	if !ok {
		return Expr{}, "", false
	}
	high := new(big.Rat).SetFloat64(best.Epsilon.High)
	if high == nil {
		return Expr{}, "", false
	}
	return rat(high), "by the accountant " + string(best.Accountant), true
}

// A point is an (ε, δ) that a release has, so many times.
type point struct{ times, epsilon, delta Expr }

// points returns an (ε, δ) for each item.
//
// Theorem (Dwork and Roth 2014, Theorem A.1; at ε = 1 by continuity): Gaussian noise
// of σ = √(2·ln(1.25/δ))·Δ/ε is (ε, δ)-DP, for 0 < ε <= 1. Which δ is meant is read
// from the σ in the source; the ε follows from it.
func (p *Plan) points(delta Expr) ([]point, error) {
	var all []point
	for _, it := range p.items {
		switch {
		case it.isPure():
			all = append(all, point{it.times, it.loss(), Expr{}})
		case it.law == approxCost:
			all = append(all, point{it.times, it.epsilon, it.delta})
		case it.law == gaussian:
			q, err := p.gaussian(it)
			if err != nil {
				return nil, err
			}
			all = append(all, q)
		case it.law == choice:
			q, err := p.choicePoint(it, delta)
			if err != nil {
				return nil, err
			}
			all = append(all, q)
		default:
			return nil, fmt.Errorf("%s has no (ε, δ) by itself", it.text())
		}
	}
	return all, nil
}

// choicePoint is the largest ε and δ of choices.
func (p *Plan) choicePoint(it item, delta Expr) (point, error) {
	q := point{times: it.times}
	for _, c := range it.choices {
		inner := &Plan{c, p.facts}
		points, err := inner.points(delta)
		if err != nil {
			return point{}, err
		}
		eps, d := Expr{}, Expr{}
		for _, x := range points {
			eps = eps.add(x.times.mul(x.epsilon))
			d = d.add(x.times.mul(x.delta))
		}
		q.epsilon, q.delta = p.facts.max(q.epsilon, eps), p.facts.max(q.delta, d)
	}
	return q, nil
}

func (p *Plan) gaussian(it item) (point, error) {
	var arg Expr
	found := false
	it.scale.atoms(func(a *atom) {
		if a.op == logarithm {
			arg, found = a.args[0], true
		}
	})
	if !found {
		return point{}, fmt.Errorf("the δ of %s is not written in its σ, as in √(2·ln(1.25/δ))·Δ/ε", it.text())
	}
	inverse, ok := arg.inverse()
	if !ok {
		return point{}, fmt.Errorf("the logarithm in %s", it.text())
	}
	delta := rat(big.NewRat(5, 4)).mul(inverse)
	// ε = √(2·ln(1.25/δ))·Δ/σ.
	scale, _ := it.scale.inverse()
	eps := integer(2).mul(arg.log()).sqrt().mul(it.sensitivity()).mul(scale)
	if !p.facts.isPositive(delta) || !p.facts.isPositive(eps) || !p.facts.isNonneg(one().sub(eps)) {
		return point{}, fmt.Errorf("the Gaussian mechanism is (ε, δ)-DP by Theorem A.1 of Dwork and Roth for 0 < ε <= 1, which %s is not known to be", eps)
	}
	return point{it.times, eps, delta}, nil
}
