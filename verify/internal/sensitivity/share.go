package sensitivity

import (
	"go/ast"
	"go/types"
)

// owned is a value as a variable of the type holds it: Go copies arrays, also those in
// structs, and what pointers and slices lead to is shared.
func (a *analysis) owned(st *state, v value, t types.Type) value {
	if t == nil {
		return v
	}
	switch u := core(t).(type) {
	case *types.Interface:
		// It may hold an array, or what leads to one: nobody writes to it any more.
		if v.kind == ref || v.kind == record {
			a.freeze(st, v)
		}
		return v
	case *types.Array:
		if v.kind != ref {
			return v
		}
		o := *a.settled(st.heap[v.obj])
		o.slot, o.base, o.only, o.view = nil, "", nil, false
		return a.alloc(st, o)
	case *types.Struct:
		if v.kind != record {
			return v
		}
		w := v
		w.fields = map[string]value{}
		for k, x := range v.fields {
			w.fields[k] = x
		}
		for f := range u.Fields() {
			if x, ok := w.fields[f.Name()]; ok {
				w.fields[f.Name()] = a.owned(st, x, f.Type())
			}
		}
		return w
	}
	return v
}

// core is the underlying type; of a type parameter the one that all its types have.
func core(t types.Type) types.Type {
	p, ok := t.(*types.TypeParam)
	if !ok {
		return t.Underlying()
	}
	c, ok := p.Constraint().Underlying().(*types.Interface)
	if !ok {
		return t.Underlying()
	}
	var one types.Type
	for e := range c.EmbeddedTypes() {
		terms := []types.Type{e}
		if u, ok := e.(*types.Union); ok {
			terms = nil
			for i := range u.Len() {
				terms = append(terms, u.Term(i).Type())
			}
		}
		for _, x := range terms {
			if u := x.Underlying(); one == nil || types.Identical(one, u) {
				one = u
				continue
			}
			return t.Underlying()
		}
	}
	if one == nil {
		return t.Underlying()
	}
	return one
}

// stored is a value that is put where it is known by its distance alone, as an element
// or as one of two things: what it shares is not written to any more, and what acts
// later is refused.
func (a *analysis) stored(st *state, v value, at ast.Node) value {
	v = a.handed(st, v, at)
	a.freeze(st, v)
	return v
}

// handed is a value that goes where it is not followed: the draws in it are used up.
func (a *analysis) handed(st *state, v value, at ast.Node) value {
	if v.kind == function && (v.fn.body != nil || v.fn.self != nil) || v.kind == mechanical {
		a.fail(at, "a variable of its own for each function", "a function is kept where it is not followed")
	}
	v = a.used(st, v, at)
	if len(v.fields) > 0 {
		fields := map[string]value{}
		for _, k := range sortedKeys(v.fields) {
			fields[k] = a.handed(st, v.fields[k], at)
		}
		v.fields = fields
	}
	if len(v.elems) > 0 {
		var elems []value
		for _, w := range v.elems {
			elems = append(elems, a.handed(st, w, at))
		}
		v.elems = elems
	}
	return v
}

// freeze ends all writing to what a value shares.
func (a *analysis) freeze(st *state, v value) {
	for _, k := range sortedKeys(v.fields) {
		a.freeze(st, v.fields[k])
	}
	for _, w := range v.elems {
		a.freeze(st, w)
	}
	if v.kind != ref || st.heap[v.obj].view {
		return
	}
	a.touch(v.obj, nil)
	a.update(st, v.obj, func(o *object) { o.view = true })
}

// pointed notes that there is a pointer into the variable that x is in, so that it is
// not set again.
func (a *analysis) pointed(f *frame, st *state, x ast.Expr) {
	for {
		switch m := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			x = m.X
		case *ast.StarExpr:
			x = m.X
		case *ast.IndexExpr:
			if v := a.expr(f, st, m.X); v.kind == ref {
				a.freeze(st, v)
			}
			x = m.X
		case *ast.Ident:
			if o := f.pkg.Info.Uses[m]; o != nil {
				a.addressed[o] = true
			}
			return
		default:
			return
		}
	}
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// leaves reports what a function leaves in what it was given: private data there are
// seen by its caller. Two parameters may be the same slice.
func (a *analysis) leaves(st *state, params []*types.Var, args []value, before map[int]int, private map[string]bool) *Refusal {
	written := func(v value) bool { return v.kind == ref && st.heap[v.obj].id != before[v.obj] }
	for i, v := range args {
		if v.kind != ref {
			continue
		}
		at := nodeAt(params[i].Pos())
		if o := a.settled(st.heap[v.obj]); !private[params[i].Name()] && (len(o.env[l1]) > 0 || len(o.keys) > 0) {
			return a.why(at, "a result", "private data are written to %s, where the caller sees them", params[i].Name())
		}
		if !written(v) {
			continue
		}
		for j, w := range args {
			if i != j && w.kind == ref && types.Identical(params[i].Type().Underlying(), params[j].Type().Underlying()) && private[params[i].Name()] && private[params[j].Name()] {
				return a.why(at, "a slice of its own", "%s is written to, and %s may be the same", params[i].Name(), params[j].Name())
			}
		}
	}
	return nil
}
