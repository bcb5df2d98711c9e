package linear

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A search looks for a model of a problem by conflict-driven clause learning over
// its clauses, with simplex over the bounds that are assigned; integers that come
// out broken are branched upon. It writes down a proof as it goes. Nothing of it is
// trusted: check replays the proof, and a model is evaluated.
type search struct {
	problem *clausifier // grows by the bounds that integers are branched upon
	propagator
	simplex  *simplex
	asserted int   // of the trail: how much simplex knows
	levels   []int // for each decision, the trail's length before it
	bounds   []int // and simplex's
	level    []int // by variable: the number of decisions when it was set
	activity []float64
	bump     float64
	proof    []step
	order    map[int][]int // by row, boolean variables by their bounds, weakest last
	branches []literal     // over integers
}

var (
	errConflicts = errors.New("too many conflicts")
	errBranches  = errors.New("too many branches over integers")
)

// run returns the values of the columns and the truth of the boolean variables, or
// nil if there are none, which the proof then shows.
func (s *search) run(ctx context.Context, limits Limits) ([]number, []int8, error) {
	s.simplex = newSimplex(&s.problem.problem)
	s.bump = 1
	s.order = map[int][]int{}
	s.extend()
	for v, b := range s.problem.bounds {
		if b.row >= 0 && !s.insert(v) {
			return nil, nil, nil
		}
	}
	for _, c := range s.problem.clauses {
		if !s.learnt(slices.Clone(c)) {
			return nil, nil, nil
		}
	}
	conflicts, branches := 0, 0
	for steps := 0; ; steps++ {
		if steps%64 == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		clause, err := s.conclude()
		if err != nil {
			return nil, nil, err
		}
		if clause != nil {
			if conflicts++; conflicts > limits.Conflicts {
				return nil, nil, errConflicts
			}
			if !s.learn(clause) {
				return nil, nil, nil
			}
			continue
		}
		if l, ok := s.choose(); ok {
			s.decide(l)
			continue
		}
		values := s.simplex.concrete()
		column := s.broken(values)
		if column < 0 {
			return values, s.value, nil
		}
		if branches++; branches > limits.Branches {
			return nil, nil, errBranches
		}
		if !s.branch(column, values[column].floor()) {
			return nil, nil, nil
		}
	}
}

// extend makes room for the problem's boolean variables.
func (s *search) extend() {
	n := len(s.problem.bounds)
	s.grow(n)
	for len(s.level) < n {
		s.level = append(s.level, 0)
		s.activity = append(s.activity, 0)
	}
}

// insert puts a bound in the order of its row, with the lemmas that it implies the
// next weaker one and that the next stronger one implies it. It returns false if
// all is contradictory.
func (s *search) insert(v int) bool {
	b := s.problem.bounds[v]
	order := s.order[b.row]
	at := pair{r: b.value}
	if b.strict {
		at.k = whole(-1)
	}
	i, _ := slices.BinarySearchFunc(order, at, func(v int, at pair) int {
		o := s.problem.bounds[v]
		p := pair{r: o.value}
		if o.strict {
			p.k = whole(-1)
		}
		return p.cmp(at)
	})
	s.order[b.row] = slices.Insert(order, i, v)
	order = s.order[b.row]
	imply := func(strong, weak int) bool {
		clause := []literal{literal(2*strong + 1), literal(2 * weak)}
		s.log(step{clause, []number{whole(1), whole(1)}})
		return s.learnt(slices.Clone(clause))
	}
	return (i == 0 || imply(order[i-1], v)) && (i+1 == len(order) || imply(v, order[i+1]))
}

func (s *search) log(st step) { s.proof = append(s.proof, st) }

// learnt adds a clause when nothing is decided; false if all is contradictory.
func (s *search) learnt(clause []literal) bool {
	open := clause[:0]
	for _, l := range clause {
		switch s.of(l) {
		case 1:
			return true
		case 0:
			open = append(open, l)
		}
	}
	switch len(open) {
	case 0:
		s.log(step{})
		return false
	case 1:
		s.put(open[0], -1)
		if s.propagate() >= 0 {
			s.log(step{})
			return false
		}
		return true
	}
	s.add(open)
	return true
}

func (s *search) put(l literal, reason int32) {
	s.set(l, reason)
	s.level[l/2] = len(s.levels)
}

// conclude draws conclusions by clauses and by arithmetic, and returns a clause
// that is false, if any.
func (s *search) conclude() ([]literal, error) {
	failed := s.propagate()
	for _, l := range s.trail[s.asserted:] { // all of the last level
		s.level[l/2] = len(s.levels)
	}
	if failed >= 0 {
		return s.clauses[failed], nil
	}
	for s.asserted < len(s.trail) {
		l := s.trail[s.asserted]
		s.asserted++
		if c, ok := s.problem.constraint(l); ok {
			if found := s.simplex.bound(c, l); found != nil {
				return s.lemma(found)
			}
		}
	}
	if found := s.simplex.check(); found != nil {
		return s.lemma(found)
	}
	return nil, nil
}

// lemma is the clause that not all bounds of a conflict hold.
func (s *search) lemma(c *conflict) ([]literal, error) {
	clause := make([]literal, len(c.because))
	for i, l := range c.because {
		clause[i] = l.not()
	}
	st := step{clause, c.weights}
	if err := s.problem.checkLemma(st); err != nil {
		return nil, fmt.Errorf("simplex is wrong: %w", err)
	}
	s.log(st)
	return clause, nil
}

// decide assumes a literal.
func (s *search) decide(l literal) {
	s.levels = append(s.levels, len(s.trail))
	s.bounds = append(s.bounds, len(s.simplex.trail))
	s.put(l, -1)
}

// backtrack takes back decisions until n are left.
func (s *search) backtrack(n int) {
	if n >= len(s.levels) {
		return
	}
	s.undo(s.levels[n])
	s.simplex.undo(s.bounds[n])
	s.asserted = min(s.asserted, len(s.trail))
	s.levels, s.bounds = s.levels[:n], s.bounds[:n]
}

// learn resolves a false clause with the reasons of its literals until one literal
// of the last level is left (the first unique implication point), adds the result
// and goes back to where it implies that literal. It returns false if the conflict
// needs no decision.
func (s *search) learn(clause []literal) bool {
	top := 0
	for _, l := range clause {
		top = max(top, s.levelOf(l))
	}
	if top == 0 {
		s.log(step{})
		return false
	}
	s.backtrack(top)
	seen := map[literal]bool{}
	var learned []literal
	count := 0
	mark := func(l literal) { // l is false
		if seen[l] || s.level[l/2] == 0 {
			return
		}
		seen[l] = true
		s.activity[l/2] += s.bump
		if s.level[l/2] == top {
			count++
		} else {
			learned = append(learned, l)
		}
	}
	for _, l := range clause {
		mark(l)
	}
	var point literal
	for i := len(s.trail) - 1; ; i-- {
		point = s.trail[i]
		if !seen[point.not()] || s.level[point/2] != top {
			continue
		}
		if count--; count == 0 {
			break
		}
		for _, l := range s.clauses[s.reason[point/2]] {
			if l != point {
				mark(l)
			}
		}
	}
	s.bump *= 1.05
	if s.bump > 1e100 {
		for v := range s.activity {
			s.activity[v] *= 1e-100
		}
		s.bump *= 1e-100
	}
	// The literal of the highest level left is the second to be watched.
	back := 0
	for i, l := range learned {
		if n := s.level[l/2]; n > back {
			back = n
			learned[0], learned[i] = learned[i], learned[0]
		}
	}
	learned = append([]literal{point.not()}, learned...)
	s.log(step{clause: slices.Clone(learned)})
	s.backtrack(back)
	reason := int32(-1)
	if len(learned) > 1 {
		reason = s.add(learned)
	}
	s.put(point.not(), reason)
	return true
}

func (s *search) levelOf(l literal) int { return s.level[l/2] }

// choose returns a branch over an integer that is open, or a literal that would
// satisfy a clause of the problem which nothing satisfies yet, the most active one;
// false if there is none, so that what is open does not matter.
func (s *search) choose() (literal, bool) {
	for _, l := range s.branches {
		if s.of(l) == 0 {
			return l, true
		}
	}
	best, found := literal(0), false
	for _, clause := range s.problem.clauses {
		if slices.ContainsFunc(clause, func(l literal) bool { return s.of(l) == 1 }) {
			continue
		}
		for _, l := range clause {
			if s.of(l) == 0 && (!found || s.activity[l/2] > s.activity[best/2]) {
				best, found = l, true
			}
		}
	}
	return best, found
}

// broken returns an integer column whose value is none, or -1.
func (s *search) broken(values []number) int {
	for i, b := range s.problem.columns {
		if b.isInt() && !values[i].isInt() {
			return i
		}
	}
	return -1
}

// branch adds the bound column <= floor, whose negation is column >= floor+1, to be
// decided. It returns false if all is contradictory.
func (s *search) branch(column int, floor number) bool {
	s.backtrack(0)
	before := len(s.problem.bounds)
	row := s.problem.row([]monomial{{s.problem.columns[column], whole(1)}})
	if row == len(s.simplex.variable) {
		s.simplex.variable = append(s.simplex.variable, column)
	}
	l := s.problem.bound(row, floor, false)
	s.branches = append(s.branches, l)
	s.extend()
	return len(s.problem.bounds) == before || s.insert(int(l/2))
}
