package prove

import (
	"fmt"

	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// loop unrolls in a test; else it cuts: what is proved of the head of the loop on
// entry, and of the next head from this one, holds of all.
func (m *machine) loop(s *p.Loop, st *state, c control, next func(*state)) {
	if m.test != nil {
		m.unroll(s, st, c, next)
		return
	}
	h := m.head(s, st)
	h.entries = append(h.entries, st.cost)
	m.keep(s, st, "the invariant holds where "+s.Name+" begins")
	cut := st.clone()
	draws := false
	p.Each(append(s.Body[:len(s.Body):len(s.Body)], s.Post...), func(x p.Statement) {
		_, ok := x.(*p.Draw)
		draws = draws || ok
	})
	for _, v := range changed(s.Body, s.Post) {
		if v.Slice {
			if l, ok := cut.lists[v]; ok && m.alias[v] == nil {
				n := m.fresh("len("+v.Name+")", linear.Int)
				m.facts[n] = append(m.facts[n], linear.Ge(n.Term(), linear.Term{}))
				l.length = number(n.Term(), linear.Term{})
				cut.lists[v] = l
			}
			continue
		}
		cut.vars[v] = m.unknown(v)
	}
	if draws {
		for i, b := range m.budget.counters {
			cut.cost[i] = m.fresh(b.name, linear.Real).Term()
		}
	}
	cut.assumed = append(cut.assumed, instance{s, m.bind(s, cut)})
	m.pos = s.Position()
	cond := m.eval(s.Cond, cut)
	m.must(cut, "both runs stay in "+s.Name, linear.Iff(cond.one, cond.two))
	again := func(st *state) {
		m.exec(s.Post, st, c, func(st *state) { m.keep(s, st, s.Name+" keeps the invariant") })
	}
	inner := c.with(s, next, again)
	m.split(cut, cond, func(st *state) { m.exec(s.Body, st, inner, again) }, next)
}

// unknown is any value of a variable, equal in both runs if it is not private.
func (m *machine) unknown(v *p.Variable) value {
	if v.Sort == p.Bool {
		b := m.fresh(v.Name, linear.Bool).Formula()
		if !m.private[v] {
			return truth(b, b)
		}
		return truth(b, m.fresh(twinName(v.Name), linear.Bool).Formula())
	}
	x := number(m.fresh(v.Name, linearSort(v.Sort)).Term(), linear.Term{})
	if m.private[v] {
		x.diff = m.fresh(diffName(v.Name), linearSort(v.Sort)).Term()
	}
	return x
}

// unroll runs a loop of a test.
func (m *machine) unroll(s *p.Loop, st *state, c control, next func(*state)) {
	m.pos = s.Position()
	if m.watched {
		m.visits = append(m.visits, instance{s, m.bind(s, st)})
	}
	cond := m.eval(s.Cond, st)
	m.must(st, "both runs stay in "+s.Name, linear.Iff(cond.one, cond.two))
	again := func(st *state) {
		m.exec(s.Post, st, c, func(st *state) { m.unroll(s, st, c, next) })
	}
	m.split(st, cond, func(st *state) { m.exec(s.Body, st, c.with(s, next, again), again) }, next)
}

// head makes the names of which invariants of the loop may speak.
func (m *machine) head(s *p.Loop, st *state) *head {
	if h, ok := m.heads[s]; ok {
		return h
	}
	h := &head{loop: s, vars: map[linear.Var]*p.Variable{}, lists: map[linear.Var]*p.Variable{}}
	for _, v := range m.scalars(s, st) {
		n := linear.Var{Name: v.Name, Sort: linearSort(v.Sort)}
		h.names = append(h.names, n)
		h.vars[n] = v
		switch {
		case !m.private[v]:
		case v.Sort == p.Bool:
			h.names = append(h.names, linear.Var{Name: twinName(v.Name), Sort: linear.Bool})
		default:
			h.names = append(h.names, linear.Var{Name: diffName(v.Name), Sort: linearSort(v.Sort)})
		}
	}
	for _, v := range m.grown(s, st) {
		n := linear.Var{Name: lengthName(v.Name), Sort: linear.Int}
		h.names = append(h.names, n)
		h.lists[n] = v
	}
	for _, b := range m.budget.counters {
		h.names = append(h.names, linear.Var{Name: b.name, Sort: linear.Real})
	}
	m.heads[s] = h
	return h
}

// scalars are the variables that live where the loop begins, in order of their
// names.
func (m *machine) scalars(s *p.Loop, st *state) []*p.Variable {
	var vs []*p.Variable
	for v := range m.live[s] {
		if _, ok := st.vars[v]; ok && !v.Slice {
			vs = append(vs, v)
		}
	}
	sortVariables(vs)
	return vs
}

// grown are the local slices that the loop writes to and whose lengths are asked for,
// in order of their names.
func (m *machine) grown(s *p.Loop, st *state) []*p.Variable {
	var vs []*p.Variable
	for _, v := range changed(s.Body, s.Post) {
		if _, ok := st.lists[v]; ok && m.counted[v] {
			vs = append(vs, v)
		}
	}
	sortVariables(vs)
	return vs
}

// bind gives the names of a loop's invariants their values.
func (m *machine) bind(s *p.Loop, st *state) linear.Substitution {
	h := m.head(s, st)
	sub := linear.Substitution{}
	for n, v := range h.lists {
		sub[n] = m.length(v, st).num
	}
	for _, n := range h.names {
		v, ok := h.vars[n]
		if !ok {
			continue
		}
		x := m.eval(p.Ref{Var: v}, st)
		if v.Sort == p.Bool {
			sub[n] = x.one
			sub[linear.Var{Name: twinName(v.Name), Sort: linear.Bool}] = x.two
		} else {
			sub[n] = x.num
			sub[linear.Var{Name: diffName(v.Name), Sort: linearSort(v.Sort)}] = x.diff
		}
	}
	for i, b := range m.budget.counters {
		sub[linear.Var{Name: b.name, Sort: linear.Real}] = st.cost[i]
	}
	return sub
}

// keep is the obligation that the loop's invariant holds.
func (m *machine) keep(s *p.Loop, st *state, name string) {
	if m.stop {
		return
	}
	m.pos = s.Position()
	for _, v := range changed(s.Body, s.Post) { // what unknown takes for granted
		if x, ok := st.vars[v]; ok && !v.Slice && !m.private[v] {
			m.must(st, fmt.Sprintf("%s is the same in both runs", v.Name), x.equal(v.Sort))
		}
	}
	m.obligations = append(m.obligations, obligation{
		name: name, pos: s.Position(), premises: st.path, assumed: st.assumed, keep: &instance{s, m.bind(s, st)}})
}

// notOfSample refuses, within an alignment, what is neither linear nor a condition
// on the sample: between its breaks the shift must not depend on it.
func (m *machine) notOfSample(t linear.Term) {
	if m.sample == nil {
		return
	}
	for _, v := range linear.Vars(t) {
		if v == *m.sample {
			m.failed("an alignment may only compare the sample, linearly")
		}
	}
}
