package sensitivity

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
)

// store is x[i] = v.
func (a *analysis) store(f *frame, st *state, x *ast.IndexExpr, v value, at ast.Node) {
	if nested(x.X) {
		a.storeInside(f, st, x, v, at)
		return
	}
	base := a.expr(f, st, x.X)
	idx := a.number(st, a.expr(f, st, x.Index), x.Index)
	if base.kind != ref {
		a.fail(x, "slices and maps of numbers that the function made", "an assignment to an element of what is not known")
	}
	v = a.handed(st, v, at)
	o := st.heap[base.obj]
	a.kept(st, o, v, x)
	if o.view {
		a.fail(x, "a slice of its own", "an assignment to an element of what is shared, or is a row or part of something else")
	}
	if o.made != 0 && a.mapped(st, base.obj, idx.sym, v, at) {
		return
	}
	moves := a.env(idx.sym).infinite(a.why(x.Index, "counts[key] += n", "where something is put depends on private data"))
	l := a.at(base.obj, idx)
	if l != nil && v.kind == plain && len(moves) == 0 && !o.bag {
		a.touch(base.obj, l)
		a.fill(st, base.obj, slot{loop: l.id, val: v, written: true, always: true})
		return
	}
	a.touch(base.obj, nil)
	a.update(st, base.obj, func(o *object) {
		a.unslotted(o)
		if text, constant := v.sym.String(), v.kind == plain && isNumber(v.sym); o.table && constant && (o.empty || o.put == text && !o.varied) {
			// A constant put at a key of an empty map: again is no change, and the order
			// is none.
			o.put, o.empty = text, false
			a.note(st, o, a.max(one(), a.abs(v.sym)), moves)
			return
		}
		o.base, o.empty, o.varied = "", false, true
		a.put(st, o, v, moves)
		if o.bag {
			// Which record makes place depends on their order, and neighbours share none: one
			// that differs at first may stay, and another go in each.
			for n := range o.env {
				o.env[n] = o.env[n].infinite(a.why(x, "append", "a record is overwritten, and which one depends on their order"))
			}
		}
	})
}

// storeInside is x[i][j] = v, or x[i].f = v.
func (a *analysis) storeInside(f *frame, st *state, x ast.Expr, v value, at ast.Node) {
	v = a.handed(st, v, at)
	obj, moves := a.owned(f, st, x, v)
	a.update(st, obj, func(o *object) {
		a.unslotted(o)
		o.base, o.empty, o.varied = "", false, true
		a.put(st, o, v, moves)
	})
}

// owned is the object that a place lies in, which is written to.
func (a *analysis) owned(f *frame, st *state, x ast.Expr, v value) (obj int, moves env) {
	base, moves, ok := a.inside(f, st, x)
	if !ok {
		a.fail(x, "slices and maps of numbers that the function made", "an assignment to an element of what is not known")
	}
	o := st.heap[base.obj]
	a.kept(st, o, v, x)
	if o.view || o.bag || o.elem != nil {
		a.fail(x, "a slice of its own", "an assignment to an element of what is shared, or is a row or part of something else")
	}
	a.touch(base.obj, nil)
	return base.obj, moves
}

func isNumber(e Expr) bool {
	_, ok := e.number()
	return ok
}

// put counts in what stands somewhere in the object from now on.
func (a *analysis) put(st *state, o *object, v value, moves env) {
	e := a.envs(st, v)
	if a.unequal(st, v) {
		for n := range e {
			e[n] = e[n].infinite(rowsOfAnyLength)
		}
	}
	for n := range o.env {
		o.env[n] = o.env[n].add(e[n]).add(moves)
		if o.size[n] != nil {
			if s := a.sizes(v); s != nil {
				o.size[n] = o.size[n].add(s)
			} else {
				o.size[n] = nil
			}
		}
	}
	if o.table {
		o.keys = o.keys.add(moves)
	}
}

// unequal reports whether a value leads to a slice of a private length.
func (a *analysis) unequal(st *state, v value) bool {
	if v.kind == ref {
		return st.heap[v.obj].bag || a.uneven(st.heap[v.obj])
	}
	for _, w := range v.fields {
		if a.unequal(st, w) {
			return true
		}
	}
	return slices.ContainsFunc(v.elems, func(w value) bool { return a.unequal(st, w) })
}

// uneven reports whether the rows of an object may be of other lengths where private data are
// others: which row stands where has no bound then.
func (a *analysis) uneven(o *object) bool { return o.uneven || o.env[linf].refusal() != nil }

var rowsOfAnyLength = &Refusal{Reason: "the length of a row depends on private data", Hint: "rows of public lengths"}

func (a *analysis) sizes(v value) env {
	if v.kind != plain {
		return nil
	}
	return a.size(v.sym)
}

// note counts in that a number was added somewhere: by at most so much.
func (a *analysis) note(st *state, o *object, by Expr, moves env) {
	for n := range o.env {
		o.env[n] = o.env[n].add(moves)
		o.moved[n] = o.moved[n].add(moves)
		o.added[n] = o.added[n].add(env{unit: {most: by}})
		o.size[n] = nil
	}
	o.keys = o.keys.add(moves)
	a.where(st, o)
}

// where keeps the branches that all additions to an object were made in.
func (a *analysis) where(st *state, o *object) {
	here := map[int]bool{}
	for _, b := range st.under {
		here[b] = true
	}
	if o.only == nil {
		o.only = here
		return
	}
	o.only = intersect(o.only, here)
}

func intersect(x, y map[int]bool) map[int]bool {
	z := maps.Clone(x)
	maps.DeleteFunc(z, func(k int, _ bool) bool { return !y[k] })
	return z
}

// increase is x[i] += v.
func (a *analysis) increase(f *frame, st *state, place ast.Expr, v value, at ast.Node) {
	x, element := place.(*ast.IndexExpr)
	if !element || nested(x.X) {
		obj, moves := a.owned(f, st, place, v)
		a.add(f, st, place, obj, v, moves, at)
		return
	}
	base := a.expr(f, st, x.X)
	idx := a.number(st, a.expr(f, st, x.Index), x.Index)
	if base.kind != ref {
		a.fail(x, "slices and maps of numbers that the function made", "an assignment to an element of what is not known")
	}
	o := st.heap[base.obj]
	a.kept(st, o, v, x)
	if o.view || o.bag {
		a.fail(x, "a slice of its own", "an assignment to an element of what is shared, or is a row or part of something else")
	}
	moves := a.env(idx.sym).infinite(a.why(x.Index, "", "where something is added depends on private data"))
	if l := a.at(base.obj, idx); l != nil && len(moves) == 0 {
		cur := a.element(st, base.obj, idx, nil, elementType(f.pkg.Info.Types[x.X].Type), x)
		if cur.kind == plain {
			a.fill(st, base.obj, slot{loop: l.id, val: a.binary(st, token.ADD, cur, v, elementType(f.pkg.Info.Types[x.X].Type), at), written: true, always: true})
			return
		}
	}
	a.touch(base.obj, nil)
	a.add(f, st, x, base.obj, v, moves, at)
}

// add counts in that a number is added somewhere in an object.
func (a *analysis) add(f *frame, st *state, x ast.Expr, obj int, v value, moves env, at ast.Node) {
	e, size := a.env(v.sym), a.size(v.sym)
	if size == nil {
		size = env{unit: {infinite: a.why(at, "clamp it with min and max", "what is added has no bound")}}
	}
	t := f.pkg.Info.Types[x].Type
	wraps := a.why(at, "elements of type int", "what may not fit in %s goes round", t)
	fits := a.fits(a.hidden("sum", known{}), t)
	if !fits {
		e, size = e.infinite(wraps), env{unit: {infinite: wraps}}
	}
	a.update(st, obj, func(o *object) {
		a.unslotted(o)
		if !fits {
			for n := range o.env {
				o.env[n] = o.env[n].infinite(wraps)
			}
		}
		if o.put != "" && o.put != "+=" {
			o.base = ""
		}
		o.put, o.empty, o.varied = "+=", false, true
		for n := range o.env {
			o.env[n] = o.env[n].add(e).add(moves)
			o.moved[n] = o.moved[n].add(e).add(moves)
			o.added[n] = o.added[n].add(size)
			o.size[n] = nil
		}
		o.keys = o.keys.add(moves)
		a.where(st, o)
	})
}
