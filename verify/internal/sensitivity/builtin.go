package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (a *analysis) builtin(f *frame, st *state, name string, x *ast.CallExpr) value {
	switch name {
	case "len":
		return a.length(f, st, x)
	case "min", "max":
		v := a.number(st, a.expr(f, st, x.Args[0]), x)
		for _, y := range x.Args[1:] {
			v = a.extreme(name, v, a.number(st, a.expr(f, st, y), y))
		}
		return v
	case "append":
		return a.appended(f, st, x)
	case "make":
		t := f.pkg.Info.Types[x].Type
		o := object{size: same(env{})}
		if _, ok := t.Underlying().(*types.Map); ok {
			o.table, o.empty = true, true
			return a.alloc(st, o)
		}
		if _, ok := t.Underlying().(*types.Slice); !ok {
			a.fail(x, "slices and maps", "a channel")
		}
		if len(x.Args) > 1 {
			n := a.number(st, a.expr(f, st, x.Args[1]), x)
			if rows, ok := a.counts(st, n.sym); ok && len(x.Args) == 2 && (numeric(elementType(t)) || isTypeParam(elementType(t))) {
				return a.alloc(st, object{bag: true, env: rows.env, elem: &value{}, made: rows.id})
			}
			if len(a.env(n.sym)) > 0 {
				a.fail(x, "a public length", "the length of a slice depends on private data")
			}
			o.length = n.sym
		}
		o.spare, o.zero = len(x.Args) > 2, true
		return a.alloc(st, o)
	case "copy":
		to, from := a.expr(f, st, x.Args[0]), a.expr(f, st, x.Args[1])
		if to.kind != ref || from.kind != ref || st.heap[to.obj].view || st.heap[from.obj].bag || st.heap[to.obj].bag {
			a.fail(x, "append to an empty slice", "a copy between slices that are not numbers of their own")
		}
		a.touch(to.obj, nil)
		a.touch(from.obj, nil)
		src := a.settled(st.heap[from.obj])
		a.kept(st, st.heap[to.obj], from, x)
		o := *a.settled(st.heap[to.obj])
		o.uneven = o.uneven || src.uneven
		for n := range o.env {
			o.env[n] = o.env[n].add(src.env[n])
		}
		o.size, o.base, o.slot, o.zero, o.id = [3]env{}, "", nil, false, a.next()
		st.heap[to.obj] = &o
		return a.public("copied")
	case "new":
		return a.zero(st, f.pkg.Info.Types[x.Args[0]].Type)
	}
	a.fail(x, "", "the builtin function %s", name)
	return value{}
}

func (a *analysis) length(f *frame, st *state, x *ast.CallExpr) value {
	v := a.expr(f, st, x.Args[0])
	switch v.kind {
	case ref:
		o := st.heap[v.obj]
		k := known{whole: true, lo: &Expr{}}
		if n, ok := a.swapped[o.id]; ok {
			return value{sym: n}
		}
		switch {
		case o.bag:
			a.touch(v.obj, nil)
			k.env, k.rows = o.env[l1], o.id
			return value{sym: a.hidden("len", k)}
		case o.table:
			k.env = o.keys
			return value{sym: a.hidden("len", k)}
		}
		return value{sym: o.length}
	case divided:
		return v.fields["count"]
	case plain:
		e := a.env(v.sym)
		if len(e) == 0 {
			name := "len(" + v.sym.String() + ")"
			if a.knowns[name] == nil {
				a.knowns[name] = &known{whole: true, serial: a.serialOf(&atom{args: []Expr{v.sym}})}
			}
			return value{sym: lengthOf(v.sym.String())}
		}
		k := known{env: e.infinite(a.why(x, "", "the length of private data of which nothing is known")), whole: true, lo: &Expr{}}
		return value{sym: a.hidden("len", k)}
	}
	a.fail(x, "", "the length of what is no slice")
	return value{}
}

// extreme is min or max: it moves no further than the one of its arguments that moves
// the most.
func (a *analysis) extreme(name string, v, w value) value {
	ev, ew := a.env(v.sym), a.env(w.sym)
	if len(ev) == 0 && len(ew) == 0 {
		if name == "max" {
			return value{sym: a.facts.max(v.sym, w.sym)}
		}
		return value{sym: a.facts.min(v.sym, w.sym)}
	}
	k := known{env: a.larger(ev, ew), whole: a.whole(v.sym) && a.whole(w.sym)}
	vl, vh := a.interval(v.sym)
	wl, wh := a.interval(w.sym)
	// Of max, a lower bound of either is one, and an upper bound is one of both.
	some := func(x, y *Expr, op func(x, y Expr) Expr) *Expr {
		if x == nil || y == nil {
			if x == nil {
				return y
			}
			return x
		}
		z := op(*x, *y)
		return &z
	}
	both := func(x, y *Expr, op func(x, y Expr) Expr) *Expr {
		if x == nil || y == nil {
			return nil
		}
		z := op(*x, *y)
		return &z
	}
	if name == "max" {
		k.lo, k.hi = some(vl, wl, a.facts.max), both(vh, wh, a.facts.max)
	} else {
		k.lo, k.hi = both(vl, wl, a.facts.min), some(vh, wh, a.facts.min)
	}
	sv, sw := a.size(v.sym), a.size(w.sym)
	if sv != nil && sw != nil {
		k.size = sv.max(sw, a.facts)
	}
	op := map[string]token.Token{"max": token.GEQ, "min": token.LEQ}[name]
	k.pieces = &pieces{comparison{op, v.sym, w.sym}, v.sym, w.sym}
	if lo, hi, ok := a.ordered(v.sym, w.sym); ok {
		k.env = map[string]env{"min": lo, "max": hi}[name]
	}
	return value{sym: a.hidden(name, k)}
}

// appended is append where the result is not put in the place of its first argument:
// the two may share memory, so neither is written to any more.
func (a *analysis) appended(f *frame, st *state, x *ast.CallExpr) value {
	v := a.expr(f, st, x.Args[0])
	if v.kind == plain && len(a.env(v.sym)) == 0 {
		v = a.alloc(st, object{size: same(env{})}) // nil
	}
	if v.kind != ref {
		a.fail(x, "a slice", "an append to what is not known")
	}
	ys := a.appendable(f, st, x)
	old := a.settled(st.heap[v.obj])
	if old.given {
		for _, y := range ys {
			if len(a.envs(st, y)[l1]) > 0 {
				a.fail(x, "a slice of its own", "private data are appended to a parameter, whose memory the caller sees")
			}
		}
	}
	o := *old
	o.slot, o.base, o.only, o.given = nil, "", nil, false
	w := a.alloc(st, o)
	a.grow(st, w.obj, ys, x)
	return w
}
