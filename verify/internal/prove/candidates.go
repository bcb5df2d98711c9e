package prove

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// candidates are simple formulas over the names at the loops' heads that hold in
// the states that tests came to, and the invariants that the source gives. The
// second level has those under guards too.
func (m *machine) candidates(level int, seen map[string][]linear.Model) invariants {
	defer func(n int, stop bool, err error) { // what is asked of names is no step of a run
		m.obligations, m.stop, m.err = m.obligations[:n], stop, err
	}(len(m.obligations), m.stop, m.err)
	all := invariants{}
	for _, l := range m.loops {
		h := m.heads[l]
		if h == nil {
			continue
		}
		g := m.naming(h)
		var fs []linear.Formula
		for _, x := range l.Invariants {
			fs = append(fs, m.eval(x, g).one.Conjuncts()...)
		}
		fs = m.distinct(h, append(fs, m.plain(h, g)...))
		table := truths(fs, seen[l.Name])
		for i, f := range fs {
			if !slices.Contains(table[i], false) {
				all[l.Name] = append(all[l.Name], f)
			}
		}
		if level == 1 {
			continue
		}
		guards := m.distinct(h, m.guards(h, g))
		for j, where := range truths(guards, seen[l.Name]) {
			if !slices.Contains(where, true) {
				continue
			}
			for i, f := range fs {
				refuted, weaker := false, true
				for k, ok := range table[i] {
					refuted = refuted || where[k] && !ok
					weaker = weaker && ok
				}
				if !refuted && !weaker {
					all[l.Name] = append(all[l.Name], linear.Implies(guards[j], f))
				}
			}
		}
	}
	return all
}

// truths says of each formula and state whether it holds there.
func truths(fs []linear.Formula, states []linear.Model) [][]bool {
	table := make([][]bool, len(fs))
	for i, f := range fs {
		table[i] = make([]bool, len(states))
		for k, s := range states {
			ok, err := f.Eval(s)
			table[i][k] = ok || err != nil
		}
	}
	return table
}

// distinct leaves out what says nothing, or nothing new, or speaks of other things
// than the head's names.
func (m *machine) distinct(h *head, fs []linear.Formula) []linear.Formula {
	seen := map[string]bool{}
	return slices.DeleteFunc(fs, func(f linear.Formula) bool {
		if f.IsTrue() || f.IsFalse() || !m.speakable(h, f) {
			return true
		}
		k := f.String()
		defer func() { seen[k] = true }()
		return seen[k]
	})
}

// speakable reports whether a formula is over the names of the head and inputs.
func (m *machine) speakable(h *head, f linear.Formula) bool {
	for _, v := range linear.Vars(f) {
		if !m.fixed[v] && !slices.Contains(h.names, v) {
			return false
		}
	}
	return f.Err() == nil
}

// naming is the state in which each variable is its own name.
func (m *machine) naming(h *head) *state {
	st := &state{vars: map[*p.Variable]value{}, lists: map[*p.Variable]list{}}
	for n, v := range h.lists {
		st.lists[v] = list{length: number(n.Term(), linear.Term{})}
	}
	for n, v := range h.vars {
		switch {
		case v.Sort == p.Bool:
			st.vars[v] = truth(n.Formula(), n.Formula())
			if m.private[v] {
				st.vars[v] = truth(n.Formula(), linear.Var{Name: twinName(v.Name), Sort: linear.Bool}.Formula())
			}
		case m.private[v]:
			st.vars[v] = number(n.Term(), linear.Var{Name: diffName(v.Name), Sort: n.Sort}.Term())
		default:
			st.vars[v] = number(n.Term(), linear.Term{})
		}
	}
	return st
}

// plain are the candidates without guards.
func (m *machine) plain(h *head, g *state) []linear.Formula {
	var fs []linear.Formula
	steps, before := m.prices(h)
	var ints, counters, reals []linear.Term
	var diffs []linear.Term
	modified := changed(h.loop.Body, h.loop.Post)
	for _, n := range h.names {
		if v, ok := h.vars[n]; ok && v.Sort == p.Int && !m.private[v] {
			ints = append(ints, n.Term())
		}
	}
	for _, n := range h.names {
		if _, ok := h.lists[n]; ok {
			counters = append(counters, n.Term())
		}
		v, ok := h.vars[n]
		if !ok {
			continue
		}
		x := g.vars[v]
		moves := slices.Contains(modified, v)
		if v.Sort == p.Bool {
			if m.private[v] {
				fs = append(fs, linear.Iff(x.one, x.two))
			}
			if moves {
				fs = append(fs, x.one, linear.Not(x.one))
			}
			continue
		}
		if v.Sort == p.Int && !m.private[v] {
			if moves {
				counters = append(counters, x.num)
			}
		}
		if v.Sort == p.Int && m.private[v] && moves {
			counters = append(counters, x.num)
			fs = append(fs, linear.Ge(x.num, linear.Term{}))
		}
		if !m.private[v] && v.Sort == p.Real && moves {
			counters = append(counters, x.num)
			reals = append(reals, x.num)
		}
		if m.private[v] && moves {
			diffs = append(diffs, x.diff)
			for _, k := range m.levels() {
				fs = append(fs, linear.Le(x.diff, k), linear.Ge(x.diff, k))
			}
			for k, o := range m.outcomes {
				if o != nil && v.Sort == p.Int && m.returned[v][k] {
					r := m.inputs[o].num
					fs = append(fs, linear.Implies(linear.Eq(x.num, r), linear.Eq(x.second(), r)))
				}
			}
			if v.Sort == p.Int && m.returned[v] != nil {
				for _, i := range ints {
					fs = append(fs, linear.Lt(x.num, i), linear.Lt(x.second(), i))
				}
			}
		}
	}
	for _, x := range m.comparisons(h) { // both runs agree on a private condition
		f := m.eval(x, g)
		fs = append(fs, linear.Iff(f.one, f.two))
	}
	fs = append(fs, m.unpaid()...)
	// Sizes and counters.
	sizes := slices.Clone(ints)
	for _, v := range m.f.Inputs {
		if l, ok := m.lengths[v]; ok {
			sizes = append(sizes, l.num)
		} else if x, ok := m.inputs[v]; ok && v.Sort == p.Int && !m.private[v] {
			sizes = append(sizes, x.num)
		}
	}
	for _, o := range m.outcomes {
		if o != nil {
			for _, c := range counters {
				fs = append(fs, linear.Lt(m.inputs[o].num, c), linear.Gt(m.inputs[o].num, c))
			}
		}
	}
	for _, v := range m.f.Inputs { // budgets that are spent in real steps
		if x, ok := m.inputs[v]; ok && v.Sort == p.Real && !m.private[v] {
			for _, c := range reals {
				fs = append(fs, linear.Le(c, x.num), linear.Ge(c, x.num))
			}
		}
	}
	for _, c := range counters {
		fs = append(fs, linear.Ge(c, linear.Term{}), linear.Gt(c, linear.Term{}))
		for _, s := range sizes {
			fs = append(fs, linear.Le(c, s), linear.Ge(c, s), linear.Lt(c, s))
		}
	}
	for _, x := range m.conditions(h) {
		if f := m.eval(x, g); f.one.Err() == nil {
			fs = append(fs, f.one.Conjuncts()...)
			// i < n where a loop goes on is i <= n where it ends.
			if b, ok := x.(p.Binary); ok && (b.Op == p.Lt || b.Op == p.Gt) && p.SortOf(b.X) != p.Bool {
				weak := p.Le
				if b.Op == p.Gt {
					weak = p.Ge
				}
				fs = append(fs, m.eval(p.Binary{Op: weak, X: b.X, Y: b.Y}, g).one)
			}
			// left != 0 where a loop goes on is kept as left > 0.
			if b, ok := x.(p.Binary); ok && (b.Op == p.Eq || b.Op == p.Ne) && p.SortOf(b.X) != p.Bool {
				for _, side := range []p.Op{p.Lt, p.Gt, p.Le, p.Ge} {
					fs = append(fs, m.eval(p.Binary{Op: side, X: b.X, Y: b.Y}, g).one)
				}
			}
		}
	}
	// Costs.
	for i, b := range m.budget.counters {
		cost := linear.Var{Name: b.name, Sort: linear.Real}.Term()
		goal := m.eval(b.goal, &state{}).num.Scale(m.goal)
		starts := uniqueTerms(append([]linear.Term{{}, goal}, before[i]...))
		for _, a := range starts {
			fs = append(fs, linear.Le(cost, a))
			for _, c := range reals { // what was spent, and what is left
				fs = append(fs, linear.Le(cost, a.Add(c)), linear.Le(cost, a.Sub(c)))
			}
			for _, step := range steps[i] {
				fs = append(fs, linear.Le(cost, a.Add(step)), linear.Le(cost, a.Sub(step)))
				if k, ok := step.IsConstant(); ok && k.Sign() != 0 {
					for _, by := range increments(h.loop) {
						each := new(big.Rat).Quo(k, by)
						for _, c := range counters {
							fs = append(fs, linear.Le(cost, a.Add(c.Scale(each))), linear.Le(cost, a.Sub(c.Scale(each))))
						}
					}
					for _, d := range diffs {
						fs = append(fs, linear.Le(cost, a.Add(d.Scale(k))), linear.Le(cost, a.Sub(d.Scale(k))))
					}
				}
			}
		}
	}
	return fs
}

// conditions are the public conditions on which the loop goes on.
func (m *machine) conditions(h *head) []p.Expression {
	var xs []p.Expression
	var add func(x p.Expression)
	add = func(x p.Expression) {
		if b, ok := x.(p.Binary); ok && (b.Op == p.And || b.Op == p.Or) {
			add(b.X)
			add(b.Y)
			return
		}
		if _, constant := x.(p.Truth); !constant && !m.isPrivate(x) {
			xs = append(xs, x)
		}
	}
	add(h.loop.Cond)
	p.Each(h.loop.Body, func(s p.Statement) {
		if s, ok := s.(*p.If); ok && jumps(s) {
			add(s.Cond)
		}
	})
	for _, d := range m.draws {
		p.Walk(m.align[d], func(x p.Expression) {
			if c, ok := x.(p.If3); ok && !m.isPrivate(c.Cond) {
				add(c.Cond)
			}
		})
	}
	return xs
}

// comparisons are the private conditions of the loop on single variables.
func (m *machine) comparisons(h *head) []p.Expression {
	var xs []p.Expression
	var add func(x p.Expression)
	add = func(x p.Expression) {
		if u, ok := x.(p.Unary); ok && u.Op == p.Not {
			add(u.X)
			return
		}
		b, ok := x.(p.Binary)
		if !ok {
			return
		}
		if b.Op == p.And || b.Op == p.Or {
			add(b.X)
			add(b.Y)
			return
		}
		_, one := b.X.(p.Ref)
		_, two := b.Y.(p.Number)
		if one && two && m.isPrivate(x) {
			xs = append(xs, x)
		}
	}
	p.Each(h.loop.Body, func(s p.Statement) {
		if s, ok := s.(*p.If); ok {
			add(s.Cond)
		}
	})
	return xs
}

// firsts are the tests of the loop for its first iteration: i == 0, or a flag that says that
// there was a first or that there was none.
func (m *machine) firsts(h *head) []p.Expression {
	var xs []p.Expression
	seen := map[string]bool{}
	add := func(x p.Expression) {
		if k := x.String(); !seen[k] {
			seen[k] = true
			xs = append(xs, x)
		}
	}
	var visit func(x p.Expression)
	visit = func(x p.Expression) {
		switch x := x.(type) {
		case p.Unary:
			visit(x.X)
		case p.Ref:
			if x.Var.Sort != p.Bool || x.Var.Input {
				return
			}
			// if found && v <= best { continue } asks for the others.
			add(p.Unary{Op: p.Not, X: x})
			add(x)
		case p.Binary:
			if x.Op == p.And || x.Op == p.Or {
				visit(x.X)
				visit(x.Y)
				return
			}
			if n, ok := x.Y.(p.Number); ok && !m.isPrivate(x) {
				if p.SortOf(x.X) == p.Int && (x.Op == p.Gt && n.Value.Sign() == 0 || x.Op == p.Ge && n.Value.IsInt() && n.Value.Num().IsInt64() && n.Value.Num().Int64() == 1) {
					n.Value = new(big.Rat) // i > 0 is i != 0 of what counts up
					add(p.Binary{Op: p.Eq, X: x.X, Y: n})
				}
				if x.Op == p.Eq || x.Op == p.Ne {
					add(p.Binary{Op: p.Eq, X: x.X, Y: n})
				}
			}
		}
	}
	p.Each(h.loop.Body, func(s p.Statement) {
		if s, ok := s.(*p.If); ok {
			visit(s.Cond)
		}
	})
	return xs
}

// constants are the numbers that the function assigns to a variable.
func (m *machine) constants(v *p.Variable) []p.Number {
	var ns []p.Number
	p.Each(m.f.Body, func(s p.Statement) {
		if a, ok := s.(*p.Assign); ok && a.To == v {
			if n, ok := a.Value.(p.Number); ok {
				ns = append(ns, n)
			}
		}
	})
	return ns
}

// guards are the conditions under which candidates are compared at the second
// level.
func (m *machine) guards(h *head, g *state) []linear.Formula {
	var fs []linear.Formula
	both := func(f linear.Formula) { fs = append(fs, f, linear.Not(f)) }
	for _, n := range h.names {
		v, ok := h.vars[n]
		if !ok || v.Sort != p.Int {
			continue
		}
		for k, o := range m.outcomes {
			if o == nil {
				continue
			}
			r := m.inputs[o].num
			if m.private[v] && !m.returned[v][k] {
				continue
			}
			if m.private[v] {
				same := linear.Eq(g.vars[v].num, r)
				both(same)
				for _, n := range m.constants(v) {
					both(linear.And(same, linear.Ne(r, linear.Constant(n.Value))))
				}
				for _, x := range m.firsts(h) { // if i == 0 || noisy > best
					if f := m.eval(x, g).one; f.Err() == nil {
						both(linear.And(same, linear.Not(f)))
					}
				}
			} else {
				both(linear.Le(g.vars[v].num, r))
				for _, x := range m.firsts(h) { // if i == 0 { the first } else { the others }
					if b, ok := x.(p.Binary); ok && b.X.String() == v.Name {
						both(linear.And(linear.Le(g.vars[v].num, r), linear.Ne(r, m.eval(b.Y, g).num)))
					}
				}
			}
		}
		if !m.private[v] {
			for _, at := range m.at {
				both(linear.Le(g.vars[v].num, at.Term()))
			}
		}
	}
	for _, x := range m.conditions(h) {
		if f := m.eval(x, g).one; f.Err() == nil && m.speakable(h, f) {
			both(f)
		}
	}
	for _, n := range h.names { // flags: found, done
		if v, ok := h.vars[n]; ok && v.Sort == p.Bool {
			both(g.vars[v].one)
		}
	}
	return fs
}
