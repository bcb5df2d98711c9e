package sensitivity

import (
	"go/ast"
	"go/types"
	"slices"
)

// appendTo is x = append(x, ...), in place.
func (a *analysis) appendTo(f *frame, st *state, lhs, rhs ast.Expr) (value, bool) {
	call, ok := rhs.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !isBuiltin(f, call.Fun, "append") || !simple(lhs) || types.ExprString(lhs) != types.ExprString(call.Args[0]) {
		return value{}, false
	}
	if id := root(f.pkg.Info, lhs); id == nil || f.pkg.Info.Defs[id] != nil {
		return value{}, false // another variable of the same name
	}
	if ix, ok := lhs.(*ast.IndexExpr); ok {
		return a.appendWithin(f, st, ix, call), true
	}
	v := a.expr(f, st, call.Args[0])
	if v.kind != ref {
		return value{}, false
	}
	ys := a.appendable(f, st, call)
	if st.heap[v.obj].view {
		a.fail(lhs, "a slice of its own", "an append to what is shared, or is part of something else")
	}
	for _, y := range ys {
		a.kept(st, st.heap[v.obj], y, call)
	}
	a.grow(st, v.obj, ys, call)
	return v, true
}

// kept refuses to put private data where a parameter leads: what else the function is
// given may lead there too, and show them before they are overwritten. Where a private
// parameter is the only one, all that leads there is as private.
func (a *analysis) kept(st *state, o *object, v value, at ast.Node) {
	if o.given && len(a.envs(st, v)[l1]) > 0 && (len(a.settled(o).env[l1]) == 0 || a.inputs > 1) {
		a.fail(at, "a slice of its own", "private data are written to a parameter, which others may lead to")
	}
}

// appendable are the values that are appended. Of a slice whose elements are, those are
// copied.
func (a *analysis) appendable(f *frame, st *state, call *ast.CallExpr) (ys []value) {
	for _, y := range call.Args[1:] {
		v := a.expr(f, st, y)
		if !call.Ellipsis.IsValid() {
			v = a.handed(st, v, y)
		}
		ys = append(ys, a.used(st, v, y))
	}
	return ys
}

// references counts the variables that hold an object.
func (a *analysis) references(st *state, obj int) (n int) {
	var count func(v value)
	count = func(v value) {
		if v.kind == ref && v.obj == obj {
			n++
		}
		for _, w := range v.fields {
			count(w)
		}
		for _, w := range v.elems {
			count(w)
		}
		if v.kind == function && v.fn.self != nil {
			count(*v.fn.self)
		}
	}
	for _, v := range st.vars {
		count(v)
	}
	return n
}

// inBag reports whether a loop over private records is around that the object is
// older than.
func (a *analysis) inBag(o *object) bool {
	return slices.ContainsFunc(a.stack[min(o.depth, len(a.stack)):], func(l *loop) bool { return l.bag })
}

// grow appends to an object.
func (a *analysis) grow(st *state, obj int, ys []value, call *ast.CallExpr) {
	spread := call.Ellipsis.IsValid()
	a.touch(obj, a.top())
	bag := a.inBag(st.heap[obj])
	count := integer(int64(len(ys)))
	var tail *object
	if spread {
		if ys[0].kind != ref {
			a.fail(call, "a slice", "an append of what is not known")
		}
		tail = a.settled(st.heap[ys[0].obj])
		a.touch(ys[0].obj, nil)
		if tail.bag && !bag && st.heap[obj].bag || tail.bag && !bag && len(st.heap[obj].env[l1]) == 0 {
			a.update(st, obj, func(o *object) {
				o.bag, o.base = true, ""
				for n := range o.env {
					o.env[n] = o.env[n].add(tail.env[n])
				}
				o.elem = a.either(o.elem, tail.elem)
			})
			return
		}
		if tail.bag {
			a.fail(call, "records appended one by one", "an append of so many records that nothing bounds it")
		}
		count = tail.length
	}
	if bag {
		a.update(st, obj, func(o *object) {
			if !o.bag {
				why := a.why(call, "a slice that begins empty", "records are appended to numbers that depend on private data")
				for n := range o.env {
					o.env[n] = o.env[n].infinite(why)
				}
			}
			o.bag = true
			for n := range o.env {
				o.added[n] = o.added[n].add(env{unit: {most: count}})
				o.size[n] = nil
				for _, y := range ys {
					o.moved[n] = o.moved[n].add(a.envs(st, y)[l1])
				}
			}
			for i := range ys {
				if !spread {
					o.elem = a.either(o.elem, &ys[i])
				}
			}
			if spread {
				o.elem = a.either(o.elem, &value{sym: a.hidden("row", known{env: tail.env[l1]})})
			}
			a.where(st, o)
		})
		return
	}
	l := a.top()
	if o := st.heap[obj]; !spread && l != nil && o.depth < len(a.stack) && o.slot == nil && len(ys) == 1 && ys[0].kind == plain && !o.bag && !l.own[obj] {
		a.fill(st, obj, slot{loop: l.id, val: ys[0], written: true, always: true, appended: true})
		o := st.heap[obj]
		o.length, o.base = o.length.add(one()), ""
		l.mixed[-obj] = true // the slot is beyond what there was
		return
	}
	a.touch(obj, nil)
	a.update(st, obj, func(o *object) {
		o.base = ""
		if o.bag {
			for _, y := range ys {
				if e := a.envs(st, y)[l1]; len(e) > 0 {
					for n := range o.env {
						o.env[n] = o.env[n].add(e.infinite(a.why(call, "", "a record that depends on private data")))
					}
				}
			}
			return
		}
		o.length = o.length.add(count)
		if tail != nil {
			o.uneven = o.uneven || tail.uneven
			for n := range o.env {
				o.env[n] = o.env[n].add(tail.env[n])
				if o.size[n] != nil && tail.size[n] != nil {
					o.size[n] = o.size[n].add(tail.size[n])
				} else {
					o.size[n] = nil
				}
			}
			return
		}
		for _, y := range ys {
			a.put(st, o, y, nil)
		}
	})
}

// none is the element of a table of multisets in which a loop puts the first ones.
var none = &value{}

// gatheredElement is what is known of the elements of the multisets of a table.
func (a *analysis) gatheredElement(o *object) *value {
	if o.elem == none {
		return &value{sym: a.hidden("row", known{})}
	}
	return o.elem
}

// either is what is known of an element that is one of two.
func (a *analysis) either(x, y *value) *value {
	if x == nil || x == none {
		return y
	}
	if y == none {
		return x
	}
	if y == nil || x.kind != plain || y.kind != plain {
		return &value{sym: a.hidden("row", known{})}
	}
	k := known{whole: a.whole(x.sym) && a.whole(y.sym), env: a.env(x.sym).add(a.env(y.sym))}
	xl, xh := a.interval(x.sym)
	yl, yh := a.interval(y.sym)
	if xl != nil && yl != nil {
		lo := a.min(*xl, *yl)
		k.lo = &lo
	}
	if xh != nil && yh != nil {
		hi := a.max(*xh, *yh)
		k.hi = &hi
	}
	return &value{sym: a.hidden("row", k)}
}

// appendedWithin marks what is in its place already.
const appendedWithin = "appended"

// appendWithin is m[k] = append(m[k], x): a partition by k.
func (a *analysis) appendWithin(f *frame, st *state, ix *ast.IndexExpr, call *ast.CallExpr) value {
	base := a.expr(f, st, ix.X)
	if base.kind != ref || call.Ellipsis.IsValid() {
		a.fail(ix, "a map or slice of slices that the function made", "an append to an element of what is not known")
	}
	o := st.heap[base.obj]
	idx := a.number(st, a.expr(f, st, ix.Index), ix.Index)
	moves := a.env(idx.sym).infinite(a.why(ix.Index, "", "where something is put depends on private data"))
	ys := a.appendable(f, st, call)
	if o.view || !a.inBag(o) {
		a.fail(ix, "a loop over records that divides them", "an append to an element")
	}
	a.touch(base.obj, nil)
	a.update(st, base.obj, func(o *object) {
		if o.put != "" && o.put != "append" {
			o.base = ""
		}
		o.put, o.empty, o.varied = "append", false, true
		a.note(st, o, integer(int64(max(1, len(ys)))), moves)
		for i, y := range ys {
			o.elem = a.either(o.elem, &ys[i])
			for n := range o.moved {
				o.moved[n] = o.moved[n].add(a.envs(st, y)[l1])
			}
		}
	})
	return value{kind: tuple, name: appendedWithin}
}

func isBuiltin(f *frame, fun ast.Expr, name string) bool {
	id, ok := fun.(*ast.Ident)
	return ok && id.Name == name && f.pkg.Info.Uses[id] == types.Universe.Lookup(name)
}
