package sensitivity

import (
	"go/ast"
	"go/types"
	"slices"
)

// closed checks a function over records: package dataset trusts it to be pure, and what it
// sees from outside must be public. (Of what is outside it sets at most variables, by the
// discipline, and it must not.)
func (a *analysis) closed(st *state, fn *closure, at ast.Node, seen map[*ast.BlockStmt]bool) {
	if seen[fn.body] {
		return
	}
	seen[fn.body] = true
	if self := fn.self; self != nil && len(a.envs(st, *self)[l1]) > 0 {
		a.fail(at, "public values and the record itself", "a method over records is of what is private")
	}
	if fn.fn != nil {
		d := a.program.funcs[fn.fn.Origin().FullName()]
		a.keeps(d)
		if len(a.program.keeper(d).writes) > 0 {
			a.fail(at, "what it returns", "%s writes to records, or to what they share", shortName(fn.name))
		}
	}
	f := &frame{id: fn.frame, pkg: fn.pkg}
	inside := func(o types.Object) bool {
		begin := fn.typ.Pos()
		if fn.recv != nil {
			begin = fn.recv.Pos()
		}
		return o.Pos() >= begin && o.Pos() < fn.body.End()
	}
	own := func(x ast.Expr) {
		if id := root(fn.pkg.Info, x); id != nil && fn.pkg.Info.Uses[id] != nil && !inside(fn.pkg.Info.Uses[id]) {
			a.fail(x, "what it returns", "a function over records leaves something in %s", id.Name)
		}
	}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				own(l)
			}
		case *ast.IncDecStmt:
			own(n.X)
		case *ast.CallExpr:
			a.calledOver(st, f, n, seen)
		case *ast.Ident:
			o, ok := fn.pkg.Info.Uses[n].(*types.Var)
			if !ok || o.IsField() || inside(o) {
				return true
			}
			switch v := a.ident(f, st, n); {
			case v.kind == function && v.fn.body != nil:
				a.closed(st, v.fn, at, seen)
			case v.kind == private || v.kind == divided || v.kind == source || v.kind == noisy || len(a.envs(st, v)[l1]) > 0:
				a.fail(n, "public values and the record itself", "a function over records uses %s, which is private", n.Name)
			}
			a.seen[o] = true
		}
		return true
	})
}

// calledOver checks what a function over records calls.
func (a *analysis) calledOver(st *state, f *frame, call *ast.CallExpr, seen map[*ast.BlockStmt]bool) {
	if f.pkg.Info.Types[call.Fun].IsType() {
		return
	}
	id := calleeOf(call)
	if id == nil {
		return // a literal, which is read where it stands
	}
	switch fn := f.pkg.Info.Uses[id].(type) {
	case *types.Var:
		if fn.IsField() || fn.Parent() == fn.Pkg().Scope() {
			a.fail(call, "a declared function", "a function over records calls %s, of which nothing is known", id.Name)
		}
	case *types.Func:
		v := a.function(fn)
		switch {
		case v.fn.body != nil:
			v.fn.frame = 0
			a.closed(st, v.fn, call, seen)
		case !isPure(fn) && !harmless(fn) && !readers(fn.Origin()) && !copies(fn.Origin()) && !slices.Contains(writers, fn.Origin().FullName()):
			a.fail(call, "pure functions, and those whose source is at hand", "a function over records calls %s, which may act or remember", fn.FullName())
		}
	}
}
