package prove

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/smt"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// houdini looks for invariants among candidates: of all of them those are dropped
// that do not follow where a loop begins or is repeated, until the rest is kept
// (Flanagan & Leino, FME 2001). It returns those that the obligations need; nil if
// they do not suffice.
func (m *machine) houdini(ctx context.Context, s *solver, candidates invariants) (invariants, error) {
	active := invariants{}
	for name, fs := range candidates {
		active[name] = slices.Clone(fs)
	}
	for again := true; again; {
		again = false
		for _, o := range m.obligations {
			if o.keep == nil || len(active[o.keep.loop.Name]) == 0 {
				continue
			}
			dropped, ok, err := m.prune(ctx, s, o, active)
			if err != nil || !ok {
				return nil, err
			}
			again = again || dropped
		}
	}
	return m.needed(ctx, s, active)
}

// prune drops the candidates that an obligation refutes. Candidates are switched on
// by literals, so that the solver is told of the obligation once.
func (m *machine) prune(ctx context.Context, s *solver, o obligation, active invariants) (dropped, ok bool, err error) {
	next := linear.Substitution{} // names for the values that the loop's variables are given
	var given []linear.Formula
	for v, x := range o.keep.at {
		n := linear.Var{Name: "next!" + v.Name, Sort: v.Sort}
		switch x := x.(type) {
		case linear.Term:
			given = append(given, linear.Eq(n.Term(), x))
			next[v] = n.Term()
		case linear.Formula:
			given = append(given, linear.Iff(n.Formula(), x))
			next[v] = n.Formula()
		}
	}
	fs := active[o.keep.loop.Name]
	fails := make([]linear.Formula, len(fs))
	for k, f := range fs {
		fails[k] = linear.Var{Name: fmt.Sprintf("fails!%d", k), Sort: linear.Bool}.Formula()
		given = append(given, linear.Implies(fails[k], linear.Not(f.Subst(next))))
	}
	var uses []linear.Formula
	own := -1 // where the candidates of this very loop begin among the uses
	for _, i := range o.assumed {
		if i.loop == o.keep.loop {
			own = len(uses)
		}
		for k, f := range active.of(i) {
			use := linear.Var{Name: fmt.Sprintf("use!%s!%d", i.loop.Name, k), Sort: linear.Bool}.Formula()
			uses = append(uses, use)
			given = append(given, linear.Implies(use, f))
		}
	}
	var es []linear.Expr
	for _, f := range given {
		es = append(es, f)
	}
	given = append(given, m.context(o, es...))
	s.process.Push()
	defer s.process.Pop()
	for _, f := range given {
		if err := s.assert(f); err != nil {
			return false, false, err
		}
	}
	live := make([]bool, len(fs))
	for k := range live {
		live[k] = true
	}
	all := linear.And(given...)
	for {
		var some []linear.Formula
		query := slices.Clone(uses)
		for k := range fs {
			if live[k] {
				some = append(some, fails[k])
			}
		}
		if own >= 0 {
			query = slices.Clone(uses[:own])
			for k := range fs {
				if live[k] {
					query = append(query, uses[own+k])
				}
			}
			query = append(query, uses[own+len(fs):]...)
		}
		if len(some) == 0 {
			break
		}
		model, answer, err := s.under(ctx, all, linear.Or(some...), linear.And(query...))
		if err != nil {
			return false, false, err
		}
		if answer == smt.Unsat {
			break
		}
		before := dropped
		progress := false
		if answer == smt.Sat {
			for k, f := range fs {
				if live[k] && !holds(f.Subst(next), model) {
					live[k], dropped, progress = false, true, true
				}
			}
		}
		if !progress {
			return before, false, nil
		}
	}
	kept := fs[:0:0]
	for k, f := range fs {
		if live[k] {
			kept = append(kept, f)
		}
	}
	active[o.keep.loop.Name] = kept
	return dropped, true, nil
}

// holds evaluates f; what the model is silent of is 0.
func holds(f linear.Formula, model linear.Model) bool {
	ok, err := f.Eval(model)
	if err == nil {
		return ok
	}
	full := linear.Model{}
	for v, r := range model {
		full[v] = r
	}
	for _, v := range linear.Vars(f) {
		if full[v] == nil {
			full[v] = new(big.Rat)
		}
	}
	ok, err = f.Eval(full)
	return err == nil && ok
}

// needed are the conjuncts on which the obligations rest, and those on which these
// do.
func (m *machine) needed(ctx context.Context, s *solver, inv invariants) (invariants, error) {
	type conjunct struct {
		loop string
		at   int
	}
	use := map[conjunct]bool{}
	var queue []conjunct
	// rest proves a goal from as few assumed conjuncts as it takes.
	rest := func(o obligation, goal linear.Formula) (bool, error) {
		var fs []linear.Formula
		var from []conjunct
		var es []linear.Expr
		for _, i := range o.assumed {
			for k, f := range inv.of(i) {
				fs = append(fs, f)
				es = append(es, f)
				from = append(from, conjunct{i.loop.Name, k})
			}
		}
		given := linear.And(m.context(o, append(es, goal)...), linear.Not(goal))
		if given.IsFalse() {
			return true, nil
		}
		core, ok, err := s.core(ctx, given, fs)
		if !ok || err != nil {
			return false, err
		}
		for _, k := range core {
			if c := from[k]; !use[c] {
				use[c] = true
				queue = append(queue, c)
			}
		}
		return true, nil
	}
	for _, o := range m.obligations {
		if o.keep != nil {
			continue
		}
		if ok, err := rest(o, o.goal); !ok || err != nil {
			m.open = m.describe(o)
			return nil, err
		}
	}
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		for _, o := range m.obligations {
			if o.keep == nil || o.keep.loop.Name != c.loop {
				continue
			}
			if ok, err := rest(o, inv[c.loop][c.at].Subst(o.keep.at)); !ok || err != nil {
				return nil, err
			}
		}
	}
	least := invariants{}
	for name, fs := range inv {
		for k, f := range fs {
			if use[conjunct{name, k}] {
				least[name] = append(least[name], f)
			}
		}
	}
	return least, nil
}

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

// increments are the whole numbers by which a loop counts: 1, and those of n = n + 2.
func increments(l *p.Loop) []*big.Rat {
	all := []*big.Rat{rational(1)}
	p.Each(l.Body, func(s p.Statement) {
		a, ok := s.(*p.Assign)
		if !ok {
			return
		}
		sum, ok := a.Value.(p.Binary)
		if !ok || sum.Op != p.Add || a.To.Sort != p.Int {
			return
		}
		n, ok := sum.Y.(p.Number)
		same := func(r *big.Rat) bool { return r.Cmp(n.Value) == 0 }
		if ok && sum.X.String() == a.To.Name && n.Value.Sign() > 0 && !slices.ContainsFunc(all, same) {
			all = append(all, n.Value)
		}
	})
	return all
}

// levels are what distances are compared with: the sizes of the adjacencies, and
// the constants of alignments.
func (m *machine) levels() []linear.Term {
	ls := []linear.Term{{}}
	for _, a := range m.c.Adjacent {
		if a.Relation == claim.Bag {
			continue
		}
		low, high := m.bounds(a)
		ls = append(ls, low, high, low.Neg(), high.Neg())
	}
	for _, d := range m.draws {
		for _, leaf := range leaves(m.align[d]) {
			if n, ok := leaf.(p.Number); ok {
				ls = append(ls, linear.Constant(n.Value), linear.Constant(n.Value).Neg())
			}
		}
	}
	cuts := m.cuts()
	for i, a := range cuts {
		ls = append(ls, a, a.Neg())
		for _, b := range cuts[:i] {
			ls = append(ls, a.Sub(b), b.Sub(a))
		}
	}
	return uniqueTerms(ls)
}

// maxCuts bounds the public numbers that private ones are cut to.
const maxCuts = 4

// cuts are the public numbers to which private ones are cut: bounds in min and max, and
// what a branch that only assigns gives.
func (m *machine) cuts() []linear.Term {
	var ts []linear.Term
	note := func(x p.Expression) {
		x = inline(x, m.definitions)
		fixed := !m.isPrivate(x) && p.SortOf(x) != p.Bool
		p.Walk(x, func(x p.Expression) {
			switch x := x.(type) {
			case p.Ref:
				fixed = fixed && x.Var.Input && m.inputs[x.Var].num.Err() == nil
			case p.Element, p.Length:
				fixed = false
			}
		})
		if fixed {
			ts = append(ts, m.eval(x, &state{vars: m.inputs}).num)
		}
	}
	var visit func(list []p.Statement, chosen bool)
	visit = func(list []p.Statement, chosen bool) {
		for _, s := range list {
			switch s := s.(type) {
			case *p.Assign:
				if chosen && !s.To.Slice {
					note(s.Value)
				}
				p.Walk(s.Value, func(x p.Expression) {
					if b, ok := x.(p.Binary); ok && (b.Op == p.Min || b.Op == p.Max) && m.isPrivate(b) {
						note(b.X)
						note(b.Y)
					}
				})
			case *p.If:
				private := chosen || pure(s) && m.isPrivate(s.Cond)
				visit(s.Then, private)
				visit(s.Else, private)
			case *p.Loop:
				visit(s.Body, chosen)
				visit(s.Post, chosen)
			}
		}
	}
	visit(m.f.Body, false)
	ts = uniqueTerms(ts)
	return ts[:min(len(ts), maxCuts)]
}

func uniqueTerms(ts []linear.Term) []linear.Term {
	seen := map[string]bool{}
	return slices.DeleteFunc(ts, func(t linear.Term) bool {
		k := t.String()
		defer func() { seen[k] = true }()
		return seen[k]
	})
}

// leaves are the cases of an alignment.
func leaves(x p.Expression) []p.Expression {
	if c, ok := x.(p.If3); ok {
		return append(leaves(c.Then), leaves(c.Else)...)
	}
	if x == nil {
		return nil
	}
	return []p.Expression{x}
}

// prices guesses, for each counter, what the draws of a loop cost in one iteration
// and what those before it do.
func (m *machine) prices(h *head) (steps, before [][]linear.Term) {
	steps, before = make([][]linear.Term, len(m.budget.counters)), make([][]linear.Term, len(m.budget.counters))
	for i, b := range m.budget.counters {
		steps[i] = []linear.Term{{}}
		total := linear.Term{}
		for _, d := range m.draws {
			var costs []linear.Term
			rate := m.eval(b.rate[d], &state{}).num
			if d.Law == p.Choose {
				costs = append(costs, rate.Mul(m.scoreRange(d.Scores)))
			}
			dearest := new(big.Rat)
			for _, leaf := range leaves(m.align[d]) {
				k, ok := m.moved[leaf.String()]
				if !ok {
					k = m.guess(leaf)
				}
				costs = append(costs, rate.Scale(k))
				if k.Cmp(dearest) > 0 {
					dearest = k
				}
			}
			inside := slices.Contains(m.around[d], h.loop)
			if !inside && d.Pos < h.loop.Pos {
				total = total.Add(rate.Scale(dearest))
			}
			if inside {
				for _, s := range slices.Clone(steps[i]) {
					for _, c := range costs {
						if len(steps[i]) < 40 && c.Err() == nil {
							steps[i] = append(steps[i], s.Add(c))
						}
					}
				}
				steps[i] = uniqueTerms(steps[i])
			}
		}
		before[i] = []linear.Term{total}
	}
	return steps, before
}

// guess is the size of a leaf if distances are those of the adjacency.
func (m *machine) guess(x p.Expression) *big.Rat {
	most := new(big.Rat)
	for _, a := range m.c.Adjacent {
		if a.Relation == claim.Bag {
			continue
		}
		low, high := m.bounds(a)
		for _, t := range []linear.Term{low, high} {
			if r, ok := t.IsConstant(); ok && new(big.Rat).Abs(r).Cmp(most) > 0 {
				most.Abs(r)
			}
		}
	}
	var size func(x p.Expression) *big.Rat
	size = func(x p.Expression) *big.Rat {
		switch x := x.(type) {
		case p.Number:
			return new(big.Rat).Abs(x.Value)
		case p.Unary:
			return size(x.X)
		case p.Binary:
			if x.Op == p.Mul {
				return new(big.Rat).Mul(size(x.X), size(x.Y))
			}
			return new(big.Rat).Add(size(x.X), size(x.Y))
		}
		return most
	}
	return size(x)
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

// firsts are the tests of the loop for its first iteration: i == 0, or a flag, or the
// negative of one that says that there was a first.
func (m *machine) firsts(h *head) []p.Expression {
	var xs []p.Expression
	seen := map[string]bool{}
	add := func(x p.Expression) {
		if k := x.String(); !seen[k] {
			seen[k] = true
			xs = append(xs, x)
		}
	}
	var visit func(x p.Expression, not bool)
	visit = func(x p.Expression, not bool) {
		switch x := x.(type) {
		case p.Unary:
			visit(x.X, not != (x.Op == p.Not))
		case p.Ref:
			if x.Var.Sort != p.Bool || x.Var.Input {
				return
			}
			if not {
				add(p.Unary{Op: p.Not, X: x})
				return
			}
			add(x)
		case p.Binary:
			if x.Op == p.And || x.Op == p.Or {
				visit(x.X, not)
				visit(x.Y, not)
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
			visit(s.Cond, false)
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
