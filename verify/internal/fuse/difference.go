package fuse

import (
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// difference makes one draw of two whose difference is all that is known of them.
//
// Theorem. The difference of two independent exponential variables of scale b has the
// Laplace law of scale b, that of two geometric ones the discrete Laplace law of scale b
// (Kotz, Kozubowski and Podgórski 2001, Proposition 2.2.2; Inusah and Kozubowski 2006).
// Both are symmetric: for x > 0 the densities of the first are ∫ e^(-(x+y)/b)·e^(-y/b)/b² dy
// = e^(-x/b)/2b, and the same for -x.
//
// The two are drawn with one scale, one later in the same list than the other; each is
// mentioned once, still later in that list, in one sum, with opposite signs. So both are drawn
// where that sum is made, and elsewhere nothing knows of them.
func difference(list []program.Statement, all []program.Statement) ([]program.Statement, bool) {
	for i, s := range list {
		switch s := s.(type) {
		case program.Draw:
			if out, ok := pairFrom(list, i, s, all); ok {
				return out, true
			}
		case program.If:
			if then, ok := difference(s.Then, all); ok {
				s.Then = then
				return replaced(list, i, s), true
			}
			if otherwise, ok := difference(s.Else, all); ok {
				s.Else = otherwise
				return replaced(list, i, s), true
			}
		case *program.Loop:
			if body, ok := difference(s.Body, all); ok {
				l := *s
				r := &program.Rewriter{Loops: map[*program.Loop]*program.Loop{s: &l}}
				l.Body = r.List(body)
				return replaced(list, i, &l), true
			}
		}
	}
	return nil, false
}

func replaced(list []program.Statement, i int, s program.Statement) []program.Statement {
	out := slices.Clone(list)
	out[i] = s
	return out
}

var twoSided = map[program.Law]program.Law{program.Exponential: program.Laplace, program.Geometric: program.DiscreteLaplace}

// pairFrom looks for the second draw of a pair, and for the sum.
func pairFrom(list []program.Statement, i int, first program.Draw, all []program.Statement) ([]program.Statement, bool) {
	law, ok := twoSided[first.Law]
	if !ok || first.Align != nil || mentions(all, first.To) != 1 || draws(all, first.To) != 1 {
		return nil, false
	}
	for j := i + 1; j < len(list); j++ {
		d, ok := list[j].(program.Draw)
		if ok && d.Law == first.Law && d.Align == nil &&
			d.Parameter.String() == first.Parameter.String() && mentions(all, d.To) == 1 && draws(all, d.To) == 1 {
			z := &program.Variable{Name: first.To.Name + " - " + d.To.Name, Sort: d.To.Sort, Pos: d.To.Pos}
			done := 0
			r := rewriting(func(x program.Expression) program.Expression {
				if y, ok := inOneSum(x, first.To, d.To, z); ok {
					done++
					return y
				}
				return x
			})
			rest := r.List(list[j+1:])
			if done != 1 {
				return nil, false
			}
			out := slices.Delete(slices.Clone(list[:j]), i, i+1)
			out = append(out, program.Draw{At: d.At, To: z, Law: law, Parameter: d.Parameter})
			return append(out, rest...), true
		}
		for v := range mentioned(first.Parameter) {
			if effectsOf(list[j : j+1]).writes[v] {
				return nil, false
			}
		}
	}
	return nil, false
}

// inOneSum writes z for a-b or b-a in a sum.
func inOneSum(x program.Expression, a, b, z *program.Variable) (program.Expression, bool) {
	signs := map[*program.Variable]int{}
	var visit func(x program.Expression, sign int) program.Expression // nil for 0
	visit = func(x program.Expression, sign int) program.Expression {
		switch y := x.(type) {
		case program.Ref:
			switch y.Var {
			case a:
				signs[a] = sign
				return program.Ref{Var: z}
			case b:
				signs[b] = sign
				return nil
			}
		case program.Unary:
			if y.Op == program.Sub {
				if y.X = visit(y.X, -sign); y.X == nil {
					return nil
				}
				return y
			}
		case program.Binary:
			if y.Op != program.Add && y.Op != program.Sub {
				return x
			}
			right := sign
			if y.Op == program.Sub {
				right = -sign
			}
			y.X, y.Y = visit(y.X, sign), visit(y.Y, right)
			switch {
			case y.Y == nil:
				return y.X
			case y.X == nil && y.Op == program.Add:
				return y.Y
			case y.X == nil:
				return program.Unary{Op: program.Sub, X: y.Y}
			}
			return y
		}
		return x
	}
	y := visit(x, 1)
	return y, len(signs) == 2 && signs[a] == -signs[b]
}

// mentions counts how often statements read a variable.
func mentions(list []program.Statement, v *program.Variable) (n int) {
	program.Each(list, func(s program.Statement) {
		for _, x := range program.Expressions(s) {
			program.Walk(x, func(x program.Expression) {
				if isRef(x, v) {
					n++
				}
			})
		}
	})
	return n
}

// draws counts the statements that set a variable.
func draws(list []program.Statement, v *program.Variable) (n int) {
	program.Each(list, func(s program.Statement) {
		if program.Written(s) == v {
			n++
		}
	})
	return n
}
