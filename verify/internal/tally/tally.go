// Package tally puts what is counted in the place of the records that are counted: a
// function of a multiset becomes one of its counts and sums, which can be compared element
// by element.
//
// What it guarantees: if the function that it returns keeps the claim that it returns with
// it, then the given function keeps the given claim. It finds no proof, and says nothing of
// functions of another form.
//
// # Why
//
// Theorem (Reed and Pierce 2010: bagsum). Let a loop over the records of a multiset do
// nothing but add to some variables, and let what it adds for a record depend on that record
// and on public values alone. Then what is added to a variable is a sum over the multiset,
// and moves by no more than the size of what one record adds, where one comes or goes; and
// of the elements of a slice at most one does, if a record adds to one.
//
// So these sums are inputs of which neighbours are neighbours of the new claim, whatever
// else is drawn, and the loop may read them from there. In a loop over a public range there
// is a sum for each round: nothing that it depends on hangs on noise, so that it is a
// function of the records and of the place of the round, and the sums together are a slice of
// which each element moves by so much.
package tally

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A Tally is a function of counts, with what it must keep.
type Tally struct {
	Function *program.Function
	Claim    *claim.Claim
	// Loops are those that are counts now.
	Loops []*program.Loop
}

// Of returns the function of counts. It does not change f.
func Of(f *program.Function, c *claim.Claim) (*Tally, bool) {
	if c.Cost == nil {
		return nil, false
	}
	t := &tallier{f: f, writes: map[*program.Variable]int{}, private: map[*program.Variable]bool{}, renamed: map[*program.Variable]*program.Variable{}}
	one := *c
	one.Adjacent = nil
	for _, a := range c.Adjacent {
		t.private[a.Input] = true
		if a.Relation != claim.Bag {
			one.Adjacent = append(one.Adjacent, a)
			continue
		}
		if most, ok := a.High.(program.Number); !ok || most.Value.Cmp(big.NewRat(1, 1)) != 0 || t.rows != nil {
			return nil, false
		}
		t.rows = a.Input
	}
	if t.rows == nil {
		return nil, false
	}
	program.Each(f.Body, func(s program.Statement) {
		if v := program.Written(s); v != nil {
			t.writes[v]++
		}
	})
	g := *f
	g.Body = t.list(f.Body, nil)
	one.Requires = slices.Clone(c.Requires)
	t.rename(&g)
	t.length(&g, &one)
	if len(t.inputs) == 0 {
		return nil, false
	}
	g.Inputs = append(slices.DeleteFunc(slices.Clone(f.Inputs), func(v *program.Variable) bool { return v == t.rows }), t.inputs...)
	one.Adjacent = append(one.Adjacent, t.adjacent...)
	one.Requires = append(one.Requires, t.requires...)
	if t.left(g.Body, slices.Concat(g.Requires, one.Requires, []program.Expression{c.Cost.Epsilon, c.Cost.Delta, c.Cost.Rho})) {
		return nil, false
	}
	return &Tally{&g, &one, t.loops}, true
}

type tallier struct {
	f       *program.Function
	rows    *program.Variable
	private map[*program.Variable]bool
	writes  map[*program.Variable]int
	renamed map[*program.Variable]*program.Variable // slices that are inputs now

	inputs   []*program.Variable
	adjacent []claim.Adjacency
	requires []program.Expression
	loops    []*program.Loop
}

// rename reads inputs in the place of slices that only the loops added to.
func (t *tallier) rename(f *program.Function) {
	of := func(v *program.Variable) *program.Variable {
		if w := t.renamed[v]; w != nil {
			return w
		}
		return v
	}
	f.Body = (&program.Rewriter{Expression: func(x program.Expression) program.Expression {
		return program.Replace(x, func(x program.Expression) program.Expression {
			switch x := x.(type) {
			case program.Ref:
				return program.Ref{Var: of(x.Var)}
			case program.Element:
				x.Slice = of(x.Slice)
				return x
			case program.Length:
				return program.Length{Slice: of(x.Slice)}
			}
			return x
		})
	}, Statement: func(s program.Statement) []program.Statement {
		switch s := s.(type) {
		case program.Make:
			if t.renamed[s.To] != nil {
				return nil
			}
		case program.Draw:
			if s.Scores != nil {
				s.Scores = of(s.Scores)
			}
			return []program.Statement{s}
		}
		return []program.Statement{s}
	}}).List(f.Body)
}

// length replaces the number of records, where it is read apart from loops over them.
func (t *tallier) length(f *program.Function, c *claim.Claim) {
	n := &program.Variable{Name: t.rows.Name + "·len", Sort: program.Int, Input: true, Natural: true, Pos: t.rows.Pos}
	found := false
	replace := func(x program.Expression) program.Expression {
		return program.Replace(x, func(x program.Expression) program.Expression {
			if l, ok := x.(program.Length); ok && l.Slice == t.rows {
				found = true
				return program.Ref{Var: n}
			}
			return x
		})
	}
	f.Body = (&program.Rewriter{Expression: replace}).List(f.Body)
	f.Requires = slices.Clone(f.Requires)
	for _, list := range [][]program.Expression{f.Requires, c.Requires} {
		for i, x := range list {
			list[i] = replace(x)
		}
	}
	if found {
		one := program.Number{Value: big.NewRat(1, 1), Sort: program.Int}
		t.inputs = append(t.inputs, n)
		t.adjacent = append(t.adjacent, claim.Adjacency{Relation: claim.Scalar, Input: n, Low: program.Unary{Op: program.Sub, X: one}, High: one})
		t.requires = append(t.requires, program.Binary{Op: program.Ge, X: program.Ref{Var: n}, Y: program.Number{Value: new(big.Rat), Sort: program.Int}})
	}
}

// left reports whether the records are still read.
func (t *tallier) left(body []program.Statement, more []program.Expression) (found bool) {
	visit := func(v *program.Variable) { found = found || v == t.rows }
	program.Each(body, func(s program.Statement) { program.Reads(s, visit) })
	for _, x := range more {
		program.Variables(x, visit)
	}
	return found
}

// An around is the loop over a public range around a statement, and what is before that in
// the function.
type around struct {
	before []program.Statement
	index  *program.Variable
	count  program.Expression
}

// list replaces the loops over records of a list, that of the function or of a loop in it.
func (t *tallier) list(list []program.Statement, in *around) []program.Statement {
	var out []program.Statement
	for i, s := range list {
		l, ok := s.(*program.Loop)
		if !ok {
			out = append(out, s)
			continue
		}
		if r := t.read(l, list[:i], in); r != nil {
			out = append(out, t.replace(r, l, in)...)
			continue
		}
		if in == nil {
			if index, count := t.counted(l, list[:i]); index != nil {
				m := *l
				m.Body = t.list(l.Body, &around{list[:i], index, count})
				r := &program.Rewriter{Loops: map[*program.Loop]*program.Loop{l: &m}}
				m.Body = r.List(m.Body)
				s = &m
			}
		}
		out = append(out, s)
	}
	return out
}

// counted reads for i := 0; i < n; i++ over a public n that nothing changes.
func (t *tallier) counted(l *program.Loop, before []program.Statement) (*program.Variable, program.Expression) {
	cond, ok := l.Cond.(program.Binary)
	if !ok || cond.Op != program.Lt {
		return nil, nil
	}
	i, ok := cond.X.(program.Ref)
	if !ok || t.writes[i.Var] != 2 || !counts(l, i.Var) || !begins(before, i.Var) {
		return nil, nil
	}
	switch n := cond.Y.(type) {
	case program.Number:
		ok = n.Value.IsInt() && n.Value.Sign() > 0
	case program.Ref:
		ok = t.given(n.Var)
	case program.Length:
		ok = t.given(n.Slice)
	default:
		ok = false
	}
	if !ok {
		return nil, nil
	}
	return i.Var, cond.Y
}

// given reports whether a variable is a public input, as it is given.
func (t *tallier) given(v *program.Variable) bool {
	return v.Input && !v.Stream && !t.private[v] && t.writes[v] == 0
}

// counts reports whether the last thing that a loop does is i = i + 1.
func counts(l *program.Loop, i *program.Variable) bool {
	if len(l.Post) != 1 {
		return false
	}
	a, ok := l.Post[0].(program.Assign)
	if !ok || a.To != i {
		return false
	}
	next, ok := a.Value.(program.Binary)
	return ok && next.Op == program.Add && isRef(next.X, i) && isNumber(next.Y, 1)
}

// begins reports whether a variable is set to 0.
func begins(before []program.Statement, i *program.Variable) bool {
	return slices.ContainsFunc(before, func(s program.Statement) bool {
		a, ok := s.(program.Assign)
		return ok && a.To == i && isNumber(a.Value, 0)
	})
}

func isRef(x program.Expression, v *program.Variable) bool {
	r, ok := x.(program.Ref)
	return ok && r.Var == v
}

func isNumber(x program.Expression, n int64) bool {
	k, ok := x.(program.Number)
	return ok && k.Value.Cmp(big.NewRat(n, 1)) == 0
}
