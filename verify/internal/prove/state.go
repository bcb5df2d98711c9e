package prove

import (
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A value is what a scalar is in both runs: a number in the first and its distance
// to the second, or a truth value in each.
type value struct {
	num, diff linear.Term
	one, two  linear.Formula
}

func number(n, diff linear.Term) value { return value{num: n, diff: diff} }

func truth(one, two linear.Formula) value { return value{one: one, two: two} }

// second is the number in the second run.
func (v value) second() linear.Term { return v.num.Add(v.diff) }

// equal holds where both runs agree on v.
func (v value) equal(s p.Sort) linear.Formula {
	if s == p.Bool {
		return linear.Iff(v.one, v.two)
	}
	return linear.Eq(v.diff, linear.Term{})
}

// choose is v where c holds and w elsewhere, each run by its own c.
func choose(c, v, w value, s p.Sort) value {
	if s == p.Bool {
		return truth(linear.If(c.one, v.one, w.one), linear.If(c.two, v.two, w.two))
	}
	num := linear.Ite(c.one, v.num, w.num)
	if v.num.Equal(w.num) {
		return number(num, linear.Ite(c.two, v.diff, w.diff))
	}
	if c.one.Equal(c.two) {
		return number(num, linear.Ite(c.one, v.diff, w.diff))
	}
	return number(num, linear.Ite(c.two, v.second(), w.second()).Sub(num))
}

// A list is a local slice. Its elements are equal in both runs, which is proved
// where they are written; they are known only in a test.
type list struct {
	length   value
	elements []linear.Term
}

// A state is that of both runs at one place of the function.
type state struct {
	vars    map[*p.Variable]value
	lists   map[*p.Variable]list
	cost    []linear.Term
	path    []linear.Formula // what holds of the symbols here
	assumed []instance       // loop invariants that hold of them
}

// An instance is a loop's invariant of the values in a state.
type instance struct {
	loop *p.Loop
	at   linear.Substitution
}

func (s *state) clone() *state {
	return &state{maps.Clone(s.vars), maps.Clone(s.lists), slices.Clone(s.cost), slices.Clip(s.path), slices.Clip(s.assumed)}
}

func (s *state) assume(f linear.Formula) {
	if !f.IsTrue() {
		s.path = append(slices.Clip(s.path), f)
	}
}

// impossible reports whether it is plain that no run comes here.
func (s *state) impossible() bool { return linear.And(s.path...).IsFalse() }

func zero(s p.Sort) value {
	if s == p.Bool {
		return truth(linear.False(), linear.False())
	}
	return value{}
}

func linearSort(s p.Sort) linear.Sort {
	switch s {
	case p.Int:
		return linear.Int
	case p.Real:
		return linear.Real
	}
	return linear.Bool
}

func rational(n int64) *big.Rat { return big.NewRat(n, 1) }
