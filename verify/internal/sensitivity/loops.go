package sensitivity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
)

// A loop is one that is being analysed.
//
// What a loop does to the distance of its variables is a linear recurrence: the body
// is run once from a head where every variable that it changes moves by an unknown
// of its own. The recurrence is solved where each unknown depends on itself with a
// factor of at most 1, and on others that are solved before it; everything else is
// infinite.
type loop struct {
	id    int
	name  string
	bag   bool   // over private records
	row   string // the source that stands for a record
	rows  int    // the records, as they are before the loop
	place Expr   // where the record of an iteration stands
	at    value  // that record
	index Expr   // is different in each iteration, if there is one
	count Expr   // how often the body runs at most, which is not negative
	exact Expr   // the same, as it is written: it may be negative where the loop is not reached
	whole bool   // the index begins at 0
	mark  int    // atoms with a larger serial belong to one iteration
	cells map[int]value
	own   map[int]bool // objects of which something at the index was read or set
	mixed map[int]bool
	split map[int]string // of splits that a part of takes the place of what was split: that part

	ends    map[string]Expr // what changed numbers are at the end of the body
	initial map[string]env  // of the unknowns
	solved  map[string]env
	reach   env // of a loop over private records: what anything that it changes depends on
}

// changes are what a body changes.
type changes struct {
	vars    map[place]bool
	objs    map[int]bool
	lengths map[int]bool    // objects whose length changes
	copies  map[place]bool  // slices that are given an object of their own before the loop
	bags    map[int]bool    // objects that the body makes multisets of
	elems   map[int]bool    // multisets that the body puts other records in
	private map[string]bool // unknowns that are not public
}

func (a *analysis) loop(f *frame, st *state, s ast.Stmt) (*state, *result) {
	switch s := s.(type) {
	case *ast.RangeStmt:
		return a.rangeLoop(f, st, s)
	case *ast.ForStmt:
		return a.forLoop(f, st, s)
	}
	return st, nil
}

func (a *analysis) newLoop(count Expr) *loop {
	id := a.next()
	exact := count
	if !a.isNonneg(count) {
		// What a distance is bounded by is added to others, where the loop is not reached too.
		count = a.max(count, Expr{})
	}
	return &loop{id: id, name: fmt.Sprintf("·l%d", id), count: count, exact: exact, mark: id,
		own: map[int]bool{}, cells: map[int]value{}, mixed: map[int]bool{}, split: map[int]string{}, ends: map[string]Expr{}, initial: map[string]env{}, solved: map[string]env{}}
}

// unknown names that of a variable.
func (l *loop) unknown(p place) string {
	return fmt.Sprintf("%s.%s·%d·%d", l.name, p.obj.Name(), p.obj.Pos(), p.frame)
}

// bind sets the variables of a range.
func (a *analysis) bind(f *frame, st *state, x ast.Expr, v value) {
	if x == nil {
		return
	}
	if id, ok := x.(*ast.Ident); ok && id.Name == "_" {
		return
	}
	a.assign(f, st, x, v, x)
}

func (a *analysis) rangeLoop(f *frame, st *state, s *ast.RangeStmt) (*state, *result) {
	v := a.expr(f, st, s.X)
	t := f.pkg.Info.Types[s.X].Type
	switch v.kind {
	case ref:
		o := a.settled(st.heap[v.obj])
		if o.bag {
			a.touch(v.obj, nil)
			return a.bagLoop(f, st, s, o)
		}
		a.touch(v.obj, nil)
		count := o.length
		if o.table {
			if len(o.keys) > 0 {
				return a.privateLoop(f, st, s, s.Body, o.keys)
			}
			count = a.hidden("len", known{lo: &Expr{}, whole: true})
		}
		elem := elementType(t)
		return a.publicLoop(f, st, count, nil, s.Body, nil, nil, func(h *state, l *loop) {
			if _, array := t.Underlying().(*types.Array); array && s.Value != nil {
				// A range over an array sees a copy.
				if l.mixed[v.obj] {
					a.fail(s, "a range over a slice, or over indices", "a range over an array that its body changes")
				}
			}
			a.keyed(l, t)
			a.bind(f, h, s.Key, value{sym: l.index})
			if s.Value != nil {
				a.bind(f, h, s.Value, a.element(h, v.obj, value{sym: l.index}, nil, elem, s))
			}
		})
	case divided:
		return a.publicLoop(f, st, v.fields["count"].sym, nil, s.Body, nil, nil, func(h *state, l *loop) {
			a.bind(f, h, s.Key, value{sym: l.index})
			a.bind(f, h, s.Value, a.partOf(v, value{sym: l.index}))
		})
	case plain:
		if e := a.env(v.sym); len(e) > 0 {
			return a.privateLoop(f, st, s, s.Body, e)
		}
		if t != nil && isInteger(t) {
			count := v.sym
			if !a.isNonneg(count) {
				count = a.max(count, Expr{})
			}
			return a.publicLoop(f, st, count, nil, s.Body, nil, nil, func(h *state, l *loop) {
				a.bind(f, h, s.Key, value{sym: l.index})
			})
		}
		switch t.Underlying().(type) {
		case *types.Signature, *types.Chan:
			a.fail(s, "a range over a slice", "a range over what is no slice, map or integer")
		}
		count := a.hidden("count", known{lo: &Expr{}, whole: true})
		return a.publicLoop(f, st, count, nil, s.Body, nil, nil, func(h *state, l *loop) {
			a.keyed(l, t)
			a.bind(f, h, s.Key, value{sym: l.index})
			a.bind(f, h, s.Value, a.public("element"))
		})
	}
	a.fail(s, "a range over a slice, map or integer", "a range that is not of the subset")
	return nil, nil
}

// keyed makes the index of a loop over a map the key of its round: each is another one, and
// any.
func (a *analysis) keyed(l *loop, t types.Type) {
	m, ok := core(t).(*types.Map)
	if !ok {
		return
	}
	l.index = a.hidden("key", known{whole: isInteger(m.Key())})
	l.whole = false
}

func (a *analysis) forLoop(f *frame, st *state, s *ast.ForStmt) (*state, *result) {
	st = st.clone()
	if s.Init != nil {
		o := a.block(f, st, []ast.Stmt{s.Init}, nil)
		st = o.fall
	}
	if after, ret, ok := a.counted(f, st, s); ok {
		return after, ret
	}
	count := a.hidden("count", known{lo: &Expr{}, whole: true})
	return a.publicLoop(f, st, count, s.Cond, s.Body, s.Post, nil, func(h *state, l *loop) { l.index = Expr{} })
}

// counted runs for i := a; i < b && i <= c; i++, where the body leaves i alone and the bounds
// are fixed: as often as the least of them says.
func (a *analysis) counted(f *frame, st *state, s *ast.ForStmt) (*state, *result, bool) {
	inc, ok := s.Post.(*ast.IncDecStmt)
	if !ok || inc.Tok != token.INC {
		return nil, nil, false
	}
	id, ok := inc.X.(*ast.Ident)
	if !ok || s.Cond == nil {
		return nil, nil, false
	}
	obj := f.pkg.Info.Uses[id]
	p := place{f.id, obj}
	first, ok := st.vars[p]
	if !ok || !isInteger(obj.Type()) || first.kind != plain || len(a.env(first.sym)) > 0 {
		return nil, nil, false
	}
	var count Expr
	fixed := []place{p}
	for i, c := range conjuncts(s.Cond) {
		cond, ok := c.(*ast.BinaryExpr)
		if !ok || cond.Op != token.LSS && cond.Op != token.LEQ || !simple(cond) && !onlyLen(f, cond.Y) || indexed(cond.Y) {
			return nil, nil, false
		}
		x, ok := cond.X.(*ast.Ident)
		if !ok || f.pkg.Info.Uses[x] != obj || assigns(f, s.Body, cond.Y, obj) || mentions(f, cond.Y, obj) {
			return nil, nil, false
		}
		last := a.number(st, a.expr(f, st, cond.Y), cond.Y)
		if len(a.env(last.sym)) > 0 {
			return nil, nil, false
		}
		rounds := last.sym.sub(first.sym)
		if cond.Op == token.LEQ {
			rounds = rounds.add(one())
		}
		if i == 0 {
			count = rounds
		} else {
			count = a.min(count, rounds)
		}
		ast.Inspect(cond.Y, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				for frame := f.id; frame != 0; frame = a.parents[frame] {
					fixed = append(fixed, place{frame, f.pkg.Info.Uses[id]})
				}
			}
			return true
		})
	}
	if !a.isNonneg(count) {
		count = a.max(count, Expr{})
	}
	after, ret := a.publicLoop(f, st, count, nil, s.Body, nil, fixed, func(h *state, l *loop) {
		if !first.sym.is(Expr{}) {
			// The index of the loop is then i itself, and its bounds are moved.
			k := a.knowns[l.index.terms[0].powers[0].atom.name]
			most := first.sym.add(count).sub(one())
			k.most = &most
			k.lo = &first.sym
			l.whole = false
			l.index.terms[0].powers[0].atom.nonneg = a.isNonneg(first.sym)
		}
		h.vars[p] = value{sym: l.index}
	})
	delete(after.vars, p)
	return after, ret, true
}

// conjuncts are the parts of x && y && z.
func conjuncts(x ast.Expr) []ast.Expr {
	x = ast.Unparen(x)
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.LAND {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []ast.Expr{x}
}

// indexed reports whether an expression is of elements, which may be set where no variable is.
func indexed(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		_, index := n.(*ast.IndexExpr)
		found = found || index
		return !found
	})
	return found
}

func onlyLen(f *frame, x ast.Expr) bool {
	c, ok := x.(*ast.CallExpr)
	if !ok || !isBuiltin(f, c.Fun, "len") {
		return false
	}
	_, variable := ast.Unparen(c.Args[0]).(*ast.Ident) // of a field it is not seen that the length changes
	return variable
}

// mentions reports whether an expression is made of a variable.
func mentions(f *frame, x ast.Expr, obj types.Object) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && f.pkg.Info.Uses[id] == obj
		return true
	})
	return found
}

// assigns reports whether a body, or a closure in it, sets a variable, or one that the bound
// is made of. (What closures from elsewhere do to them is seen when the body has run.)
func assigns(f *frame, body *ast.BlockStmt, bound ast.Expr, obj types.Object) (found bool) {
	fixed := map[types.Object]bool{obj: true}
	ast.Inspect(bound, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			fixed[f.pkg.Info.Uses[id]] = true
		}
		return true
	})
	is := func(x ast.Expr) {
		if id, ok := x.(*ast.Ident); ok && fixed[f.pkg.Info.Uses[id]] && f.pkg.Info.Uses[id] != nil {
			found = true
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				is(l)
			}
		case *ast.IncDecStmt:
			is(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				is(n.X)
			}
		}
		return !found
	})
	return found
}

// head is the state at the beginning of any iteration.
func (a *analysis) head(st *state, l *loop, c changes) *state {
	h := st.clone()
	h.items = nil
	for p := range c.vars {
		h.vars[p] = a.headValue(l, l.unknown(p), st.vars[p], p.obj.Type(), c, st)
	}
	for id := range c.objs {
		old := a.settled(st.heap[id])
		o := *old
		o.id = a.next()
		o.base = fmt.Sprintf("%s.base%d", l.name, id)
		o.moved, o.added, o.only, o.slot = [3]env{}, [3]env{}, nil, nil
		o.bag = o.bag || c.bags[id] // its length is private from the second iteration on
		if c.elems[id] {
			o.elem = &value{sym: a.hidden("row", known{})}
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
	switch v.kind {
	case plain, noisy:
		l.initial[name] = nil
		if v.kind == plain {
			l.initial[name] = a.env(v.sym)
		}
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
	return v.name == w.name
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
	c := changes{map[place]bool{}, map[int]bool{}, map[int]bool{}, map[place]bool{}, map[int]bool{}, map[int]bool{}, map[string]bool{}}
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
			if _, outer := st.vars[p]; !outer || !ok {
				continue
			}
			if !equal(v, w) && !c.vars[p] {
				c.vars[p], stable = true, false
			}
		}
		for id, o := range before.heap {
			if _, outer := st.heap[id]; outer && end.heap[id] != o && !c.objs[id] {
				c.objs[id], stable = true, false
			}
			if _, outer := st.heap[id]; outer && end.heap[id].bag && !o.bag {
				c.bags[id], stable = true, false
			}
			if _, outer := st.heap[id]; outer && !bag && o.elem != nil && end.heap[id].elem != o.elem && !c.elems[id] {
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
		l.whole = cond == nil
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
	if post != nil && continues(body) {
		a.fail(body, "for i := range n", "continue in a loop with a statement after its body")
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

func continues(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BranchStmt:
			found = found || n.Tok == token.CONTINUE
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			return false
		}
		return true
	})
	return found
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
