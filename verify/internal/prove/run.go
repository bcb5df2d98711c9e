package prove

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// run does the whole function.
func (m *machine) run() {
	st := m.begin()
	m.exec(m.f.Body, st, control{}, func(st *state) { m.reveal(nil, st) })
}

// A control is where break and continue go.
type control struct{ brk, cont map[*p.Loop]func(*state) }

func (c control) with(l *p.Loop, brk, cont func(*state)) control {
	d := control{map[*p.Loop]func(*state){l: brk}, map[*p.Loop]func(*state){l: cont}}
	for k, f := range c.brk {
		d.brk[k], d.cont[k] = f, c.cont[k]
	}
	return d
}

// exec runs the statements and hands each state in which they end to next.
func (m *machine) exec(list []p.Statement, st *state, c control, next func(*state)) {
	for i, s := range list {
		if m.stop {
			return
		}
		m.pos = s.Position()
		if len(m.settled[s]) > 0 {
			st = m.assumeSettled(s, st)
		}
		rest := list[i+1:]
		switch s := s.(type) {
		case *p.If:
			if pure(s) {
				st = m.diverge(s, st)
				continue
			}
			cond := m.eval(s.Cond, st)
			m.must(st, "both runs take the same branch", linear.Iff(cond.one, cond.two))
			after := func(st *state) { m.exec(rest, st, c, next) }
			m.split(st, cond,
				func(st *state) { m.exec(s.Then, st, c, after) },
				func(st *state) { m.exec(s.Else, st, c, after) })
			return
		case *p.Loop:
			m.loop(s, st, c, func(st *state) { m.exec(rest, st, c, next) })
			return
		case *p.Break:
			c.brk[s.Of](st)
			return
		case *p.Continue:
			c.cont[s.Of](st)
			return
		case *p.Return:
			m.reveal(s.Values, st)
			return
		default:
			m.step(s, st)
		}
	}
	if !m.stop {
		next(st)
	}
}

// assumeSettled keeps to the runs that end in the outcome that is looked at.
func (m *machine) assumeSettled(s p.Statement, st *state) *state {
	st = st.clone()
	for _, f := range m.settled[s] {
		if f.component >= len(m.outcomes) || m.outcomes[f.component] == nil {
			continue
		}
		x, o := m.eval(p.Ref{Var: f.v}, st), m.inputs[m.outcomes[f.component]]
		same := linear.Eq(x.num, o.num)
		if m.test == nil {
			st.assume(same)
		} else if same.IsFalse() && !m.blind {
			m.stop = true
		}
		m.must(st, fmt.Sprintf("%s is %s in the second run too", f.v.Name, m.outcomes[f.component].Name), linear.Eq(x.second(), o.num))
	}
	return st
}

// split goes both ways, where they are possible.
func (m *machine) split(st *state, cond value, yes, no func(*state)) {
	for _, way := range []struct {
		cond value
		do   func(*state)
	}{{cond, yes}, {truth(linear.Not(cond.one), linear.Not(cond.two)), no}} {
		if way.cond.one.IsFalse() || m.stop {
			continue
		}
		if m.fuel--; m.fuel < 0 {
			m.failed("the function has too many paths")
			return
		}
		if m.test != nil { // there is no other way
			way.do(st)
			return
		}
		s := st.clone()
		s.assume(way.cond.one)
		s.assume(way.cond.two)
		if !s.impossible() {
			way.do(s)
		}
	}
}

// diverge runs an if that only assigns: each run by its own condition.
func (m *machine) diverge(s *p.If, st *state) *state {
	cond := m.eval(s.Cond, st)
	switch { // in a test there is no other way, if the runs agree
	case m.test != nil && cond.one.IsTrue() && cond.two.IsTrue():
		return m.assign(s.Then, st)
	case m.test != nil && cond.one.IsFalse() && cond.two.IsFalse():
		return m.assign(s.Else, st)
	}
	a, b := m.assign(s.Then, st.clone()), m.assign(s.Else, st.clone())
	merged := st.clone()
	for _, v := range changed(s.Then, s.Else) {
		merged.vars[v] = choose(cond, m.eval(p.Ref{Var: v}, a), m.eval(p.Ref{Var: v}, b), v.Sort)
	}
	return merged
}

func (m *machine) assign(list []p.Statement, st *state) *state {
	for _, s := range list {
		switch s := s.(type) {
		case *p.Assign:
			st.vars[s.To] = m.eval(s.Value, st)
		case *p.If:
			st = m.diverge(s, st)
		}
	}
	return st
}

// step runs a statement that neither branches nor jumps.
func (m *machine) step(s p.Statement, st *state) {
	switch s := s.(type) {
	case *p.Assign:
		switch {
		case !s.To.Slice:
			st.vars[s.To] = m.eval(s.Value, st)
		case s.To.Input:
			m.failed("the input slice %s is written to", s.To.Name)
		case m.alias[s.To] == nil:
			r, ok := s.Value.(p.Ref)
			if l, known := st.lists[r.Var]; ok && known {
				st.lists[s.To] = l
			} else if m.failed("a copy of %s that is written to is outside of alignments", s.Value); true {
				return
			}
		}
	case *p.Make:
		if s.To.Input {
			m.failed("the input slice %s is written to", s.To.Name)
			return
		}
		n := m.eval(s.Length, st)
		m.must(st, fmt.Sprintf("%s has the same length in both runs", s.To.Name), linear.Eq(n.diff, linear.Term{}))
		l := list{length: number(n.num, linear.Term{})}
		if r, ok := n.num.IsConstant(); ok && m.test != nil {
			if !r.IsInt() || r.Sign() < 0 || r.Cmp(rational(1000)) > 0 {
				m.failed("a test makes a slice of length %s", r.RatString())
				return
			}
			l.elements = make([]linear.Term, r.Num().Int64())
		}
		st.lists[s.To] = l
	case *p.Append:
		if s.To.Input {
			m.failed("the input slice %s is written to", s.To.Name)
			return
		}
		x := m.written(s.To, s.Value, st)
		l := st.lists[s.To]
		l.length.num = l.length.num.Add(linear.Number(1))
		l.elements = append(l.elements[:len(l.elements):len(l.elements)], x)
		st.lists[s.To] = l
	case *p.Store:
		if s.To.Input {
			m.failed("the input slice %s is written to", s.To.Name)
			return
		}
		i := m.eval(s.Index, st)
		m.must(st, fmt.Sprintf("both runs write the same element of %s", s.To.Name), linear.Eq(i.diff, linear.Term{}))
		x := m.written(s.To, s.Value, st)
		if m.test != nil {
			l := st.lists[s.To]
			r, ok := i.num.IsConstant()
			if !ok || !r.IsInt() || r.Sign() < 0 || r.Cmp(rational(int64(len(l.elements)))) >= 0 {
				m.failed("an index of %s is out of range", s.To.Name)
				return
			}
			l.elements = append([]linear.Term(nil), l.elements...)
			l.elements[r.Num().Int64()] = x
			st.lists[s.To] = l
		}
	case *p.Draw:
		m.draw(s, st)
	case *p.Output:
		for _, x := range s.Values {
			m.revealed(x, st, linear.True(), "the output is the same in both runs")
		}
	default:
		m.failed("a statement of an unknown form")
	}
}

// written is a value that goes into a local slice: it must be equal in both runs.
func (m *machine) written(to *p.Variable, x p.Expression, st *state) linear.Term {
	v := m.eval(x, st)
	m.must(st, fmt.Sprintf("what %s receives is the same in both runs", to.Name), v.equal(to.Sort))
	if to.Sort == p.Bool {
		return linear.Ite(v.one, linear.Number(1), linear.Number(0))
	}
	return v.num
}

// revealed demands that x is equal in both runs, where the premise holds.
func (m *machine) revealed(x p.Expression, st *state, premise linear.Formula, name string) {
	if r, ok := x.(p.Ref); ok && r.Var.Slice {
		v := r.Var
		if a, ok := m.alias[v]; ok {
			v = a
		}
		if v.Input && m.private[v] {
			m.must(st, fmt.Sprintf("%s is the same in both runs", r.Var.Name), linear.Not(premise))
			return
		}
		m.must(st, fmt.Sprintf("%s has the same length in both runs", r.Var.Name),
			linear.Implies(premise, linear.Eq(m.length(v, st).diff, linear.Term{})))
		return
	}
	m.must(st, name, linear.Implies(premise, m.eval(x, st).equal(p.SortOf(x))))
}

// reveal ends the function: the results are equal and the costs are covered, for
// the outcome that is looked at.
func (m *machine) reveal(values []p.Expression, st *state) {
	if m.test != nil {
		for _, x := range values {
			v := linear.Term{}
			if !isSlice(x) && p.SortOf(x) != p.Bool {
				v = m.eval(x, st).num
			} else if !isSlice(x) {
				v = linear.Ite(m.eval(x, st).one, linear.Number(1), linear.Number(0))
			}
			m.result = append(m.result, v)
		}
	}
	premise := linear.True()
	var others []p.Expression
	for i, x := range values {
		if i >= len(m.outcomes) || m.outcomes[i] == nil {
			others = append(others, x)
			continue
		}
		o := m.inputs[m.outcomes[i]].num
		v := m.eval(x, st)
		if p.SortOf(x) == p.Bool {
			v = number(linear.Ite(v.one, linear.Number(1), linear.Number(0)), linear.Term{})
		}
		premise = linear.And(premise, linear.Eq(v.num, o))
	}
	for i, x := range values {
		if i >= len(m.outcomes) || m.outcomes[i] == nil {
			continue
		}
		o := m.inputs[m.outcomes[i]].num
		v := m.eval(x, st)
		second := v.second()
		if p.SortOf(x) == p.Bool {
			second = linear.Ite(v.two, linear.Number(1), linear.Number(0))
		}
		m.must(st, fmt.Sprintf("if the first run returns %s, so does the second", m.outcomes[i].Name),
			linear.Implies(premise, linear.Eq(second, o)))
	}
	for _, x := range others {
		m.revealed(x, st, premise, "the result is the same in both runs")
	}
	free, units := m.free(st.cost), m.units()
	for i, c := range m.budget.counters {
		goal := m.eval(c.goal, &state{}).num
		m.note(st.cost[i], goal, premise)
		goal = goal.Scale(m.goal)
		m.must(st, fmt.Sprintf("the %s is covered by the claim", c.name), linear.Implies(premise, linear.Or(free, linear.And(units, linear.Le(st.cost[i], goal)))))
	}
}

// note keeps the greatest part of the claimed cost that a test came to.
func (m *machine) note(cost, goal linear.Term, premise linear.Formula) {
	if m.test == nil || !premise.IsTrue() {
		return
	}
	c, one := cost.IsConstant()
	g, two := goal.IsConstant()
	if one && two && g.Sign() > 0 {
		if r := new(big.Rat).Quo(c, g); m.ratio == nil || r.Cmp(m.ratio) > 0 {
			m.ratio = r
		}
	}
}
