package absorb

import (
	"math/big"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Shares returns f with what is left of a budget as a share of it, or f itself if nothing is:
// spent += eps/4 until spent+eps/4 > eps becomes s += 1/4 until s+1/4 > 1. It does not
// change f.
//
// What it guarantees is what Factors does. Let e be an input that is positive, and let V be
// variables that are set to homogeneous functions of degree 1 in e and V alone, and compared
// with such functions. With v = e·s for each of them, every such function is e times that of
// the shares with 1 for e, and e > 0 changes no comparison. Elsewhere e·s is read for v, which
// helps nobody where it is set more than once: such are left alone if they are read so.
func Shares(f *program.Function, requires []program.Expression) *program.Function {
	n := read(f, slices.Concat(f.Requires, requires))
	for _, e := range f.Inputs {
		if e.Sort != program.Real || e.Slice || !n.above[e] || n.writes[e] > 0 {
			continue
		}
		if h := (&homogeneous{unit: e, of: locals(f), writes: n.writes}); h.settle(f) {
			return h.rewrite(f)
		}
	}
	return f
}

// locals are the real variables of a function that are no inputs.
func locals(f *program.Function) map[*program.Variable]bool {
	of := map[*program.Variable]bool{}
	program.Each(f.Body, func(s program.Statement) {
		if a, ok := s.(program.Assign); ok && a.To.Sort == program.Real && !a.To.Slice && !a.To.Input {
			of[a.To] = true
		}
	})
	return of
}

// A homogeneous set of variables is of degree 1 in the unit.
type homogeneous struct {
	unit *program.Variable
	of   map[*program.Variable]bool

	writes map[*program.Variable]int
}

// settle leaves out variables until those that are left are read and set as they must be. It
// reports whether there are any that count.
func (h *homogeneous) settle(f *program.Function) bool {
	for again := true; again; {
		again = false
		drop := func(v *program.Variable) {
			if h.of[v] {
				delete(h.of, v)
				again = true
			}
		}
		refuse := func(x program.Expression) {
			program.Variables(x, func(v *program.Variable) {
				if h.writes[v] > 1 {
					drop(v)
				}
			})
		}
		program.Each(f.Body, func(s program.Statement) {
			if a, ok := s.(program.Assign); ok && h.of[a.To] {
				if h.degree(a.Value) == 1 {
					return
				}
				drop(a.To)
			}
			if v := program.Written(s); v != nil {
				if _, ok := s.(program.Assign); !ok {
					drop(v)
				}
			}
			switch s := s.(type) {
			case program.If:
				h.compared(s.Cond, refuse)
			case *program.Loop:
				h.compared(s.Cond, refuse)
				for _, x := range s.Invariants {
					refuse(x)
				}
			case program.Assign:
				h.compared(s.Value, refuse)
			default:
				for _, x := range program.Expressions(s) {
					refuse(x)
				}
			}
		})
	}
	for v := range h.of {
		if h.writes[v] > 1 {
			return true
		}
	}
	return false
}

// compared refuses what is not a comparison of two of degree 1.
func (h *homogeneous) compared(x program.Expression, refuse func(program.Expression)) {
	outermost(x, func(x program.Expression) (program.Expression, bool) {
		switch x := x.(type) {
		case program.Binary:
			if h.comparison(x) {
				return x, true
			}
		case program.Ref:
			refuse(x)
		}
		return x, false
	})
}

// comparison reports whether x is one of two functions of degree 1.
func (h *homogeneous) comparison(x program.Binary) bool {
	switch x.Op {
	case program.Lt, program.Le, program.Gt, program.Ge, program.Eq, program.Ne:
		return h.degree(x.X) == 1 && h.degree(x.Y) == 1
	}
	return false
}

// degree is that of a homogeneous function; -1 of what is none, or not known to be. That of 0
// is 1, which it is of every degree.
func (h *homogeneous) degree(x program.Expression) int {
	switch x := x.(type) {
	case program.Number:
		if x.Value.Sign() == 0 && x.Sort == program.Real {
			return 1
		}
		return 0
	case program.Ref:
		if x.Var == h.unit || h.of[x.Var] {
			return 1
		}
		return 0
	case program.Unary:
		if x.Op == program.Sub {
			return h.degree(x.X)
		}
	case program.Element, program.Length, program.Call:
		if h.free(x) {
			return 0
		}
	case program.Binary:
		a, b := h.degree(x.X), h.degree(x.Y)
		switch {
		case a < 0 || b < 0:
		case x.Op == program.Mul && a+b <= 1:
			return a + b
		case x.Op == program.Quo && b == 0 && program.SortOf(x) == program.Real:
			return a
		case (x.Op == program.Add || x.Op == program.Sub || x.Op == program.Min || x.Op == program.Max) && a == b:
			return a
		}
	}
	return -1
}

// free reports whether neither the unit nor the variables are read.
func (h *homogeneous) free(x program.Expression) bool {
	free := true
	program.Variables(x, func(v *program.Variable) { free = free && v != h.unit && !h.of[v] })
	return free
}

// folded is x*y or x/y of numbers, as a number.
func folded(x program.Expression) program.Expression {
	b, ok := x.(program.Binary)
	if !ok {
		return x
	}
	u, isU := b.X.(program.Number)
	v, isV := b.Y.(program.Number)
	switch {
	case b.Op == program.Mul && reflect.DeepEqual(b.X, program.Expression(one)):
		return b.Y
	case !isU || !isV || program.SortOf(x) != program.Real:
	case b.Op == program.Mul:
		return program.Number{Value: new(big.Rat).Mul(u.Value, v.Value), Sort: program.Real}
	case b.Op == program.Quo && v.Value.Sign() != 0:
		return program.Number{Value: new(big.Rat).Quo(u.Value, v.Value), Sort: program.Real}
	}
	return x
}

// rewrite puts shares in the place of the variables.
func (h *homogeneous) rewrite(f *program.Function) *program.Function {
	share := func(x program.Expression) program.Expression {
		return program.Replace(x, func(x program.Expression) program.Expression {
			if r, ok := x.(program.Ref); ok && r.Var == h.unit {
				return one
			}
			return folded(x)
		})
	}
	g := *f
	g.Body = (&program.Rewriter{Expression: func(x program.Expression) program.Expression {
		return outermost(x, func(x program.Expression) (program.Expression, bool) {
			if b, ok := x.(program.Binary); ok && h.comparison(b) && !h.free(b) {
				return share(b), true
			}
			if r, ok := x.(program.Ref); ok && h.of[r.Var] {
				return program.Binary{Op: program.Mul, X: program.Ref{Var: h.unit}, Y: r}, true
			}
			return x, false
		})
	}, Statement: func(s program.Statement) []program.Statement {
		if a, ok := s.(program.Assign); ok && h.of[a.To] {
			a.Value = share(a.Value)
			s = a
		}
		return []program.Statement{s}
	}}).List(f.Body)
	return &g
}
