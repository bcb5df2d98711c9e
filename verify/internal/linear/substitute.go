package linear

import (
	"cmp"
	"fmt"
	"slices"
)

// A Substitution puts terms and formulas in the place of variables, all at once.
type Substitution map[Var]Expr

// Subst replaces variables. What replaces one of sort Int must be an integer by
// its form (IsInt), as atoms over integers have been tightened.
func (t Term) Subst(s Substitution) Term { return newSubstituter(s).term(t) }

// Subst replaces variables, as Term.Subst.
func (f Formula) Subst(s Substitution) Formula { return newSubstituter(s).formula(f) }

// A substituter remembers what it did to shared parts.
type substituter struct {
	of           Substitution
	formulas     map[*node]Formula
	conditionals map[*conditional]Term
}

func newSubstituter(s Substitution) *substituter {
	return &substituter{s, map[*node]Formula{}, map[*conditional]Term{}}
}

func (s *substituter) term(t Term) Term {
	if t.err != nil || len(s.of) == 0 {
		return t
	}
	kept := Term{constant: t.constant}
	var changed []Term
	for _, m := range t.monomials {
		if by, ok := s.base(m.base); ok {
			changed = append(changed, by.scale(m.coef))
		} else {
			kept.monomials = append(kept.monomials, m)
		}
	}
	if len(changed) == 0 {
		return t
	}
	return kept.Add(sumOf(changed...))
}

// base returns what replaces b; false if it stays.
func (s *substituter) base(b base) (Term, bool) {
	if b.ite == nil {
		by, ok := s.of[b.v]
		if !ok {
			return Term{}, false
		}
		t, ok := by.(Term)
		if !ok || t.err == nil && b.v.Sort == Int && !t.IsInt() {
			return Term{err: fmt.Errorf("substitute: %v cannot replace %s of sort %v", by, b.v.Name, b.v.Sort)}, true
		}
		return t, true
	}
	if t, ok := s.conditionals[b.ite]; ok {
		return t, true
	}
	t := Ite(s.formula(b.ite.cond), s.term(b.ite.then), s.term(b.ite.other))
	s.conditionals[b.ite] = t
	return t, true
}

func (s *substituter) formula(f Formula) Formula {
	if f.n == nil || len(s.of) == 0 {
		return f
	}
	if g, ok := s.formulas[f.n]; ok {
		return g
	}
	g := f
	switch f.op {
	case opVar:
		if by, ok := s.of[f.n.v]; ok {
			if g, ok = by.(Formula); !ok {
				g = Formula{err: fmt.Errorf("substitute: %v cannot replace %s of sort Bool", by, f.n.v.Name)}
			}
		}
	case opLe, opLt, opEq:
		g = atom(f.op, s.term(f.n.term))
	default:
		args := make([]Formula, len(f.n.args))
		for i, a := range f.n.args {
			args[i] = s.formula(a)
		}
		switch f.op {
		case opNot:
			g = Not(args[0])
		case opAnd:
			g = And(args...)
		case opOr:
			g = Or(args...)
		case opIff:
			g = Iff(args[0], args[1])
		}
	}
	s.formulas[f.n] = g
	return g
}

// Vars are the variables of the expressions, by name.
func Vars(es ...Expr) []Var {
	w := walker{seen: map[any]bool{}, vars: map[Var]bool{}}
	for _, e := range es {
		switch e := e.(type) {
		case Term:
			w.term(e)
		case Formula:
			w.formula(e)
		}
	}
	vars := make([]Var, 0, len(w.vars))
	for v := range w.vars {
		vars = append(vars, v)
	}
	slices.SortFunc(vars, func(a, b Var) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Sort, b.Sort)) })
	return vars
}

type walker struct {
	seen map[any]bool // nodes and conditionals
	vars map[Var]bool
}

func (w walker) term(t Term) {
	for _, m := range t.monomials {
		if m.base.ite == nil {
			w.vars[m.base.v] = true
		} else if !w.seen[m.base.ite] {
			w.seen[m.base.ite] = true
			w.formula(m.base.ite.cond)
			w.term(m.base.ite.then)
			w.term(m.base.ite.other)
		}
	}
}

func (w walker) formula(f Formula) {
	if f.n == nil || w.seen[f.n] {
		return
	}
	w.seen[f.n] = true
	if f.op == opVar {
		w.vars[f.n.v] = true
	}
	w.term(f.n.term)
	for _, a := range f.n.args {
		w.formula(a)
	}
}
