package sensitivity

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
)

// head is the state at the beginning of any iteration.
func (a *analysis) head(st *state, l *loop, c changes) *state {
	h := st.clone()
	h.items = nil
	for p := range c.vars {
		h.vars[p] = a.headValue(l, l.unknown(p), st.vars[p], p.obj.Type(), c, h)
	}
	for id := range c.objs {
		old := a.settled(st.heap[id])
		o := *old
		o.id = a.next()
		o.base = fmt.Sprintf("%s.base%d", l.name, id)
		o.moved, o.added, o.only, o.slot = [3]env{}, [3]env{}, nil, nil
		o.zero = o.zero && !l.bag && !c.mixed[id]
		o.empty = o.empty && !c.full[id]
		o.uneven = o.uneven || c.uneven[id]
		o.bag = o.bag || c.bags[id] // its length is private from the second iteration on
		if c.elems[id] {
			if o.elem = none; old.elem != nil {
				o.elem = &value{sym: a.hidden("row", known{})}
			}
		}
		o.size = [3]env{}
		for n := range o.env {
			name := fmt.Sprintf("%s.o%d.%d", l.name, id, n)
			l.initial[name] = old.env[n]
			o.env[n] = nil
			if c.private[name] || l.bag {
				o.env[n] = env{name: {most: one()}}
			}
		}
		keys := fmt.Sprintf("%s.o%d.keys", l.name, id)
		l.initial[keys] = old.keys
		if c.private[keys] || l.bag && o.table {
			o.keys = env{keys: {most: one()}}
		}
		if c.lengths[id] {
			o.length = a.hidden("len", known{lo: &Expr{}, whole: true})
		}
		h.heap[id] = &o
	}
	return h
}

func (a *analysis) headValue(l *loop, name string, v value, t types.Type, c changes, st *state) value {
	// A draw may be read in the first round, and behind the loop: it hides nothing any more.
	v = a.used(st, v, nil)
	switch v.kind {
	case plain:
		l.initial[name] = a.env(v.sym)
		k := known{whole: t != nil && isInteger(t)}
		if c.private[name] || l.bag {
			k.env = env{name: {most: one()}}
		}
		return value{sym: a.hidden(name, k)}
	case private:
		l.initial[name] = v.env
		v.env, v.id = nil, a.next()
		if c.private[name] {
			v.env = env{name: {most: one()}}
		}
		return v
	case record, tuple:
		w := v
		w.fields = map[string]value{}
		for k, x := range v.fields {
			w.fields[k] = a.headValue(l, name+"."+k, x, nil, c, st)
		}
		w.elems = nil
		for i, x := range v.elems {
			w.elems = append(w.elems, a.headValue(l, fmt.Sprint(name, ".", i), x, nil, c, st))
		}
		return w
	}
	return v
}

// equal reports whether two values are the same, whatever the records.
func equal(v, w value) bool {
	if v.kind != w.kind || len(v.fields) != len(w.fields) || len(v.elems) != len(w.elems) {
		return false
	}
	switch v.kind {
	case plain:
		return v.sym.is(w.sym)
	case ref:
		return v.obj == w.obj
	case noisy:
		return v.draw.id == w.draw.id && v.draw.sign == w.draw.sign
	case function:
		if (v.fn.self == nil) != (w.fn.self == nil) || v.fn.self != nil && !equal(*v.fn.self, *w.fn.self) {
			return false
		}
		return v.fn.body == w.fn.body && v.fn.frame == w.fn.frame && v.fn.name == w.fn.name
	case private:
		if len(v.env) != len(w.env) {
			return false
		}
		for s, b := range v.env {
			c, ok := w.env[s]
			if !ok || (b.infinite == nil) != (c.infinite == nil) || !b.most.is(c.most) {
				return false
			}
		}
		return v.id == w.id && samePath(v.path, w.path) && sameRoots(v.roots, w.roots)
	case divided, mechanical, source:
		return v.id == w.id
	}
	for k := range v.fields {
		if x, ok := w.fields[k]; !ok || !equal(v.fields[k], x) {
			return false
		}
	}
	for i := range v.elems {
		if !equal(v.elems[i], w.elems[i]) {
			return false
		}
	}
	return v.name == w.name && v.base == w.base
}

func sameRoots(x, y map[string]env) bool {
	if len(x) != len(y) {
		return false
	}
	for r, e := range x {
		if f, ok := y[r]; !ok || !sameEnv(e, f) {
			return false
		}
	}
	return true
}

// iterate finds what the body changes, and runs it from a head that fits.
func (a *analysis) iterate(f *frame, st *state, count Expr, at ast.Node, run func(h *state, l *loop) outcome, bag bool) (*loop, *state, *state, outcome, changes) {
	c := changes{map[place]bool{}, map[int]bool{}, map[int]bool{}, map[place]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}, map[string]bool{}}
	for range 20 {
		l := a.newLoop(count)
		l.bag = bag
		// Names of unknowns stay the same over the rounds.
		l.name = fmt.Sprintf("·%d.%d", at.Pos(), len(a.stack))
		h := a.head(st, l, c)
		before := h.clone()
		a.stack = append(a.stack, l)
		o := run(h, l)
		a.stack = a.stack[:len(a.stack)-1]
		var end *state
		again := false
		for _, s := range []*state{o.cont, o.brk, o.fall} {
			if s == nil {
				continue
			}
			if a.renamed(l, st, s, c, at) {
				again = true
				continue
			}
			if end == nil {
				end = s
				continue
			}
			paid := a.choice(before.items, end.items, s.items) // before joined takes them off
			end = a.joined(before, nil, end, s)
			end.items = paid
		}
		if again {
			continue
		}
		if end == nil {
			return l, before, nil, o, c
		}
		stable := true
		for p, v := range before.vars {
			w, ok := end.vars[p]
			if _, outer := st.vars[p]; !outer {
				continue
			}
			if !ok {
				a.fail(at, "a variable of its own for the loop", "%s has no value behind the body of a loop", p.obj.Name())
			}
			if !equal(v, w) && !c.vars[p] {
				c.vars[p], stable = true, false
			}
		}
		for id, o := range before.heap {
			if _, outer := st.heap[id]; outer && end.heap[id] != o && !c.objs[id] {
				c.objs[id], stable = true, false
			}
			if o.zero && l.mixed[id] && !c.mixed[id] {
				c.mixed[id], stable = true, false
			}
			if _, outer := st.heap[id]; outer && c.objs[id] && a.uneven(end.heap[id]) && !c.uneven[id] && !(end.heap[id].base == o.base && end.heap[id].put == "+=") { // numbers that are added change no row
				c.uneven[id], stable = true, false
			}
			if _, outer := st.heap[id]; outer && end.heap[id].bag && !o.bag {
				c.bags[id], stable = true, false
			}
			if e, outer := end.heap[id], st.heap[id] != nil; outer && o.empty && e.varied && !c.full[id] {
				c.full[id], stable = true, false
			}
			if _, outer := st.heap[id]; outer && (o.elem != nil && !bag || o.elem == nil && !end.heap[id].bag) && end.heap[id].elem != o.elem && !c.elems[id] {
				c.elems[id], stable = true, false
			}
			if _, outer := st.heap[id]; outer && c.objs[id] && !end.heap[id].length.is(o.length) && !c.lengths[id] {
				c.lengths[id], stable = true, false
			}
		}
		if !bag {
			for name, e := range a.unknowns(l, before, end, c) {
				if len(e) > 0 && !c.private[name] {
					c.private[name], stable = true, false
				}
			}
			for name, e := range l.initial {
				if len(e) > 0 && !c.private[name] {
					c.private[name], stable = true, false
				}
			}
		}
		if stable {
			for p := range c.vars {
				a.carried(before.vars[p], end.vars[p], at)
			}
			return l, before, end, o, c
		}
	}
	a.fail(at, "", "the effect of the loop does not settle")
	return nil, nil, nil, outcome{}, c
}

// carried refuses what is handed from one iteration to the next and is no number.
func (a *analysis) carried(head, end value, at ast.Node) {
	switch {
	case end.kind == noisy:
		a.fail(at, "a draw where it is used", "a draw is kept for the next iteration")
	case head.kind != end.kind, end.kind == function, end.kind == divided, end.kind == source, end.kind == mechanical,
		end.kind == private && (!samePath(head.path, end.path) || !sameRoots(head.roots, end.roots)):
		if !equal(head, end) {
			a.fail(at, "numbers, slices and structs of them", "what a variable holds that is no number changes in a loop")
		}
	}
	for k, v := range end.fields {
		if v.kind == ref && v.obj != head.fields[k].obj {
			a.fail(at, "a variable for each slice", "a slice in a struct is set in a loop")
		}
		if _, ok := head.fields[k]; !ok {
			a.fail(at, "a struct that is written out", "a field is set in a loop first")
		}
		a.carried(head.fields[k], v, at)
	}
	for i, v := range end.elems {
		if v.kind == ref && (i >= len(head.elems) || v.obj != head.elems[i].obj) {
			a.fail(at, "a variable for each slice", "a slice in a struct is set in a loop")
		}
		if i < len(head.elems) {
			a.carried(head.elems[i], v, at)
		}
	}
}

// renamed lets variables of a body's end keep the objects of its head, where a new
// one took the place of an old one. A variable whose object is held elsewhere too is
// given one of its own before the loop, and neither is written to any more; it then
// reports that.
func (a *analysis) renamed(l *loop, st, end *state, c changes, at ast.Node) (again bool) {
	for p := range end.vars {
		if _, outer := st.vars[p]; !outer {
			delete(end.vars, p)
		}
	}
	for p, v := range st.vars {
		w, ok := end.vars[p]
		if v.kind != ref || !ok || w.kind != ref || v.obj == w.obj {
			continue
		}
		if a.references(st, v.obj) > 1 && !c.copies[p] {
			c.copies[p] = true
			a.touch(v.obj, nil)
			o := *a.settled(st.heap[v.obj])
			o.slot, o.base, o.only = nil, "", nil
			st.vars[p] = a.alloc(st, o)
			again = true
			continue
		}
		if _, old := st.heap[w.obj]; old || a.references(end, w.obj) != 1 || a.references(end, v.obj) != 0 {
			a.fail(at, "a slice of its own for each variable", "two slices change places in a loop, or are shared by variables")
		}
		a.touch(v.obj, nil)
		l.mixed[v.obj] = true
		o := *a.settled(end.heap[w.obj])
		o.id, o.base, o.slot = a.next(), "", nil
		end.heap[v.obj] = &o
		end.vars[p] = v
	}
	return again
}

// unknowns returns how far everything that is changed moves at the end of a body.
func (a *analysis) unknowns(l *loop, head, end *state, c changes) map[string]env {
	out := map[string]env{}
	var walk func(name string, v, w value)
	walk = func(name string, v, w value) {
		switch w.kind {
		case plain:
			out[name] = a.env(w.sym)
			l.ends[name] = w.sym
		case private:
			out[name] = w.env
		case record, tuple:
			for k := range w.fields {
				walk(name+"."+k, v.fields[k], w.fields[k])
			}
			for i := range w.elems {
				walk(fmt.Sprint(name, ".", i), value{}, w.elems[i])
			}
		}
	}
	for p := range c.vars {
		walk(l.unknown(p), head.vars[p], end.vars[p])
	}
	for id := range c.objs {
		o := end.heap[id]
		slotted := o.slot != nil && o.slot.written
		for n := range o.env {
			name := fmt.Sprintf("%s.o%d.%d", l.name, id, n)
			out[name] = o.env[n]
			if slotted {
				out[name] = out[name].add(a.env(o.slot.val.sym))
			}
		}
		out[fmt.Sprintf("%s.o%d.keys", l.name, id)] = o.keys
	}
	return out
}

// publicLoop runs a loop whose count, and whose condition, are public.
func (a *analysis) publicLoop(f *frame, st *state, count Expr, cond ast.Expr, body *ast.BlockStmt, post ast.Stmt, fixed []place, bind func(h *state, l *loop)) (*state, *result) {
	run := func(h *state, l *loop) outcome {
		most := count.sub(one())
		l.index = a.hidden("i", known{lo: &Expr{}, most: &most, whole: true})
		l.whole, l.post = cond == nil, post
		bind(h, l)
		if cond != nil {
			before := h.clone()
			c := a.number(h, a.expr(f, h, cond), cond)
			if vars, objs := changed(before, h); len(vars) > 0 || len(objs) > 0 {
				a.fail(cond, "a condition that changes nothing", "what a loop is left with is set by its condition, once more than its body runs")
			}
			if e := a.env(c.sym); len(e) > 0 {
				a.fail(cond, "a fixed number of iterations", "how often a loop runs depends on private data")
			}
		}
		k := &rest{body: true}
		if post != nil {
			k = &rest{list: []ast.Stmt{post}, next: k}
		}
		return a.block(f, h, body.List, k)
	}
	l, head, end, o, c := a.iterate(f, st, count, body, run, false)
	if o.ret != nil {
		a.left(f, st, head, o.ret.st, body)
	}
	if end == nil {
		// The body always returns.
		if o.ret == nil {
			a.fail(body, "a condition on what panics", "the body of a loop always panics")
		}
		after := st.clone()
		ret := &result{st: st.clone()}
		ret.val = a.general(l, o.ret.st, ret.st, o.ret.val)
		ret.st.items = append(ret.st.items, a.repeated(l, o.ret.st.items)...)
		ret.spend(o.ret.st)
		return after, ret
	}
	if p := l.step; len(l.index.terms) > 0 && p.obj != nil && o.cont != nil {
		d := o.cont.vars[p].sym.sub(head.vars[p].sym)
		if n, ok := d.number(); !ok || n.Cmp(l.stride) != 0 {
			a.fail(body, "for i := range n", "the body changes what the loop counts with")
		}
	}
	for _, p := range fixed {
		v, before := head.vars[p]
		w, now := end.vars[p]
		if now && w.kind == plain && w.sym.is(l.index) {
			continue
		}
		if before && now && (!equal(v, w) || resized(head, end, v)) {
			a.fail(body, "for i := range n", "the body changes what the loop counts with")
		}
	}
	a.solve(l, a.unknowns(l, head, end, c), head, end, c, body)
	after := st.clone()
	after.spent = maps.Clone(end.spent)
	for p := range c.vars {
		after.vars[p] = a.afterValue(l, st.vars[p], head.vars[p], end.vars[p], l.unknown(p), o.brk != nil || cond != nil)
	}
	for id := range c.objs {
		after.heap[id] = a.afterObject(l, id, a.settled(st.heap[id]), head.heap[id], end.heap[id], o.brk != nil || cond != nil || o.ret != nil)
		a.where(st, after.heap[id])
	}
	after.items = append(after.items, a.repeated(l, end.items)...)
	if o.ret == nil {
		return after, nil
	}
	ret := &result{after.clone(), value{}}
	ret.spend(o.ret.st)
	ret.val = a.general(l, o.ret.st, ret.st, o.ret.val)
	if !prefix(o.ret.st.items, end.items) {
		ret.st.items = append(ret.st.items, a.repeated(l, o.ret.st.items)...)
	}
	return after, ret
}

// spend takes over which draws were used.
func (r *result) spend(st *state) { maps.Copy(r.st.spent, st.spent) }

// left refuses what an iteration that returns leaves behind outside of its function: a
// state after a loop is of those that do not.
func (a *analysis) left(f *frame, st, head, ret *state, at ast.Node) {
	vars, objs := changed(head, ret)
	for p, v := range head.vars {
		if _, outer := st.vars[p]; !outer || p.frame == f.id {
			continue
		}
		if vars[p] || holds(v, objs) {
			a.fail(at, "a variable that is set, and one return at the end", "%s is changed where a function returns from a loop", p.obj.Name())
		}
	}
	for id := range objs {
		if objs[id] && head.heap[id].given {
			a.fail(at, "one return at the end", "a parameter is written to where a function returns from a loop")
		}
	}
}

// general is a value of one iteration, as that of any.
func (a *analysis) general(l *loop, from, to *state, v value) value {
	switch v.kind {
	case plain:
		e := a.lift(l, a.substituted(l, a.env(v.sym)), linf)
		return value{sym: a.hidden("value", known{env: e, whole: a.whole(v.sym)})}
	case ref:
		o := *a.settled(from.heap[v.obj])
		for n := range o.env {
			o.env[n] = a.lift(l, a.substituted(l, o.env[n]), n)
		}
		o.size, o.base, o.slot, o.view = [3]env{}, "", nil, true
		return a.alloc(to, o)
	case tuple, record:
		w := v
		w.elems, w.fields = nil, map[string]value{}
		for _, x := range v.elems {
			w.elems = append(w.elems, a.general(l, from, to, x))
		}
		for k, x := range v.fields {
			w.fields[k] = a.general(l, from, to, x)
		}
		return w
	}
	return v
}
