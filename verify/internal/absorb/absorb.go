// Package absorb moves factors of noise into its scale: x + s·Laplace(1/ε), as many write
// it, becomes x + Laplace(s/ε).
//
// What it guarantees: the function that it returns reveals exactly what the given one
// does, with the same probabilities over the real numbers, on all inputs that meet what
// is required. Proofs about one are proofs about the other.
//
// It looks for draws that are always multiplied by the same positive number, and leaves
// all else as it is: what it returns is then the function that it was given.
//
// # Why
//
// If Z has the density f(z/b)/b and k > 0, then k·Z has the density f(z/(kb))/(kb): Laplace,
// exponential and Gaussian noise are families of scale. Where a draw is read only as
// k·Z, and k is the same at the draw and wherever that stands, drawing k·Z at once changes
// nothing. Noise over the integers is no such family.
package absorb

import (
	"math/big"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Factors returns f with the factors of its noise absorbed, or f itself if there are
// none. It does not change f.
func Factors(f *program.Function, requires []program.Expression) *program.Function {
	n := read(f, slices.Concat(f.Requires, requires))
	taken := map[*program.Variable]program.Expression{}
	for v, k := range n.factors {
		if k != nil && !reflect.DeepEqual(k, program.Expression(one)) && n.positive(k, n.drawn[v]) {
			taken[v] = k
		}
	}
	if len(taken) == 0 {
		return f
	}
	r := &program.Rewriter{Expression: func(x program.Expression) program.Expression {
		return outermost(x, func(x program.Expression) (program.Expression, bool) {
			v, _ := n.multiple(x)
			return program.Ref{Var: v}, taken[v] != nil
		})
	}, Statement: func(s program.Statement) []program.Statement {
		if d, ok := s.(program.Draw); ok && taken[d.To] != nil {
			d.Parameter = times(d.Parameter, taken[d.To])
			s = d
		}
		return []program.Statement{s}
	}}
	g := *f
	g.Body = r.List(f.Body)
	return &g
}

// outermost replaces the parts of an expression for which by is true, the whole before
// its parts.
func outermost(x program.Expression, by func(program.Expression) (program.Expression, bool)) program.Expression {
	if x == nil {
		return nil
	}
	if y, ok := by(x); ok {
		return y
	}
	return program.Parts(x, func(part program.Expression) program.Expression { return outermost(part, by) })
}

// A noise is what is known of the draws of a function, and of what they are multiplied
// with. Places are those of statements in the body.
type noise struct {
	factors     map[*program.Variable]program.Expression // nil if a draw has several, or is not to be touched
	drawn       map[*program.Variable]int                // where draws are made
	definitions map[*program.Variable]definition         // of variables that are set once, and always
	writes      map[*program.Variable]int
	above       map[*program.Variable]bool // inputs that are positive
}

type definition struct {
	place int
	value program.Expression
}

var one = program.Number{Value: big.NewRat(1, 1), Sort: program.Real}

func read(f *program.Function, requires []program.Expression) *noise {
	n := &noise{
		factors: map[*program.Variable]program.Expression{}, drawn: map[*program.Variable]int{}, definitions: map[*program.Variable]definition{},
		writes: map[*program.Variable]int{}, above: map[*program.Variable]bool{},
	}
	kept := map[*program.Variable]bool{}
	keep := func(x program.Expression) {
		program.Walk(x, func(x program.Expression) {
			if r, ok := x.(program.Ref); ok {
				kept[r.Var] = true
			}
		})
	}
	unread := map[*program.Variable]bool{}
	for i, s := range f.Body {
		program.Each(f.Body[i:i+1], func(s program.Statement) {
			switch s := s.(type) {
			case program.Assign:
				n.writes[s.To]++
			case program.Draw:
				n.writes[s.To]++
				n.drawn[s.To] = i
				switch s.Law {
				case program.Laplace, program.Exponential, program.Gaussian:
					n.factors[s.To], unread[s.To] = nil, true
				}
				kept[s.To] = kept[s.To] || s.Align != nil || s.To.Input // which has a value before
				keep(s.Align)
			case *program.Loop:
				for _, x := range s.Invariants {
					keep(x)
				}
			}
		})
		if a, ok := s.(program.Assign); ok && !a.To.Input {
			n.definitions[a.To] = definition{i, a.Value}
		}
	}
	for _, r := range requires {
		n.require(r)
	}
	note := func(x program.Expression) {
		outermost(x, func(x program.Expression) (program.Expression, bool) {
			v, k := n.multiple(x)
			if v == nil {
				return x, false
			}
			for w := range n.factors {
				if mentions(k, w) { // k is no part of x as it stands
					n.factors[w], kept[w] = nil, true
				}
			}
			switch {
			case kept[v] || n.writes[v] != 1:
			case unread[v]:
				n.factors[v], unread[v] = k, false
			case !reflect.DeepEqual(n.factors[v], k):
				n.factors[v], kept[v] = nil, true
			}
			return x, true
		})
	}
	program.Each(f.Body, func(s program.Statement) {
		for _, x := range program.Expressions(s) {
			note(x)
		}
	})
	return n
}

// multiple reads x as a draw times what it returns with it; there is no variable if it is
// no such thing.
func (n *noise) multiple(x program.Expression) (*program.Variable, program.Expression) {
	switch x := x.(type) {
	case program.Ref:
		if _, ok := n.factors[x.Var]; ok {
			return x.Var, one
		}
	case program.Binary:
		switch x.Op {
		case program.Mul:
			if v, k := n.multiple(x.X); v != nil {
				return v, times(k, x.Y)
			}
			if v, k := n.multiple(x.Y); v != nil {
				return v, times(x.X, k)
			}
		case program.Quo:
			if v, k := n.multiple(x.X); v != nil {
				return v, program.Binary{Op: program.Quo, X: k, Y: x.Y}
			}
		}
	}
	return nil, nil
}

func times(x, y program.Expression) program.Expression {
	switch {
	case reflect.DeepEqual(x, program.Expression(one)):
		return y
	case reflect.DeepEqual(y, program.Expression(one)):
		return x
	}
	return program.Binary{Op: program.Mul, X: x, Y: y}
}

func mentions(x program.Expression, v *program.Variable) (found bool) {
	program.Walk(x, func(x program.Expression) {
		r, ok := x.(program.Ref)
		found = found || ok && r.Var == v
	})
	return found
}

// positive reports whether k is a number above 0 that has its value before the statement
// at a place, and keeps it.
func (n *noise) positive(k program.Expression, place int) bool {
	switch k := k.(type) {
	case program.Number:
		return k.Value.Sign() > 0
	case program.Ref:
		d, local := n.definitions[k.Var]
		return n.above[k.Var] || local && n.writes[k.Var] == 1 && d.place < place && n.positive(d.value, d.place)
	case program.Call:
		return k.Func == "real" && n.positive(k.Args[0], place)
	case program.Binary:
		if k.Op == program.Quo && program.SortOf(k) != program.Real {
			return false // 1/2 is 0
		}
		return (k.Op == program.Mul || k.Op == program.Quo || k.Op == program.Add) && n.positive(k.X, place) && n.positive(k.Y, place)
	}
	return false
}

// require takes note of inputs that are above a number that is not negative.
func (n *noise) require(x program.Expression) {
	b, ok := x.(program.Binary)
	if !ok {
		return
	}
	x, y := b.X, b.Y
	switch b.Op {
	case program.And:
		n.require(x)
		n.require(y)
		return
	case program.Lt, program.Le:
		x, y = y, x
	case program.Gt, program.Ge:
	default:
		return
	}
	v, isVariable := x.(program.Ref)
	least, isNumber := y.(program.Number)
	if !isVariable || !isNumber || !v.Var.Input || n.writes[v.Var] > 0 {
		return
	}
	strict := b.Op == program.Lt || b.Op == program.Gt
	if sign := least.Value.Sign(); sign > 0 || sign == 0 && strict {
		n.above[v.Var] = true
	}
}
