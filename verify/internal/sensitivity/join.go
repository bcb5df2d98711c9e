package sensitivity

import (
	"go/ast"
	"slices"
)

func (a *analysis) joinedOr(before *state, at ast.Node, cond value, x, y *state) *state {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	e := a.env(cond.sym)
	if len(e) > 0 && (len(x.items) != len(y.items) || len(x.items) != len(before.items) || len(x.spent) != len(before.spent) || len(y.spent) != len(before.spent)) {
		a.fail(at, "noise first, and then the decision", "whether noise is drawn depends on private data")
	}
	st := a.joined(before, &cond, x, y)
	st.items = a.choice(before.items, x.items, y.items)
	return st
}

// joined is a state that is one of two. Which it is depends on a condition.
func (a *analysis) joined(before *state, cond *value, x, y *state) *state {
	st := before.clone()
	st.vars = map[place]value{}
	st.heap = map[int]*object{}
	for id := range y.spent {
		st.spent[id] = true
	}
	for id := range x.spent {
		st.spent[id] = true
	}
	for id, o := range x.heap {
		st.heap[id] = o
	}
	for id, o := range y.heap {
		if p, ok := st.heap[id]; ok && p != o {
			o = a.joinedObject(before.heap[id], cond, p, o)
		}
		st.heap[id] = o
	}
	for p, v := range a.exchangedVars(cond, x, y) {
		st.vars[p] = v
	}
	for p, v := range x.vars {
		w, ok := y.vars[p]
		if _, done := st.vars[p]; !ok || done {
			continue
		}
		if !equal(v, w) {
			var old *value
			if b, ok := before.vars[p]; ok {
				old = &b
			}
			v = a.joinedValue(st, old, cond, v, w)
		}
		st.vars[p] = v
	}
	return st
}

// depends is what a choice between two depends on by the condition.
func (a *analysis) depends(cond *value) env {
	if cond == nil {
		return nil
	}
	return a.env(cond.sym).infinite(&Refusal{Reason: "a branch on private data", Hint: "clamp with min and max, or add noise before the comparison"})
}

func (a *analysis) joinedValue(st *state, old, cond *value, v, w value) value {
	if v.kind == noisy {
		v = a.used(st, v, nil)
	}
	if w.kind == noisy {
		w = a.used(st, w, nil)
	}
	// nil is a slice of nothing.
	if v.kind == plain && w.kind == ref && len(a.env(v.sym)) == 0 {
		v = a.alloc(st, object{size: same(env{})})
	}
	if w.kind == plain && v.kind == ref && len(a.env(w.sym)) == 0 {
		w = a.alloc(st, object{size: same(env{})})
	}
	switch {
	case v.kind != w.kind:
		v, w = a.handed(st, v, nil), a.handed(st, w, nil)
		e := a.envs(st, v)[l1].add(a.envs(st, w)[l1]).add(a.depends(cond))
		if len(e) == 0 && v.kind != private && w.kind != private && v.kind != ref && w.kind != ref && v.kind != function && w.kind != function {
			return a.public("value")
		}
	case v.kind == plain:
		return a.joinedNumber(old, cond, v, w)
	case v.kind == record || v.kind == tuple:
		u := v
		if v.base != w.base {
			u.base = a.hidden("record", known{}).String() // of its other fields nothing is known
		}
		u.fields, u.elems = map[string]value{}, nil
		moved := exchanged(a, cond, sortedKeys(v.fields), v.fields, w.fields)
		for k, x := range v.fields {
			y, ok := w.fields[k]
			if !ok {
				return a.mixture(st, cond, v, w)
			}
			u.fields[k] = x
			if z, ok := moved[k]; ok {
				u.fields[k] = z
			} else if !equal(x, y) {
				var o *value
				if old != nil && old.kind == record {
					if f, ok := old.fields[k]; ok {
						o = &f
					}
				}
				u.fields[k] = a.joinedValue(st, o, cond, x, y)
			}
		}
		if len(v.fields) != len(w.fields) || len(v.elems) != len(w.elems) {
			return a.mixture(st, cond, v, w)
		}
		keys, firsts := numbered(v.elems)
		_, seconds := numbered(w.elems)
		swapped := exchanged(a, cond, keys, firsts, seconds)
		for i := range v.elems {
			x := v.elems[i]
			if z, ok := swapped[i]; ok {
				x = z
			} else if !equal(x, w.elems[i]) {
				x = a.joinedValue(st, nil, cond, x, w.elems[i])
			}
			u.elems = append(u.elems, x)
		}
		return u
	case v.kind == ref:
		x, y := st.heap[v.obj], st.heap[w.obj]
		o := *a.joinedObject(nil, cond, x, y)
		return a.alloc(st, o)
	case v.kind == private && samePath(v.path, w.path) && len(a.depends(cond)) == 0:
		v.env = v.env.max(w.env, a.facts)
		roots := map[string]env{}
		for _, side := range []map[string]env{v.roots, w.roots} {
			for r, e := range side {
				roots[r] = roots[r].max(e, a.facts)
			}
		}
		v.roots, v.id = roots, a.next()
		return v
	}
	a.fail(nil, "one kind of value whatever the branch", "a variable holds one of two things that are not numbers")
	return value{}
}

func (a *analysis) mixture(st *state, cond *value, v, w value) value {
	v, w = a.handed(st, v, nil), a.handed(st, w, nil)
	e := a.envs(st, v)[l1].add(a.envs(st, w)[l1]).add(a.depends(cond))
	if len(e) == 0 {
		return a.public("value")
	}
	return a.opaque("value", e, &Refusal{Reason: "one of two structs"})
}

// joinedNumber is one of two numbers.
//
// Theorem. Let f be g where u < v and h elsewhere, g, h, u, v continuous in what the
// numbers are made of, and g = h where u = v. On the segment between two arguments f
// is made of pieces of g and of h, so that it moves no further than the larger of
// their bounds. For g - h = r·(u - v) this holds. (Clamps, absolute values, maxima.)
func (a *analysis) joinedNumber(old, cond *value, v, w value) value {
	choice := a.depends(cond)
	if c := shared(v.sym, w.sym); old == nil && len(c.terms) > 0 && a.amongRecords() {
		old = &value{sym: c} // what a record adds is told apart from the sum
	}
	if len(choice) > 0 && cond.test != nil && a.meets(v.sym.sub(w.sym), cond.test) {
		choice = nil
	}
	join := func(x, y Expr) Expr {
		if z, ok := a.clippedWhere(cond, x, y); ok {
			return z
		}
		k := known{env: a.larger(a.env(x), a.env(y)).add(choice), whole: a.whole(x) && a.whole(y)}
		xl, xh := a.interval(x)
		yl, yh := a.interval(y)
		if cond != nil && cond.test != nil {
			xl, xh, yl, yh = a.narrowed(cond.test, x, y)
		} else if cond != nil {
			xl, xh = a.intervalBy(cond.yes, x)
			yl, yh = a.intervalBy(cond.no, y)
		}
		if xl != nil && yl != nil {
			lo := a.min(*xl, *yl)
			k.lo = &lo
		}
		if xh != nil && yh != nil {
			hi := a.max(*xh, *yh)
			k.hi = &hi
		}
		sx, sy := a.size(x), a.size(y)
		if sx != nil && sy != nil {
			k.size = sx.max(sy, a.facts)
		}
		if cond != nil && cond.test != nil {
			k.pieces = &pieces{*cond.test, x, y}
		}
		if cond != nil && cond.branch != 0 {
			k.only = a.onlyOf(cond.branch, x, y)
		}
		return a.hidden("join", k)
	}
	if lo, hi := a.publicJoin(cond, v.sym, w.sym); len(choice) == 0 && (lo != nil || hi != nil) {
		one := join(v.sym, w.sym)
		x := one.terms[0].powers[0].atom
		k := a.knowns[x.name]
		k.lo, k.hi = lo, hi
		if lo != nil {
			x.nonneg, x.positive = a.isNonneg(*lo), a.isPositive(*lo)
		}
		return value{sym: one}
	}
	if old != nil && old.kind == plain && len(old.sym.terms) > 0 {
		// What is added in the branches, if what was there stays as it is.
		x, y := v.sym.sub(old.sym), w.sym.sub(old.sym)
		stays := true
		for _, t := range old.sym.terms {
			for _, p := range t.powers {
				if e := a.atomEnv(p.atom); len(e) > 0 {
					stays = stays && !x.has(p.atom.name) && !y.has(p.atom.name)
				}
			}
		}
		if stays {
			return value{sym: old.sym.add(join(x, y))}
		}
	}
	return value{sym: join(v.sym, w.sym)}
}

// publicJoin bounds what is one of two public numbers, by parameters.
func (a *analysis) publicJoin(cond *value, x, y Expr) (lo, hi *Expr) {
	if len(a.env(x)) > 0 || len(a.env(y)) > 0 {
		return nil, nil
	}
	var yes, no []comparison
	if cond != nil {
		yes, no = cond.known(true), cond.known(false)
	}
	xl, xh := a.publicWhere(yes, x)
	yl, yh := a.publicWhere(no, y)
	return a.hull(xl, xh, yl, yh)
}

// joinedObject is one of two contents.
func (a *analysis) joinedObject(before *object, cond *value, x, y *object) *object {
	choice := a.depends(cond)
	o := *x
	o.id = a.next()
	if (x.slot == nil) != (y.slot == nil) || x.slot != nil && x.slot.loop != y.slot.loop {
		x, y = a.slotted(x, y), a.slotted(y, x)
	}
	o.slot = nil
	if x.slot != nil && y.slot != nil && x.slot.loop == y.slot.loop {
		v, w := x.slot.val, y.slot.val
		if !equal(v, w) {
			var old *value
			if before != nil && before.slot != nil {
				old = &before.slot.val
			} else if l := a.top(); before != nil && l != nil && l.id == x.slot.loop {
				if cell, ok := l.cells[before.id]; ok {
					old = &cell
				}
			}
			if v.kind != plain || w.kind != plain {
				a.fail(nil, "", "an element is one of two things that are not numbers")
			}
			v = a.joinedNumber(old, cond, v, w)
		}
		if x.slot.appended != y.slot.appended {
			a.fail(nil, "an element that is set in every branch", "an element is appended in some branches only")
		}
		o.slot = &slot{loop: x.slot.loop, val: v, written: x.slot.written || y.slot.written, always: x.slot.always && y.slot.always, appended: x.slot.appended, at: o.id, under: o.id}
		if x.rest() == y.rest() {
			o.slot.under = x.rest()
		}
	}
	changed := func(z *object) bool {
		for n := range z.added {
			if len(z.added[n]) > 0 {
				return true
			}
		}
		return false
	}
	unequal := x.base == "" || x.base != y.base || changed(x) || changed(y)
	for n := range o.env {
		o.env[n] = a.larger(x.env[n], y.env[n])
		o.moved[n] = a.larger(x.moved[n], y.moved[n])
		o.added[n] = x.added[n].max(y.added[n], a.facts)
		if unequal && (o.slot == nil || x.rest() != y.rest()) {
			o.env[n] = o.env[n].add(choice)
			o.moved[n] = o.moved[n].add(choice)
		}
		if x.size[n] == nil || y.size[n] == nil {
			o.size[n] = nil
		} else {
			o.size[n] = x.size[n].max(y.size[n], a.facts)
		}
	}
	o.keys = x.keys.max(y.keys, a.facts)
	if len(choice) > 0 && x.table {
		o.keys = o.keys.add(choice)
	}
	switch {
	case changed(x) && changed(y):
		o.only = intersect(x.only, y.only)
	case changed(y):
		o.only = y.only
	default:
		o.only = x.only
	}
	if x.base != y.base {
		o.base = ""
	}
	o.bag = x.bag || y.bag
	for _, z := range []*object{x, y} {
		if o.bag && !z.bag {
			// Numbers that move are other records.
			for n := range o.env {
				o.env[n] = o.env[n].add(z.env[n].infinite(&Refusal{Reason: "records, or numbers that depend on private data", Hint: "a slice for each"}))
			}
		}
	}
	if x.made != y.made {
		o.made = 0
	}
	o.view, o.zero = x.view || y.view, x.zero && y.zero
	o.spare, o.given = x.spare || y.spare, x.given || y.given
	o.uneven = x.uneven || y.uneven
	o.empty, o.varied = x.empty && y.empty, x.varied || y.varied || x.put != y.put && x.put != "" && y.put != ""
	o.elem = a.either(x.elem, y.elem)
	if x.put != y.put && x.put != "" && y.put != "" {
		o.base, o.put = "", "+="
	} else if x.put == "" {
		o.put = y.put
	}
	if !x.length.is(y.length) && !o.bag {
		if len(choice) > 0 {
			// Its length is private: nothing is known of where things stand.
			o.bag, o.base = true, ""
			for n := range o.env {
				o.env[n] = o.env[n].add(choice)
			}
		} else {
			o.length = a.hidden("len", known{lo: &Expr{}, whole: true})
		}
	}
	return &o
}

// slotted gives x the slot that y has.
func (a *analysis) slotted(x, y *object) *object {
	if x.slot != nil || y.slot == nil {
		return x
	}
	l := a.top()
	if l == nil || l.id != y.slot.loop {
		a.fail(nil, "an element that is set in every branch", "an element is set in some branches only")
	}
	o := *x
	o.slot = &slot{loop: l.id, appended: y.slot.appended, at: o.id, under: o.id}
	if y.slot.appended {
		o.slot.val = y.slot.val // if any is
		return &o
	}
	cell, ok := l.cells[x.id]
	if !ok {
		cell = a.cell(&state{heap: map[int]*object{}}, l, x, typesFloat)
	}
	o.slot.val = cell
	return &o
}

// shared are the terms that two numbers have alike.
func shared(x, y Expr) (c Expr) {
	for _, t := range x.terms {
		if slices.ContainsFunc(y.terms, func(u term) bool { return u.key() == t.key() && u.coef.Cmp(t.coef) == 0 }) {
			c = c.add(Expr{[]term{t}})
		}
	}
	return c
}
