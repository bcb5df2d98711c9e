package program_test

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

func TestSortOf(t *testing.T) {
	n := program.Ref{Var: &program.Variable{Name: "n", Sort: program.Int}}
	x := program.Ref{Var: &program.Variable{Name: "x", Sort: program.Real}}
	b := program.Ref{Var: &program.Variable{Name: "b", Sort: program.Bool}}
	q := &program.Variable{Name: "q", Sort: program.Real, Slice: true}
	two := program.Number{Value: big.NewRat(2, 1), Sort: program.Int}
	for _, c := range []struct {
		x    program.Expression
		want program.Sort
	}{
		{program.Binary{Op: program.Quo, X: n, Y: two}, program.Int},
		{program.Binary{Op: program.Quo, X: n, Y: x}, program.Real},
		{program.Binary{Op: program.Quo, X: x, Y: two}, program.Real},
		{program.Binary{Op: program.Max, X: n, Y: two}, program.Int},
		{program.Binary{Op: program.Lt, X: x, Y: n}, program.Bool},
		{program.Unary{Op: program.Not, X: b}, program.Bool},
		{program.Unary{Op: program.Sub, X: n}, program.Int},
		{program.Call{Func: "real", Args: []program.Expression{n}}, program.Real},
		{program.Call{Func: "int", Args: []program.Expression{x}}, program.Int},
		{program.Call{Func: "abs", Args: []program.Expression{n}}, program.Int},
		{program.Call{Func: "grid", Args: []program.Expression{x, x}}, program.Real},
		{program.If3{Cond: b, Then: n, Else: x}, program.Real},
		{program.If3{Cond: b, Then: b, Else: b}, program.Bool},
		{program.Element{Slice: q, Index: n}, program.Real},
		{program.Length{Slice: q}, program.Int},
		{program.Diff{X: n}, program.Int},
		{program.Truth(true), program.Bool},
	} {
		if got := program.SortOf(c.x); got != c.want {
			t.Errorf("%v: %v, want %v", c.x, got, c.want)
		}
	}
}

func TestWalk(t *testing.T) {
	n := program.Ref{Var: &program.Variable{Name: "n"}}
	q := &program.Variable{Name: "q", Slice: true}
	x := program.If3{
		Cond: program.Binary{Op: program.Lt, X: program.Element{Slice: q, Index: n}, Y: program.Length{Slice: q}},
		Then: program.Call{Func: "abs", Args: []program.Expression{program.Unary{Op: program.Sub, X: n}}},
		Else: program.Diff{X: n},
	}
	seen := 0
	program.Walk(x, func(y program.Expression) {
		if y == program.Expression(n) {
			seen++
		}
	})
	if seen != 3 {
		t.Errorf("%d of 3 are seen", seen)
	}
	program.Walk(nil, func(program.Expression) { t.Error("nil has parts") })
	read := map[*program.Variable]int{}
	program.Variables(x, func(v *program.Variable) { read[v]++ })
	if read[n.Var] != 3 || read[q] != 2 {
		t.Errorf("n is read %d times of 3, q %d of 2", read[n.Var], read[q])
	}
	read = map[*program.Variable]int{}
	program.Reads(program.Draw{To: &program.Variable{Name: "k"}, Law: program.Choose, Parameter: n, Scores: q}, func(v *program.Variable) { read[v]++ })
	if len(read) != 2 || read[n.Var] != 1 || read[q] != 1 {
		t.Errorf("a choice reads its parameter %d times, its scores %d, and %d variables", read[n.Var], read[q], len(read))
	}
}
