package prove

import "github.com/discreet-dp/discreet/verify/internal/linear"

// context is all that is known where an obligation stands but for invariants: the
// requirements, the path, and the facts of the symbols that occur in it and in
// more.
func (m *machine) context(o obligation, more ...linear.Expr) linear.Formula {
	known := append(append([]linear.Formula(nil), m.requires...), o.premises...)
	seen := map[linear.Var]bool{}
	var es []linear.Expr
	for _, f := range known {
		es = append(es, f)
	}
	es = append(es, more...)
	for len(es) > 0 {
		vars := linear.Vars(es...)
		es = nil
		for _, v := range vars {
			if seen[v] {
				continue
			}
			seen[v] = true
			for _, f := range m.facts[v] {
				known = append(known, f)
				es = append(es, f)
			}
		}
	}
	return linear.And(known...)
}

// An invariant is a conjunction over the names of a loop's head and the inputs.
type invariants map[string][]linear.Formula // by the loop's name

// of is the conjuncts at an instance.
func (inv invariants) of(i instance) []linear.Formula {
	fs := make([]linear.Formula, len(inv[i.loop.Name]))
	for k, f := range inv[i.loop.Name] {
		fs[k] = f.Subst(i.at)
	}
	return fs
}

// refutation is the formula that has no model if the obligation holds, given the
// invariants.
func (m *machine) refutation(o obligation, inv invariants) linear.Formula {
	goal := o.goal
	if o.keep != nil {
		goal = linear.And(inv.of(*o.keep)...)
	}
	var assumed []linear.Formula
	for _, i := range o.assumed {
		assumed = append(assumed, inv.of(i)...)
	}
	f := linear.And(linear.And(assumed...), linear.Not(goal))
	return linear.And(f, m.context(o, f))
}
