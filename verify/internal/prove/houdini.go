package prove

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/smt"
	"github.com/discreet-dp/discreet/verify/internal/linear"
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
