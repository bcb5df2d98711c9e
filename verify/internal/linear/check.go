package linear

import (
	"errors"
	"fmt"
)

// A step is a clause of a proof that a problem has no model. With weights it is a
// lemma of arithmetic, else it follows from the problem and the steps before it by
// reverse unit propagation.
type step struct {
	clause  []literal
	weights []number // one for each literal
}

// check replays a proof: every step must follow, and the last is the empty clause.
// With clausify and constraint it is what an answer Refuted rests on; how the
// proof was found does not matter.
func check(p *problem, proof []step) error {
	var c propagator
	c.grow(len(p.bounds))
	for _, clause := range p.clauses {
		if done := c.learn(clause); done {
			return nil
		}
	}
	for i, s := range proof {
		if s.weights != nil {
			if err := p.checkLemma(s); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
		} else if !c.follows(s.clause) {
			return fmt.Errorf("step %d: the clause does not follow", i)
		}
		if done := c.learn(s.clause); done {
			return nil
		}
	}
	return errors.New("the proof does not end in a contradiction")
}

// follows reports whether the clauses imply this one: whether its negation leads
// to a conflict by unit propagation.
func (p *propagator) follows(clause []literal) bool {
	start := len(p.trail)
	defer p.undo(start)
	for _, l := range clause {
		switch p.of(l) {
		case 1:
			return true
		case 0:
			p.set(l.not(), -1)
		}
	}
	return p.propagate() >= 0
}

// learn adds a clause at a time when nothing is assumed, and reports whether the
// clauses are now contradictory.
func (p *propagator) learn(clause []literal) bool {
	var open []literal // what is false now stays so
	for _, l := range clause {
		switch p.of(l) {
		case 1:
			return false
		case 0:
			open = append(open, l)
		}
	}
	switch len(open) {
	case 0:
		return true
	case 1:
		p.set(open[0], -1)
		return p.propagate() >= 0
	}
	p.add(open)
	return false
}

// checkLemma checks a clause by the lemma of Farkas, of which only the easy
// direction is used: if the negations of the literals bound sums, and these
// bounds, times weights that are not negative, add up to 0 <= k with k < 0, or to
// 0 < 0, then not all hold, and one of the literals does.
func (p *problem) checkLemma(s step) error {
	if len(s.weights) != len(s.clause) {
		return errors.New("a lemma has one weight for each literal")
	}
	total := make([]number, len(p.columns)) // Σ weights·sums, all bounded from above
	var limit number
	strict := false
	for i, l := range s.clause {
		c, ok := p.constraint(l.not())
		w := s.weights[i]
		if !ok || w.sign() < 0 {
			return errors.New("a lemma weighs a literal that bounds nothing, or by a negative number")
		}
		strict = strict || c.strict && w.sign() > 0
		if !c.upper { // s >= v is -s <= -v
			w = w.neg()
		}
		for _, part := range p.rows[c.row].parts {
			total[part.column] = total[part.column].add(w.mul(part.coef))
		}
		limit = limit.add(w.mul(c.value))
	}
	for _, t := range total {
		if !t.isZero() {
			return errors.New("the weighted bounds of a lemma do not cancel")
		}
	}
	if k := limit.sign(); k > 0 || k == 0 && !strict {
		return errors.New("the weighted bounds of a lemma contradict nothing")
	}
	return nil
}
