package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math/big"
	"slices"
)

// branch runs both branches of a conditional, with what follows it in each if k is
// given.
func (a *analysis) branch(f *frame, st *state, s *ast.IfStmt, k *rest) outcome {
	st = st.clone()
	if s.Init != nil {
		st = a.block(f, st, []ast.Stmt{s.Init}, nil).fall
	}
	if k == nil && a.swap(f, st, s) {
		return outcome{fall: st}
	}
	cond := a.number(st, a.expr(f, st, s.Cond), s.Cond)
	follow := func(st *state, list []ast.Stmt) outcome {
		if k == nil {
			return a.block(f, st, list, nil)
		}
		return a.block(f, st, list, k)
	}
	var other []ast.Stmt
	if s.Else != nil {
		other = []ast.Stmt{s.Else}
	}
	if n, ok := cond.sym.number(); ok {
		if n.Sign() != 0 {
			return follow(st, s.Body.List)
		}
		return follow(st, other)
	}
	id := a.next()
	cond.branch = id
	yes, no := st.clone(), st.clone()
	yes.under = append(yes.under, id)
	no.under = append(no.under, -id)
	o := a.merge(s, cond, st, follow(yes, s.Body.List), follow(no, other))
	for _, t := range []*state{o.fall, o.brk, o.cont} {
		if t != nil {
			t.under = st.under
		}
	}
	if o.ret != nil {
		o.ret.st.under = st.under
	}
	return o
}

// swap knows the conditional swap of two elements, `if q[i] > q[j] { q[i], q[j] =
// q[j], q[i] }`, and of two variables alike.
//
// Theorem. Sorting two numbers is 1-sensitive in every l_p norm (the rearrangement
// inequality); so no norm of the slice's distance grows.
func (a *analysis) swap(f *frame, st *state, s *ast.IfStmt) bool {
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || s.Else != nil || s.Init != nil || len(s.Body.List) != 1 {
		return false
	}
	set, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 2 || len(set.Rhs) != 2 {
		return false
	}
	switch cond.Op {
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
	default:
		return false
	}
	x, okx := cond.X.(*ast.IndexExpr)
	y, oky := cond.Y.(*ast.IndexExpr)
	if !okx || !oky || !simple(x) || !simple(y) || types.ExprString(x.X) != types.ExprString(y.X) {
		return false
	}
	l0, l1, r0, r1 := types.ExprString(set.Lhs[0]), types.ExprString(set.Lhs[1]), types.ExprString(set.Rhs[0]), types.ExprString(set.Rhs[1])
	u, v := types.ExprString(x), types.ExprString(y)
	if l0 != r1 || l1 != r0 || !(l0 == u && l1 == v || l0 == v && l1 == u) {
		return false
	}
	base := a.expr(f, st, x.X)
	if base.kind != ref || st.heap[base.obj].table || !numeric(elementType(f.pkg.Info.Types[x.X].Type)) {
		return false
	}
	o := st.heap[base.obj]
	if o.view || o.bag || o.slot != nil {
		return false
	}
	for _, i := range []ast.Expr{x.Index, y.Index} {
		if len(a.env(a.number(st, a.expr(f, st, i), i).sym)) > 0 {
			return false
		}
	}
	a.touch(base.obj, nil)
	a.update(st, base.obj, func(o *object) { o.base = "" })
	return true
}

// merge joins two outcomes. On a private condition both must end in the same way.
func (a *analysis) merge(at ast.Node, cond value, before *state, x, y outcome) outcome {
	if e := a.env(cond.sym); len(e) > 0 {
		ends := func(o outcome) (n int) {
			for i, is := range []bool{o.fall != nil, o.brk != nil, o.cont != nil, o.ret != nil} {
				if is {
					n |= 1 << i
				}
			}
			return n
		}
		if m := ends(x); m != ends(y) || m&(m-1) != 0 || m == 0 {
			a.fail(at, "a value that is chosen, and one way on", "what runs next depends on private data")
		}
	}
	switch {
	case x.survives() && !y.survives():
		return a.paid(before, x, y.died)
	case y.survives() && !x.survives():
		return a.paid(before, y, x.died)
	}
	var o outcome
	if x.died != nil && y.died != nil {
		o.died = x.died.clone()
		o.died.items = a.choice(before.items, x.died.items, y.died.items)
	}
	o.fall = a.joinedOr(before, at, cond, x.fall, y.fall)
	o.brk = a.joinedOr(before, at, cond, x.brk, y.brk)
	o.cont = a.joinedOr(before, at, cond, x.cont, y.cont)
	switch {
	case x.ret == nil:
		o.ret = y.ret
	case y.ret == nil:
		o.ret = x.ret
	default:
		// The values are variables of the states while these are joined.
		p := place{-1, nil}
		x.ret.st.vars[p], y.ret.st.vars[p] = x.ret.val, y.ret.val
		st := a.joinedOr(before, at, cond, x.ret.st, y.ret.st)
		o.ret = &result{st, st.vars[p]}
		delete(st.vars, p)
	}
	return o
}

func (o outcome) survives() bool {
	return o.fall != nil || o.brk != nil || o.cont != nil || o.ret != nil
}

// paid is an outcome beside one that ends in a panic: that tells of what was paid for
// until then.
func (a *analysis) paid(before *state, o outcome, died *state) outcome {
	if died == nil {
		return o
	}
	also := func(st *state) *state {
		if st == nil {
			return nil
		}
		st = st.clone()
		st.items = a.choice(before.items, died.items, st.items)
		return st
	}
	p := outcome{fall: also(o.fall), brk: also(o.brk), cont: also(o.cont)}
	if o.ret != nil {
		p.ret = &result{also(o.ret.st), o.ret.val}
	}
	return p
}

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
	for p, v := range x.vars {
		w, ok := y.vars[p]
		if !ok {
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
		u.fields, u.elems = map[string]value{}, nil
		for k, x := range v.fields {
			y, ok := w.fields[k]
			if !ok {
				return a.mixture(st, cond, v, w)
			}
			u.fields[k] = x
			if !equal(x, y) {
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
		for i := range v.elems {
			x := v.elems[i]
			if !equal(x, w.elems[i]) {
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
	if len(choice) > 0 && cond.test != nil && a.meets(v.sym.sub(w.sym), cond.test) {
		choice = nil
	}
	join := func(x, y Expr) Expr {
		k := known{env: a.env(x).max(a.env(y), a.facts).add(choice), whole: a.whole(x) && a.whole(y)}
		xl, xh := a.interval(x)
		yl, yh := a.interval(y)
		if cond != nil && cond.test != nil {
			xl, xh, yl, yh = a.narrowed(cond.test, x, y)
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

// onlyOf are the branches without which a number is 0 that is x in a branch, and y in the other.
func (a *analysis) onlyOf(branch int, x, y Expr) map[int]bool {
	switch {
	case len(y.terms) == 0:
		only := maps.Clone(a.only(x))
		if only == nil {
			only = map[int]bool{}
		}
		only[branch] = true
		return only
	case len(x.terms) == 0:
		return a.onlyOf(-branch, y, x)
	}
	return intersect(a.only(x), a.only(y))
}

// only are branches without which a number is 0: those that all its terms have a factor of.
func (a *analysis) only(e Expr) map[int]bool {
	var all map[int]bool
	for i, t := range e.terms {
		some := map[int]bool{}
		for _, p := range t.powers {
			if k := a.knowns[p.atom.name]; k != nil && p.halfs > 0 {
				maps.Copy(some, k.only)
			}
		}
		if i == 0 {
			all = some
		} else {
			all = intersect(all, some)
		}
	}
	return all
}

// narrowed uses that x is chosen where the comparison holds, and y where it does not.
func (a *analysis) narrowed(c *comparison, x, y Expr) (xl, xh, yl, yh *Expr) {
	switch c.op {
	case token.LSS, token.LEQ:
		xl, xh = a.intervalWhere(x, c.x, c.y)
		yl, yh = a.intervalWhere(y, c.y, c.x)
	case token.GTR, token.GEQ:
		xl, xh = a.intervalWhere(x, c.y, c.x)
		yl, yh = a.intervalWhere(y, c.x, c.y)
	default:
		xl, xh = a.interval(x)
		yl, yh = a.interval(y)
	}
	return xl, xh, yl, yh
}

// intervalWhere bounds e where u <= v.
func (a *analysis) intervalWhere(e, u, v Expr) (lo, hi *Expr) {
	lo, hi = a.interval(e)
	// e - r·(v - u) is a lower bound for r > 0, and an upper one for r < 0: where r is such
	// that nothing private is left in it.
	d := v.sub(u)
	for _, t := range e.terms {
		i := slices.IndexFunc(d.terms, func(s term) bool { return s.key() == t.key() })
		if i < 0 || len(a.termEnv(t)) == 0 {
			continue
		}
		r := new(big.Rat).Quo(t.coef, d.terms[i].coef)
		left := e.sub(d.mul(rat(r)))
		switch {
		case len(a.env(left)) > 0:
		case r.Sign() > 0 && lo == nil:
			lo = &left
		case r.Sign() < 0 && hi == nil:
			hi = &left
		}
	}
	if len(e.terms) != 1 || len(e.terms[0].powers) != 1 || lo != nil && hi != nil {
		return lo, hi
	}
	x := e.terms[0].powers[0].atom
	k := a.knowns[x.name]
	if k == nil || k.pieces == nil || !a.told() {
		return lo, hi
	}
	yes, ok1 := e.replace(x.name, k.pieces.yes)
	no, ok2 := e.replace(x.name, k.pieces.no)
	if !ok1 || !ok2 {
		return lo, hi
	}
	yl, yh := a.intervalWhere(yes, u, v)
	nl, nh := a.intervalWhere(no, u, v)
	if lo == nil && yl != nil && nl != nil {
		least := a.min(*yl, *nl)
		lo = &least
	}
	if hi == nil && yh != nil && nh != nil {
		most := a.max(*yh, *nh)
		hi = &most
	}
	return lo, hi
}

// meets reports whether d is 0 where the sides of the comparison are equal.
func (a *analysis) meets(d Expr, c *comparison) bool {
	u := c.x.sub(c.y)
	if len(d.terms) == 0 {
		return true
	}
	if len(u.terms) == 0 {
		return false
	}
	// d = r·u for r the ratio of the terms that match the first of u.
	for _, t := range d.terms {
		first := Expr{[]term{u.terms[0]}}
		inverse, ok := first.inverse()
		if !ok {
			return false
		}
		r := Expr{[]term{t}}.mul(inverse)
		for _, p := range r.terms[0].powers {
			if p.halfs < 0 || len(a.atomEnv(p.atom)) > 0 {
				r = Expr{}
				break
			}
		}
		if len(r.terms) > 0 && r.mul(u).is(d) {
			return true
		}
	}
	// A number that is one of two meets if each does, or is not what it is there.
	for _, t := range d.terms {
		for _, p := range t.powers {
			k := a.knowns[p.atom.name]
			if k == nil || k.pieces == nil {
				continue
			}
			if !a.told() {
				return false
			}
			for i, piece := range []Expr{k.pieces.yes, k.pieces.no} {
				if a.impossible(k.pieces.test, i == 0, c) {
					continue
				}
				e, ok := d.replace(p.atom.name, piece)
				if !ok || !a.meets(e, c) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// impossible reports whether a test cannot come out so where the sides of c are equal.
func (a *analysis) impossible(test comparison, holds bool, c *comparison) bool {
	x, y := test.x, test.y
	for _, side := range [][2]Expr{{c.x, c.y}, {c.y, c.x}} {
		from, to := side[0], side[1]
		if x.is(from) || y.is(from) {
			u, v := x, y
			if x.is(from) {
				u = to
			} else {
				v = to
			}
			if excluded(a, test.op, holds, u.sub(v)) {
				return true
			}
		}
		if len(from.terms) != 1 || len(from.terms[0].powers) != 1 || !from.is(atomic(from.terms[0].powers[0].atom)) {
			continue
		}
		name := from.terms[0].powers[0].atom.name
		u, ok1 := x.replace(name, to)
		v, ok2 := y.replace(name, to)
		if !ok1 || !ok2 {
			continue
		}
		if excluded(a, test.op, holds, u.sub(v)) {
			return true
		}
	}
	return false
}

// excluded reports whether d op 0 cannot come out so.
func excluded(a *analysis, op token.Token, holds bool, d Expr) bool {
	if holds {
		return op == token.GTR && a.isNonneg(d.neg()) || op == token.LSS && a.isNonneg(d)
	}
	return op == token.GEQ && a.isNonneg(d) || op == token.LEQ && a.isNonneg(d.neg())
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
		o.env[n] = x.env[n].max(y.env[n], a.facts)
		o.moved[n] = x.moved[n].max(y.moved[n], a.facts)
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
	o.view = x.view || y.view
	o.spare, o.given = x.spare || y.spare, x.given || y.given
	o.empty = x.empty && y.empty
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

var typesFloat = types.Typ[types.Float64]
