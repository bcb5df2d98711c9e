package source

import (
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// compared recognises cmp.Compare(x, y) < 0 and the like, which is x < y.
func (l *lowerer) compared(op program.Op, e *ast.BinaryExpr) (term, bool) {
	switch op {
	case program.Eq, program.Ne, program.Lt, program.Le, program.Gt, program.Ge:
	default:
		return term{}, false
	}
	zero := l.frame.in.info.Types[e.Y].Value
	call, ok := ast.Unparen(e.X).(*ast.CallExpr)
	if !ok || zero == nil || zero.Kind() != constant.Int || constant.Sign(zero) != 0 {
		return term{}, false
	}
	if fn := genericFunc(l.frame.in.info, call.Fun); fn == nil || fn.Origin().FullName() != "cmp.Compare" || len(call.Args) != 2 {
		return term{}, false
	}
	v, w := l.eval(call.Args[0]), l.eval(call.Args[1])
	t := l.typeOf(call.Args[0])
	if x, ok := l.compareInfinite(op, v, w, t, e.OpPos); ok {
		return x, true
	}
	return term{l.compare(op, l.number(v, call.Args[0]), l.number(w, call.Args[1]), t, e.OpPos), program.Bool}, true
}

// library writes out the functions of packages slices and cmp that selections use.
func (l *lowerer) library(name string, e *ast.CallExpr) (entity, bool) {
	switch name {
	case "cmp.Compare":
		v, w := l.eval(e.Args[0]), l.eval(e.Args[1])
		t := l.typeOf(e.Args[0])
		compare := func(op program.Op) program.Expression {
			if b, ok := l.compareInfinite(op, v, w, t, e.Pos()); ok {
				return b.x
			}
			return l.compare(op, l.number(v, e.Args[0]), l.number(w, e.Args[1]), t, e.Pos())
		}
		to := l.variable(l.frame.prefix+"compared", program.Int, e.Pos())
		l.depth[to] = temporary
		at := program.At{Pos: e.Pos()}
		set := func(n int64) []program.Statement {
			return []program.Statement{program.Assign{At: at, To: to, Value: number(n, program.Int)}}
		}
		less, more := compare(program.Lt), compare(program.Gt)
		l.emit(program.If{At: at, Cond: less, Then: set(-1), Else: []program.Statement{program.If{At: at, Cond: more, Then: set(1), Else: set(0)}}})
		return term{program.Ref{Var: to}, program.Int}, true
	case "cmp.Less":
		v, w := l.eval(e.Args[0]), l.eval(e.Args[1])
		if b, ok := l.compareInfinite(program.Lt, v, w, l.typeOf(e.Args[0]), e.Pos()); ok {
			return b, true
		}
		return term{l.compare(program.Lt, l.number(v, e.Args[0]), l.number(w, e.Args[1]), l.typeOf(e.Args[0]), e.Pos()), program.Bool}, true
	case "slices.Max", "slices.Min":
		s := l.numbers(e.Args[0])
		op := program.Gt
		if name == "slices.Min" {
			op = program.Lt
		}
		_, best := l.extremum(s, op, e)
		return term{program.Ref{Var: best}, best.Sort}, true
	case "slices.Index":
		if s, op, ok := l.positionOfExtremum(e); ok {
			at, _ := l.extremum(s, op, e)
			return term{program.Ref{Var: at}, program.Int}, true
		}
		return term{program.Ref{Var: l.index(e)}, program.Int}, true
	case "slices.Contains":
		return term{program.Binary{Op: program.Ge, X: program.Ref{Var: l.index(e)}, Y: number(0, program.Int)}, program.Bool}, true
	}
	return nil, false
}

func (l *lowerer) numbers(e ast.Expr) *program.Variable {
	s, ok := l.eval(e).(slice)
	if of, isSlice := l.typeOf(e).Underlying().(*types.Slice); !ok || s.v.Stream || isSlice && isString(of.Elem()) {
		l.refuse(e.Pos(), "this slice", "it is outside the subset", "use a slice of numbers")
	}
	l.read(s.v)
	return s.v
}

// hidden makes a variable that no source names.
func (l *lowerer) hidden(name string, sort program.Sort, e ast.Expr) *program.Variable {
	v := l.variable(l.frame.prefix+name, sort, e.Pos())
	l.depth[v] = temporary
	return v
}

// extremum writes out the search for the first largest (or smallest) element. Like
// slices.Max it panics where there is none: the element at 0 is read.
func (l *lowerer) extremum(s *program.Variable, op program.Op, e ast.Expr) (place, best *program.Variable) {
	place, best = l.hidden("place", program.Int, e), l.hidden("best", s.Sort, e)
	at := program.At{Pos: e.Pos()}
	l.emit(program.Assign{At: at, To: place, Value: number(0, program.Int)})
	l.emit(program.Assign{At: at, To: best, Value: program.Element{Slice: s, Index: number(0, program.Int)}})
	l.over(s, 1, e, func(i program.Expression, _ *program.Loop) []program.Statement {
		now := program.Element{Slice: s, Index: i}
		return []program.Statement{program.If{At: at, Cond: program.Binary{Op: op, X: now, Y: program.Ref{Var: best}}, Then: []program.Statement{
			program.Assign{At: at, To: place, Value: i},
			program.Assign{At: at, To: best, Value: now},
		}}}
	})
	return place, best
}

// index writes out slices.Index.
func (l *lowerer) index(e *ast.CallExpr) *program.Variable {
	s := l.numbers(e.Args[0])
	x := l.scalar(e.Args[1])
	if x.sort != s.Sort {
		l.refuse(e.Pos(), "this call", "it is outside the subset", "")
	}
	place, wanted := l.hidden("place", program.Int, e), l.hidden("wanted", x.sort, e)
	at := program.At{Pos: e.Pos()}
	l.emit(program.Assign{At: at, To: wanted, Value: x.x})
	l.emit(program.Assign{At: at, To: place, Value: number(-1, program.Int)})
	l.over(s, 0, e, func(i program.Expression, loop *program.Loop) []program.Statement {
		found := program.Binary{Op: program.Eq, X: program.Element{Slice: s, Index: i}, Y: program.Ref{Var: wanted}}
		return []program.Statement{program.If{At: at, Cond: found, Then: []program.Statement{
			program.Assign{At: at, To: place, Value: i},
			program.Break{At: at, Of: loop},
		}}}
	})
	return place
}

// over emits a loop over the elements of a slice.
func (l *lowerer) over(s *program.Variable, from int64, e ast.Expr, body func(program.Expression, *program.Loop) []program.Statement) {
	at := program.At{Pos: e.Pos()}
	i := l.hidden("i", program.Int, e)
	i.Natural = true
	index := program.Ref{Var: i}
	loop := &program.Loop{
		At: at, Name: l.unique("loop at line " + lineOf(l, e)),
		Cond: program.Binary{Op: program.Lt, X: index, Y: program.Length{Slice: s}},
		Post: []program.Statement{program.Assign{At: at, To: i, Value: program.Binary{Op: program.Add, X: index, Y: number(1, program.Int)}}},
	}
	loop.Body = body(index, loop)
	l.emit(program.Assign{At: at, To: i, Value: number(from, program.Int)})
	l.emit(loop)
}

// positionOfExtremum recognises slices.Index(s, slices.Max(s)): the first of the largest.
func (l *lowerer) positionOfExtremum(e *ast.CallExpr) (*program.Variable, program.Op, bool) {
	call, ok := ast.Unparen(e.Args[1]).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil, "", false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, "", false
	}
	fn, ok := l.frame.in.info.Uses[sel.Sel].(*types.Func)
	if !ok {
		return nil, "", false
	}
	op, ok := map[string]program.Op{"slices.Max": program.Gt, "slices.Min": program.Lt}[fn.Origin().FullName()]
	one, two := identOf(e.Args[0]), identOf(call.Args[0])
	info := l.frame.in.info
	if !ok || one == nil || two == nil || info.Uses[one] == nil || info.Uses[one] != info.Uses[two] {
		return nil, "", false
	}
	s := l.numbers(one)
	return s, op, s.Sort != program.Bool
}
