package sensitivity

import (
	"go/ast"
	"go/types"
)

// acts reports whether a function is called in what is evaluated.
func acts(f *frame, nodes ...ast.Expr) (found bool) {
	for _, n := range nodes {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(m ast.Node) bool {
			switch m := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				id, _ := ast.Unparen(m.Fun).(*ast.Ident)
				_, builtin := f.pkg.Info.Uses[id].(*types.Builtin)
				found = found || !f.pkg.Info.Types[m.Fun].IsType() && !(id != nil && builtin)
			}
			return !found
		})
	}
	return found
}

// changed are the variables that hold something else now, and the objects that what is
// private moved in.
func changed(before, st *state) (vars map[place]bool, objs map[int]bool) {
	vars, objs = map[place]bool{}, map[int]bool{}
	for p, v := range before.vars {
		if w, ok := st.vars[p]; ok && (!equal(v, w) || v.kind == ref && !before.heap[v.obj].length.is(st.heap[v.obj].length)) {
			vars[p] = true
		}
	}
	for id, o := range before.heap {
		p := st.heap[id]
		if p == nil || o == p {
			continue
		}
		same := o.slot == p.slot && o.length.is(p.length) && sameEnv(o.keys, p.keys)
		for n := range o.env {
			same = same && sameEnv(o.env[n], p.env[n])
		}
		objs[id] = !same
	}
	return vars, objs
}

func sameEnv(e, f env) bool {
	if len(e) != len(f) {
		return false
	}
	for s, b := range e {
		c, ok := f[s]
		if !ok || (b.infinite == nil) != (c.infinite == nil) || !b.most.is(c.most) {
			return false
		}
	}
	return true
}

// ordered evaluates operands of which Go leaves open whether a variable is read before or
// after a function is called, and refuses those where that makes a difference.
func (a *analysis) ordered(f *frame, st *state, at ast.Node, operands []ast.Expr, evaluate func()) {
	if len(operands) < 2 || !acts(f, operands...) {
		evaluate()
		return
	}
	before := st.clone()
	evaluate()
	vars, objs := changed(before, st)
	if len(vars) == 0 && len(objs) == 0 {
		return
	}
	refuse := func(id *ast.Ident) {
		a.fail(at, "a variable for what the call returns", "reading %s beside a call that changes it", id.Name)
	}
	held := func(id *ast.Ident) (place, bool) {
		for frame := f.id; frame != 0; frame = a.parents[frame] {
			p := place{frame, f.pkg.Info.Uses[id]}
			if _, ok := before.vars[p]; ok {
				return p, true
			}
		}
		return place{}, false
	}
	for _, x := range operands {
		if x == nil {
			continue
		}
		ast.Inspect(x, func(n ast.Node) bool {
			var base ast.Expr
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.Ident:
				if p, ok := held(n); ok && (vars[p] || copied(p.obj.Type()) && holds(before.vars[p], objs)) {
					refuse(n)
				}
			case *ast.IndexExpr:
				base = n.X
			case *ast.SliceExpr:
				base = n.X
			case *ast.StarExpr:
				base = n.X
			case *ast.SelectorExpr:
				if t := f.pkg.Info.Types[n].Type; t != nil && copied(t) {
					base = n.X
				}
			}
			if base == nil {
				return true
			}
			if id := root(base); id != nil {
				if p, ok := held(id); ok && holds(before.vars[p], objs) {
					refuse(id)
				}
			}
			return true
		})
	}
}

func holds(v value, objs map[int]bool) bool {
	if v.kind == ref && objs[v.obj] {
		return true
	}
	for _, w := range v.fields {
		if holds(w, objs) {
			return true
		}
	}
	for _, w := range v.elems {
		if holds(w, objs) {
			return true
		}
	}
	return false
}

// copied reports whether reading a variable of the type may copy an array.
func copied(t types.Type) bool {
	switch core(t).(type) {
	case *types.Array, *types.Struct, *types.Interface:
		return true
	}
	return false
}

// places refuses assignments to several places of which one is found by what another
// sets: Go finds all places first, and here each is found when it is set.
func (a *analysis) places(f *frame, lhs []ast.Expr) {
	set := map[types.Object]bool{}
	element := false
	for _, l := range lhs {
		l = ast.Unparen(l)
		if _, variable := l.(*ast.Ident); !variable {
			ast.Inspect(l, func(n ast.Node) bool {
				_, index := n.(*ast.IndexExpr)
				id, ok := n.(*ast.Ident)
				if index && n != l && element || ok && set[f.pkg.Info.Uses[id]] {
					a.fail(l, "one assignment after another", "an assignment to a place that another in the same statement may move")
				}
				return true
			})
		}
		switch l := l.(type) {
		case *ast.IndexExpr:
			element = true
		default:
			if id := root(l); id != nil && id.Name != "_" {
				set[f.pkg.Info.ObjectOf(id)] = true
			}
		}
	}
}

// alone reports whether nothing else in an assignment reads what append is put in the
// place of: it has its old length there.
func alone(f *frame, lhs, rhs []ast.Expr, i int) bool {
	id := root(lhs[i])
	if len(rhs) == 1 || id == nil {
		return true
	}
	ok := true
	for j := range rhs {
		for _, x := range []ast.Expr{lhs[j], rhs[j]} {
			if j == i {
				continue
			}
			ok = ok && !acts(f, x)
			ast.Inspect(x, func(n ast.Node) bool {
				other, is := n.(*ast.Ident)
				ok = ok && !(is && f.pkg.Info.ObjectOf(other) == f.pkg.Info.ObjectOf(id))
				return true
			})
		}
	}
	return ok
}
