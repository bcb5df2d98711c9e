package prove

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A search looks for the alignment of one direction by counterexample-guided
// synthesis (Wang et al., CheckDP, CCS 2020): tests refute alignments, and the next
// one is the simplest that passes all tests so far. What a test refutes are the
// choices of the leaves that it came to. Tests prove nothing.
type search struct {
	*static
	c         *claim.Claim
	budget    *budget
	outcomes  []*p.Variable
	swapped   bool
	goal      *big.Rat
	templates []template
	leaves    []*leaf             // of all templates
	places    map[*p.Variable]int // of leaves among them
	solver    *solver
	last      []int              // the choice of the alignment found last
	nogoods   []map[int][]nogood // by the last of their leaves, and its choice
	groups    []*group
	hopeless  bool     // a test fails whatever is chosen
	runs      int      // of tests
	steps     int      // of choices
	ratio     *big.Rat // the greatest part of the cost in passed tests
	moved     sizes    // the greatest shifts in them
	dearest   *test    // which comes to it
	exhausted bool     // all alignments of the templates fail
	maker     *maker
	tests     []*test
	failed    map[string]bool // alignments that pass the tests and have no proof
}

const (
	maxWeight = 40
	maxRuns   = 6000
	maxSteps  = 100000
)

// alignment is a shift for each draw.
type alignment map[*p.Draw]p.Expression

func (a alignment) String() string {
	var shifts []string
	for d, x := range a {
		shifts = append(shifts, fmt.Sprintf("%s: %s", d.To.Name, x))
	}
	slices.Sort(shifts)
	return strings.Join(shifts, "; ")
}

// machine is one that runs with the alignment, in a test or symbolically.
func (s *search) machine(a alignment, t *test) *machine {
	m := newMachine(s.static, s.c, s.budget, a, t)
	m.swapped, m.outcomes, m.goal = s.swapped, s.outcomes, s.goal
	if t != nil {
		t.next = 0
	}
	return m
}

// A group is leaves that refutations tie together. Groups have no nogood in common, so that
// the simplest choices of all are the simplest of each.
type group struct {
	leaves []int // ascending
	weight int   // what the simplest choices have at least
	last   []int // what was chosen last, of that weight; nil if nothing was
}

// next is the simplest alignment of the templates that passes the tests; nil if
// there is none, or it is not to be found soon. It goes on where the last one was
// found: what was refuted before that stays refuted.
func (s *search) next() alignment {
	for !s.hopeless {
		made := make([]int, len(s.leaves)) // 0 where no refutation came to
		for _, g := range s.groups {
			if !s.solve(g, made) {
				s.exhausted = !s.spent()
				return nil
			}
		}
		if s.fails(made) {
			if s.spent() {
				return nil
			}
			continue
		}
		s.last = made
		a := alignment{}
		leaves := s.shifts(made)
		for _, t := range s.templates {
			a[t.draw] = fill(t.shift, leaves)
		}
		return a
	}
	s.exhausted = true
	return nil
}

// solve makes the simplest choices of a group that no nogood forbids.
func (s *search) solve(g *group, made []int) bool {
	for ; g.weight <= maxWeight; g.weight, g.last = g.weight+1, nil {
		if s.choose(g, 0, g.weight, made, g.last != nil) {
			g.last = make([]int, len(g.leaves))
			for k, i := range g.leaves {
				g.last[k] = made[i]
			}
			return true
		}
		if s.spent() {
			return false
		}
	}
	return false
}

// tie makes one group of those of the leaves.
func (s *search) tie(n nogood) {
	one := &group{}
	in := map[int]bool{}
	for _, c := range n {
		in[c.leaf] = true
	}
	var others []*group
	joined := 0
	for _, g := range s.groups {
		if !slices.ContainsFunc(g.leaves, func(i int) bool { return in[i] }) {
			others = append(others, g)
			continue
		}
		joined++
		one.weight += g.weight
		one.leaves = append(one.leaves, g.leaves...)
		one.last = g.last
	}
	before := len(one.leaves)
	for i := range in {
		if !slices.Contains(one.leaves, i) {
			one.leaves = append(one.leaves, i)
		}
	}
	slices.Sort(one.leaves)
	if joined != 1 || len(one.leaves) != before {
		one.last = nil
	}
	s.groups = append(others, one)
}

func (s *search) spent() bool { return s.steps > maxSteps || s.runs > maxRuns }

func (s *search) shifts(made []int) map[*p.Variable]p.Expression {
	xs := map[*p.Variable]p.Expression{}
	for i, l := range s.leaves {
		xs[l.at] = l.choices[made[i]].shift
	}
	return xs
}

// choose completes a choice of the leaves of a group before the n-th by others of the given
// total weight; if these are the choices made last, by those that follow it.
func (s *search) choose(g *group, n, weight int, made []int, again bool) bool {
	if n == len(g.leaves) {
		return weight == 0
	}
	i := g.leaves[n]
	for k, c := range s.leaves[i].choices {
		if again && k < g.last[n] {
			continue
		}
		if c.weight > weight {
			break
		}
		if n == len(g.leaves)-1 && c.weight < weight {
			continue
		}
		if s.steps++; s.spent() {
			return false
		}
		made[i] = k
		if !s.forbidden(i, made) && s.choose(g, n+1, weight-c.weight, made, again && k == g.last[n]) {
			return true
		}
	}
	return false
}

// fails runs the tests so far, the one that failed last first, and learns.
func (s *search) fails(made []int) bool {
	a := alignment{}
	for _, t := range s.templates {
		a[t.draw] = t.shift
	}
	leaves := s.shifts(made)
	for i, t := range s.tests {
		s.runs++
		m := s.machine(a, t)
		m.leaves = leaves
		reason := s.reason(m, made)
		m.run()
		if m.err != nil || !m.violated() {
			continue
		}
		s.learn(reason)
		copy(s.tests[1:i+1], s.tests[:i])
		s.tests[0] = t
		return true
	}
	return false
}

// violated reports whether a test came to something that is false.
func (m *machine) violated() bool {
	for _, o := range m.obligations {
		if o.goal.IsFalse() {
			return true
		}
	}
	return false
}

// challenge looks for a test that the alignment fails; and returns the states in
// which the tests that it passes came to loops. A context that ends, ends it.
func (s *search) challenge(ctx context.Context, a alignment, tries int) (*test, map[string][]linear.Model) {
	seen := map[string][]linear.Model{}
	s.ratio, s.dearest, s.moved = new(big.Rat), nil, sizes{}
	passed, wasted := 0, 0
	for i := 0; i < tries+tries/longShare && ctx.Err() == nil; i++ {
		long := i >= tries
		t := s.maker.make(s.swapped, long)
		if t == nil {
			continue
		}
		t.more = s.maker.sampler(t)
		if long {
			t.more = s.maker.steady(t)
		}
		if s.outcomes != nil { // the outcome is what the first run returns
			m := s.machine(nil, t)
			m.blind = true
			m.run()
			if m.err != nil {
				if wasted++; wasted < tries { // what is required is seldom so
					i--
				}
				continue
			}
			for i, r := range m.result {
				if i < len(t.outcome) {
					if c, ok := r.IsConstant(); ok {
						t.outcome[i] = c
					}
				}
			}
		}
		m := s.machine(a, t)
		m.watched = passed < maxStates
		m.run()
		t.more = nil
		if m.err != nil {
			continue
		}
		if m.violated() {
			return t, nil
		}
		passed++
		t.reached(s, m, seen)
		for leaf, size := range m.moved {
			s.moved.most(leaf, size)
		}
		if m.ratio != nil && m.ratio.Cmp(s.ratio) > 0 {
			s.ratio, s.dearest = m.ratio, t
		}
	}
	return nil, seen
}

// longShare is over how many short tests there is a long one.
const longShare = 6

// maxStates is of how many states candidates for an invariant are tried.
const maxStates = 100

// reached adds the states at the heads of loops, over the names of invariants.
func (t *test) reached(s *search, m *machine, seen map[string][]linear.Model) {
	inputs := linear.Model{}
	set := func(m linear.Model, name string, sort p.Sort, r *big.Rat) {
		m[linear.Var{Name: name, Sort: linearSort(sort)}] = r
	}
	for v, x := range t.scalars {
		set(inputs, v.Name, v.Sort, x.value)
		if s.private[v] && v.Sort != p.Bool {
			set(inputs, diffName(v.Name), v.Sort, x.diff)
		} else if s.private[v] {
			set(inputs, twinName(v.Name), v.Sort, x.second())
		}
	}
	for v, xs := range t.slices {
		set(inputs, "len("+v.Name+")", p.Int, rational(int64(len(xs))))
		if a, ok := s.adjacent[v]; ok && a.Relation == claim.One {
			at, by := rational(0), new(big.Rat)
			for i, x := range xs {
				if x.diff.Sign() != 0 {
					at, by = rational(int64(i)), x.diff
				}
			}
			set(inputs, "at("+v.Name+")", p.Int, at)
			if v.Sort != p.Bool {
				set(inputs, "by("+v.Name+")", v.Sort, by)
			}
		}
	}
	for i, o := range s.outcomes {
		if o != nil {
			set(inputs, o.Name, p.Int, t.outcome[i])
		}
	}
	for _, visit := range m.visits {
		name := visit.loop.Name
		if len(seen[name]) == maxStates {
			continue
		}
		model := linear.Model{}
		for v, r := range inputs {
			model[v] = r
		}
		for v, x := range visit.at {
			switch x := x.(type) {
			case linear.Term:
				if r, ok := x.IsConstant(); ok {
					model[v] = r
				}
			case linear.Formula:
				model[v] = new(big.Rat)
				if x.IsTrue() {
					model[v] = rational(1)
				}
			}
		}
		seen[name] = append(seen[name], model)
	}
}
