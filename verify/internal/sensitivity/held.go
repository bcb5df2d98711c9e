package sensitivity

import (
	"go/ast"
	"go/types"
	"slices"
)

// A held element is one that a loop names in one way alone, as a variable.
type held struct {
	x     *ast.IndexExpr
	root  types.Object // the variable that it is an element of
	place place
	index Expr
}

// hold runs a loop with variables for the elements at the index of the loop around it which
// are all that it says of a slice: scores[i]++ in a loop over records, in one over i.
//
// Theorem. In a function that keeps the discipline, what is written to has one name. Where a
// loop says that name only in x[e], and sets nothing that e is made of, all of them are one
// element, and no other element is read or set: a variable that is loaded before and stored
// behind it is the same.
func (a *analysis) hold(f *frame, st *state, s ast.Stmt, run func(st *state) (*state, *result)) (*state, *result) {
	st = st.clone()
	before := len(a.held)
	for _, x := range a.holdable(f, st, s) {
		root := f.pkg.Info.Uses[x.X.(*ast.Ident)]
		v := a.load(f, st, x)
		if v.kind != plain {
			continue
		}
		p := place{f.id, types.NewVar(x.Pos(), f.pkg.Types, types.ExprString(x), f.pkg.Info.Types[x].Type)}
		st.vars[p] = v
		a.held = append(a.held, held{x, root, p, a.number(st, a.expr(f, st, x.Index), x).sym})
	}
	after, ret := run(st)
	all := slices.Clone(a.held[before:])
	a.held = a.held[:before]
	for _, h := range all {
		v := after.vars[h.place]
		delete(after.vars, h.place)
		a.store(f, after, h.x, v, s)
	}
	return after, ret
}

// holdable are the elements of which a loop that does not return says one thing.
func (a *analysis) holdable(f *frame, st *state, s ast.Stmt) (found []*ast.IndexExpr) {
	if l := a.top(); l == nil || l.bag {
		return nil
	}
	said := map[types.Object][]*ast.IndexExpr{}
	other := map[types.Object]bool{}
	inside := map[*ast.Ident]bool{}
	returns := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt, *ast.FuncLit:
			returns = true
		case *ast.IndexExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				if o, ok := f.pkg.Info.Uses[id].(*types.Var); ok {
					said[o] = append(said[o], n)
					inside[id] = true
				}
			}
		case *ast.Ident:
			if o, ok := f.pkg.Info.Uses[n].(*types.Var); ok && !inside[n] {
				other[o] = true
			}
		}
		return !returns
	})
	if returns {
		return nil
	}
	for root, all := range said {
		x := all[0]
		v, here := st.vars[place{f.id, root}]
		if other[root] || !here || v.kind != ref || binds(f, s, x.Index) || !simple(x.Index) || indexed(x.Index) || !numeric(f.pkg.Info.Types[x].Type) {
			continue
		}
		if o := st.heap[v.obj]; o.view || o.bag || o.table || o.elem != nil || !writes(s, all) || assigns(f, &ast.BlockStmt{List: []ast.Stmt{s}}, x.Index, nil) {
			continue
		}
		if slices.ContainsFunc(all, func(y *ast.IndexExpr) bool { return !sameExpr(f, x.Index, y.Index) }) {
			continue
		}
		if l := a.turn(a.number(st, a.expr(f, st, x.Index), x)); l != nil {
			found = append(found, x)
		}
	}
	slices.SortFunc(found, func(x, y *ast.IndexExpr) int { return int(x.Pos() - y.Pos()) })
	return found
}

// writes reports whether a statement sets one of the elements.
func writes(s ast.Stmt, all []*ast.IndexExpr) (found bool) {
	is := func(x ast.Expr) {
		ix, ok := ast.Unparen(x).(*ast.IndexExpr)
		found = found || ok && slices.Contains(all, ix)
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				is(l)
			}
		case *ast.IncDecStmt:
			is(n.X)
		}
		return true
	})
	return found
}

// binds reports whether a statement declares what an expression is made of, or sets it by a range.
func binds(f *frame, s ast.Stmt, e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			o := f.pkg.Info.Uses[id]
			found = found || o == nil || o.Pos() >= s.Pos() && o.Pos() < s.End()
		}
		return true
	})
	ast.Inspect(s, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok {
			for _, x := range []ast.Expr{r.Key, r.Value} {
				if id, ok := x.(*ast.Ident); ok && f.pkg.Info.Uses[id] != nil {
					found = found || mentions(f, e, f.pkg.Info.Uses[id])
				}
			}
		}
		return true
	})
	return found
}

// sameExpr reports whether two expressions are written alike, of the same variables.
func sameExpr(f *frame, x, y ast.Expr) bool {
	if types.ExprString(x) != types.ExprString(y) {
		return false
	}
	var objects [2][]types.Object
	for i, e := range []ast.Expr{x, y} {
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				objects[i] = append(objects[i], f.pkg.Info.Uses[id])
			}
			return true
		})
	}
	return slices.Equal(objects[0], objects[1])
}

// holds is the variable that an element is held in.
func (a *analysis) holds(f *frame, st *state, x ast.Expr) (place, bool) {
	ix, ok := ast.Unparen(x).(*ast.IndexExpr)
	if !ok {
		return place{}, false
	}
	id, ok := ix.X.(*ast.Ident)
	if !ok {
		return place{}, false
	}
	for _, h := range a.held {
		if h.place.frame == f.id && h.root == f.pkg.Info.Uses[id] {
			if !a.number(st, a.expr(f, st, ix.Index), ix).sym.is(h.index) {
				a.fail(ix, "a variable of its own for the index", "a call changes an index in a loop")
			}
			return h.place, true
		}
	}
	return place{}, false
}
