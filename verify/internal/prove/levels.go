package prove

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// increments are the numbers by which a loop counts, up or down: 1, and those of n = n + 2.
func increments(l *p.Loop) []*big.Rat {
	all := []*big.Rat{rational(1)}
	p.Each(l.Body, func(s p.Statement) {
		a, ok := s.(*p.Assign)
		if !ok {
			return
		}
		sum, ok := a.Value.(p.Binary)
		if !ok || sum.Op != p.Add && sum.Op != p.Sub {
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
// what a branch that only assigns gives, or adds.
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
	compared := func(cond p.Expression) { // what is added then lies on one side of it
		p.Walk(cond, func(x p.Expression) {
			if b, ok := x.(p.Binary); ok && p.SortOf(b.X) != p.Bool && b.Op != p.And && b.Op != p.Or {
				note(b.X)
				note(b.Y)
			}
		})
	}
	var visit func(list []p.Statement, chosen bool)
	visit = func(list []p.Statement, chosen bool) {
		for _, s := range list {
			switch s := s.(type) {
			case *p.Assign:
				if chosen && !s.To.Slice {
					note(s.Value)
					if b, ok := s.Value.(p.Binary); ok && (b.Op == p.Add || b.Op == p.Sub) && b.X.String() == s.To.Name {
						note(b.Y)
					}
				}
				p.Walk(s.Value, func(x p.Expression) {
					if b, ok := x.(p.Binary); ok && (b.Op == p.Min || b.Op == p.Max) && m.isPrivate(b) {
						note(b.X)
						note(b.Y)
					}
				})
			case *p.If:
				private := chosen || pure(s) && m.isPrivate(s.Cond)
				if private {
					compared(s.Cond)
				}
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
