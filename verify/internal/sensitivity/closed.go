package sensitivity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// closed checks a function over records: package dataset trusts it to be pure, and
// what it sees from outside must be public.
func (a *analysis) closed(st *state, fn *closure, at ast.Node, seen map[*ast.BlockStmt]bool) {
	if seen[fn.body] {
		return
	}
	seen[fn.body] = true
	if self := fn.self; self != nil && len(a.envs(st, *self)[l1]) > 0 {
		a.fail(at, "public values and the record itself", "a method over records is of what is private")
	}
	f := &frame{id: fn.frame, pkg: fn.pkg}
	inside := func(o types.Object) bool { return o.Pos() >= fn.typ.Pos() && o.Pos() < fn.body.End() }
	own := func(x ast.Expr) {
		if id := root(x); id != nil && id.Name != "_" && fn.pkg.Info.Defs[id] == nil {
			if o := fn.pkg.Info.Uses[id]; o != nil && !inside(o) {
				a.fail(id, "what it returns", "a function over records leaves something in %s", id.Name)
			}
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
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				own(n.X)
			}
		case *ast.SendStmt, *ast.GoStmt:
			a.fail(n, "what it returns", "a function over records tells another goroutine")
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o, ok := fn.pkg.Info.Uses[id].(*types.Var)
		if !ok || o.IsField() || inside(o) {
			return true
		}
		switch v := a.ident(f, st, id); {
		case v.kind == function && v.fn.body != nil:
			a.closed(st, v.fn, at, seen)
		case v.kind == private || v.kind == divided || v.kind == source || v.kind == noisy || len(a.envs(st, v)[l1]) > 0:
			a.fail(id, "public values and the record itself", "a function over records uses %s, which is private", id.Name)
		}
		return true
	})
	r := &reader{a, map[string]bool{}}
	r.body(fn.pkg, fn.body, func(o *types.Var) bool {
		return !inside(o) || fn.recv != nil && o.Pos() < fn.typ.Params.Pos()
	})
}

// root is the variable that a place is in.
func root(x ast.Expr) *ast.Ident {
	for {
		switch m := x.(type) {
		case *ast.IndexExpr:
			x = m.X
		case *ast.SelectorExpr:
			x = m.X
		case *ast.ParenExpr:
			x = m.X
		case *ast.StarExpr:
			x = m.X
		case *ast.Ident:
			return m
		default:
			return nil
		}
	}
}

// A reader checks that what functions share with others is read and nothing else: not
// written to, also not by other names, methods or functions that are given it.
type reader struct {
	*analysis
	seen map[string]bool
}

func (r *reader) body(pkg *Package, body ast.Node, shared func(o *types.Var) bool) {
	var stack []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.SendStmt, *ast.GoStmt:
			r.fail(n, "what it returns", "a function over records tells another goroutine")
		case *ast.CallExpr:
			if d, ok := r.callee(pkg, n.Fun); ok {
				r.function(d, nil)
			}
		case *ast.Ident:
			if o, ok := pkg.Info.Uses[n].(*types.Var); ok && !o.IsField() && shared(o) {
				r.read(pkg, stack, o)
			}
		}
		return true
	})
}

// function checks a function of the program of which one parameter is shared, and what
// all functions share.
func (r *reader) function(d declared, given *types.Var) {
	key := fmt.Sprint(d.fn.FullName(), given)
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	r.body(d.pkg, d.decl.Body, func(o *types.Var) bool { return o == given || o.Parent() == o.Pkg().Scope() })
}

func (r *reader) callee(pkg *Package, fun ast.Expr) (declared, bool) {
	switch x := ast.Unparen(fun).(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	var id *ast.Ident
	switch x := ast.Unparen(fun).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return declared{}, false
	}
	fn, ok := pkg.Info.Uses[id].(*types.Func)
	if !ok {
		return declared{}, false
	}
	d, ok := r.program.funcs[fn.Origin().FullName()]
	return d, ok
}

// read checks one use of a shared variable, the last of the stack.
func (r *reader) read(pkg *Package, stack []ast.Node, o *types.Var) {
	i := len(stack) - 1
	x := stack[i].(ast.Expr)
	refuse := func() {
		r.fail(x, "what it returns", "a function over records may leave something in %s", o.Name())
	}
	method := func(sel *types.Selection) {
		fn, ok := sel.Obj().(*types.Func)
		if !ok {
			refuse()
			return
		}
		recv := fn.Signature().Recv().Type()
		if d, ok := r.program.funcs[fn.Origin().FullName()]; ok {
			r.function(d, d.fn.Signature().Recv())
			return
		}
		known := fn.Pkg() != nil && (fn.Pkg().Path() == "time" || fn.Pkg().Path() == "regexp")
		if !known && (isPointer(recv) || shares(recv)) {
			refuse()
		}
	}
	for ; i > 0; i-- {
		switch p := stack[i-1].(type) {
		case *ast.ParenExpr:
			x = p
			continue
		case *ast.StarExpr:
			x = p
			continue
		case *ast.IndexExpr:
			if p.X != x {
				return
			}
			x = p
			continue
		case *ast.SliceExpr:
			if p.X != x {
				return
			}
			x = p
			continue
		case *ast.SelectorExpr:
			sel := pkg.Info.Selections[p]
			if sel == nil {
				return
			}
			if sel.Kind() != types.FieldVal {
				method(sel)
				return
			}
			x = p
			continue
		}
		break
	}
	_, bare := x.(*ast.Ident)
	bare = bare && o.Parent() != o.Pkg().Scope() // a parameter itself may be set
	t := pkg.Info.TypeOf(x)
	switch p := stack[max(i-1, 0)].(type) {
	case *ast.AssignStmt:
		if slices.Contains(p.Lhs, x) {
			if !bare {
				refuse()
			}
			return
		}
	case *ast.IncDecStmt:
		if !bare {
			refuse()
		}
		return
	case *ast.UnaryExpr:
		if p.Op == token.AND {
			refuse()
		}
		return
	case *ast.RangeStmt:
		if p.X == x && t != nil && !shares(elementType(t)) {
			return
		}
		if p.X != x {
			refuse()
		}
	case *ast.BinaryExpr:
		return
	case *ast.CallExpr:
		if p.Fun == x || r.argument(pkg, p, x) {
			return
		}
	}
	if t == nil || shares(t) {
		refuse()
	}
}

// argument reports whether a call only reads an argument that is shared.
func (r *reader) argument(pkg *Package, call *ast.CallExpr, x ast.Expr) bool {
	k := slices.Index(call.Args, x)
	if d, ok := r.callee(pkg, call.Fun); ok && k >= 0 {
		params := d.fn.Signature().Params()
		r.function(d, params.At(min(k, params.Len()-1)))
		return true
	}
	fun := ast.Unparen(call.Fun)
	if id, ok := fun.(*ast.Ident); ok {
		if b, ok := pkg.Info.Uses[id].(*types.Builtin); ok {
			switch b.Name() {
			case "len", "cap", "min", "max":
				return true
			case "append", "copy":
				return k > 0 && !shares(elementType(pkg.Info.TypeOf(x)))
			}
		}
		return false
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := pkg.Info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return false
	}
	switch fn.Pkg().Path() {
	case "math", "cmp", "strings", "strconv", "unicode":
		return true
	case "slices", "maps", "sort":
		return slices.Contains([]string{"Contains", "Index", "BinarySearch", "BinarySearchFunc", "Max", "Min", "Equal", "Search", "SearchFloat64s", "SearchInts", "SearchStrings"}, fn.Name())
	}
	return false
}

// shares reports whether copies of a value share what they lead to.
func shares(t types.Type) bool {
	switch u := core(t).(type) {
	case *types.Basic:
		return false
	case *types.Array:
		return shares(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if shares(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}
