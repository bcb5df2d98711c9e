package linear

import (
	"math/big"
	"slices"
)

// A solved variable equals a term over variables that remain or are solved later.
type solved struct {
	v  Var
	by Expr
}

// eliminate uses what is known outright: of conjuncts "v" and "v = t" the variable
// is replaced in all others, by True and by t. What is left has a model if and only
// if the conjunction has: that of the other, with v as the equation says. Int
// variables are solved for only if their coefficient is 1 or -1 and the rest is an
// integer, so that t is one; what remains is tightened anew, which finds parities.
func eliminate(conjuncts []Formula) (rest []Formula, order []solved) {
	rest = conjuncts
	for {
		i, s, ok := findSolved(rest)
		if !ok {
			return rest, order
		}
		order = append(order, s)
		others := slices.Delete(slices.Clone(rest), i, i+1)
		rest = And(others...).Subst(Substitution{s.v: s.by}).Conjuncts()
	}
}

func findSolved(conjuncts []Formula) (int, solved, bool) {
	for i, f := range conjuncts {
		switch {
		case f.op == opVar:
			return i, solved{f.n.v, True()}, true
		case f.op == opNot && f.n.args[0].op == opVar:
			return i, solved{f.n.args[0].n.v, False()}, true
		case f.op == opEq:
			if s, ok := solve(f.n.term); ok {
				return i, s, true
			}
		}
	}
	return 0, solved{}, false
}

// solve solves t = 0 for a variable.
func solve(t Term) (solved, bool) {
	for i, m := range t.monomials {
		if m.base.ite != nil {
			continue
		}
		v := m.base.v
		others := Term{constant: t.constant, monomials: slices.Delete(slices.Clone(t.monomials), i, i+1)}
		by := others.scale(m.coef.inv().neg())
		if (v.Sort == Real || by.IsInt()) && !slices.Contains(Vars(by), v) {
			return solved{v, by}, true
		}
	}
	return solved{}, false
}

// complete gives the solved variables their values, the last first.
func (m Model) complete(order []solved) error {
	for _, s := range slices.Backward(order) {
		switch by := s.by.(type) {
		case Term:
			r, err := by.eval(m)
			if err != nil {
				return err
			}
			m[s.v] = r
		case Formula:
			m[s.v] = big.NewRat(0, 1)
			if by.IsTrue() {
				m[s.v] = big.NewRat(1, 1)
			}
		}
	}
	return nil
}
