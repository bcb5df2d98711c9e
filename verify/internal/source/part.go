package source

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// part is a slice of which a range is over a part: the index at which it begins, and the one
// before which it ends. Behind the end of the slice, up to its capacity, lie numbers of which
// nothing is known.
func (l *lowerer) part(e *ast.SliceExpr) (of *program.Variable, first, limit program.Expression) {
	v, ok := l.sliceOf(e.X)
	if !ok || v.Stream || e.Max != nil {
		l.refuse(e.Pos(), "this part", "it is outside the subset", "range over a part of a slice: q[a:b]")
	}
	fixed := func(x ast.Expr) program.Expression {
		n := l.scalar(x)
		if _, ok := n.x.(program.Number); ok {
			return n.x
		}
		l.settle(x.Pos())
		c := l.variable(l.frame.prefix+"end", program.Int, x.Pos())
		l.emit(program.Assign{At: program.At{Pos: x.Pos()}, To: c, Value: n.x})
		return program.Ref{Var: c}
	}
	panics := func(less, than program.Expression) {
		at := program.At{Pos: e.Pos()}
		l.emit(program.If{
			At: at, Cond: program.Binary{Op: program.Lt, X: less, Y: than},
			Then: []program.Statement{program.Return{At: at, Values: l.panicValues(), Panic: true}},
		})
	}
	zero := number(0, program.Int)
	first, limit = zero, program.Length{Slice: v}
	if e.Low != nil {
		first = fixed(e.Low)
	}
	if e.High != nil {
		if !l.upTo(e.High, e.X) {
			l.refuse(e.High.Pos(), "this end of a part", "it may lie behind the slice's, where nothing is known of the numbers", "write q[:min(n, len(q))], or q[:len(q)-1]")
		}
		limit = fixed(e.High)
	}
	if _, ok := first.(program.Number); !ok {
		panics(first, zero)
	}
	if e.High != nil || !isZero(first) {
		panics(limit, first)
	}
	return v, first, limit
}

func isZero(x program.Expression) bool {
	n, ok := x.(program.Number)
	return ok && n.Value.Sign() == 0
}

// upTo reports whether a number is at most the length of a slice, by how both are written.
func (l *lowerer) upTo(e, of ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		c, ok := l.constant(x.Y)
		return x.Op == token.SUB && ok && c.x.(program.Number).Value.Sign() >= 0 && l.upTo(x.X, of)
	case *ast.CallExpr:
		switch {
		case l.isBuiltin(x.Fun, "len"):
			return identOf(of) != nil && identOf(x.Args[0]) != nil && l.frame.in.info.Uses[identOf(of)] == l.frame.in.info.Uses[identOf(x.Args[0])]
		case l.isBuiltin(x.Fun, "min"):
			return slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return l.upTo(a, of) })
		}
	}
	return false
}
