package sensitivity

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"math/big"
	"slices"
)

// elements is a source that stands for one element of an object, at the index of a
// loop that is at each index once: so that the distances of all elements make up
// that of the object.
type elements struct {
	loop *loop
	env  [3]env // what they make up, by the norm in which they do
	// up are the sources for what they make up, in each norm, in a round of a loop around.
	up [3]string
}

// top is the innermost loop.
func (a *analysis) top() *loop {
	if len(a.stack) == 0 {
		return nil
	}
	return a.stack[len(a.stack)-1]
}

// touch notes that an object is read or written in loops at other places than at
// their index.
func (a *analysis) touch(obj int, except *loop) {
	for _, l := range a.stack {
		if l != except {
			l.mixed[obj] = true
		}
	}
}

// turn returns the innermost loop if the index is its own.
func (a *analysis) turn(idx value) *loop {
	l := a.top()
	if l == nil || l.bag || len(l.index.terms) == 0 || !idx.sym.is(l.index) {
		return nil
	}
	return l
}

// at is turn, where what stands there is what stood there before the loop, or was put there
// since in the same iteration: in a loop that appends it may be something else.
func (a *analysis) at(obj int, idx value) *loop {
	l := a.turn(idx)
	if l == nil || l.mixed[-obj] {
		return nil
	}
	l.own[obj] = true
	return l
}

func elementType(t types.Type) types.Type {
	t = core(t)
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if e, ok := core(t).(interface{ Elem() types.Type }); ok {
		return e.Elem()
	}
	if _, ok := core(t).(*types.Interface); ok {
		return types.Universe.Lookup("any").Type()
	}
	return types.Typ[types.Byte]
}

func (a *analysis) load(f *frame, st *state, x *ast.IndexExpr) value {
	v := a.expr(f, st, x.X)
	idx := a.number(st, a.expr(f, st, x.Index), x.Index)
	moves := a.env(idx.sym).infinite(a.why(x.Index, "count into public places", "an index depends on private data"))
	t := elementType(f.pkg.Info.Types[x.X].Type)
	switch v.kind {
	case plain:
		e := a.env(v.sym).add(moves)
		if len(e) == 0 {
			return a.public(types.ExprString(x))
		}
		if l := a.turn(idx); l != nil && len(moves) == 0 && vectorType(f.pkg.Info.TypeOf(x.X)) {
			return a.entryOf(l, v.sym, x)
		}
		return a.opaque(types.ExprString(x), e, a.why(x, "", "an element of private data of which nothing is known"))
	case divided:
		if len(moves) > 0 {
			a.fail(x, "a public index", "which part is asked depends on private data")
		}
		return a.partOf(v, idx)
	case ref:
		return a.element(st, v.obj, idx, moves, t, x)
	}
	a.fail(x, "", "an element of what is no slice")
	return value{}
}

// element reads an element.
func (a *analysis) element(st *state, obj int, idx value, moves env, t types.Type, x ast.Node) value {
	o := st.heap[obj]
	l := a.at(obj, idx)
	a.touch(obj, l)
	switch {
	case o.bag:
		return a.opaque("element", moves.add(o.env[l1]), a.why(x, "a loop over all records", "records have no order that neighbours share"))
	case len(moves) > 0:
		return a.opaque("element", moves.add(a.settled(o).env[linf]), a.why(x, "a public index", "an index depends on private data"))
	}
	if l == nil {
		if far, by := a.afar(o, idx.sym); far != nil {
			return a.family(st, far, by, o, idx.sym, t)
		}
		if v, ok := a.across(st, o, idx.sym, t); ok {
			return v
		}
	}
	switch {
	case l == nil, o.depth >= len(a.stack) && (o.slot == nil || o.slot.loop != l.id):
		// No loop's own index, or of a slice that each iteration makes anew: together the
		// elements that were read are no slice that there ever was.
		o = a.settled(o)
		if o.elem == nil {
			return a.elementOf(st, o, idx.sym, t)
		}
		w := a.inner(st, o, t, o.env, o.size)
		if o.elem != nil && len(o.env[l1]) > 0 {
			// A table of bags.
			return a.alloc(st, object{bag: true, env: o.env, elem: a.gatheredElement(o), view: true})
		}
		return w
	case o.slot != nil && o.slot.loop == l.id:
		return o.slot.val
	}
	return a.cell(st, l, o, t)
}

// elementOf is the element at an index: the same number each time.
func (a *analysis) elementOf(st *state, o *object, idx Expr, t types.Type) value {
	s := a.stretch(o, idx, idx.add(one()))
	if len(s.element.sym.terms) > 0 {
		return s.element
	}
	v := a.inner(st, o, t, s.env, o.size)
	if v.kind == plain && numeric(t) {
		s.element = v
	}
	return v
}

// inner makes a value for an element that moves so far.
func (a *analysis) inner(st *state, o *object, t types.Type, e, size [3]env) value {
	if isTypeParam(t) && o.number != nil {
		t = o.number
	}
	if shares(t) && a.uneven(o) {
		for n := range e {
			e[n] = e[n].infinite(rowsOfAnyLength)
		}
	}
	if numeric(t) || !isTypeParam(t) {
		return a.shape(st, t, e, size, "element")
	}
	if len(e[l1]) == 0 {
		return a.public("element")
	}
	return a.opaque("element", e[l1], &Refusal{Reason: "an element of unknown type"})
}

func isTypeParam(t types.Type) bool {
	_, ok := t.(*types.TypeParam)
	return ok
}

// there reports whether a state has what a value leads to: a row that was read in another branch
// is in the heap of that.
func there(st *state, v value) bool {
	if v.kind == ref {
		return st.heap[v.obj] != nil
	}
	for _, w := range v.fields {
		if !there(st, w) {
			return false
		}
	}
	return true
}

// cell is the element at the loop's own index.
func (a *analysis) cell(st *state, l *loop, o *object, t types.Type) value {
	if v, ok := l.cells[o.id]; ok && there(st, v) {
		return v
	}
	if o.zero && numeric(t) {
		l.cells[o.id] = value{}
		return value{}
	}
	by := a.nested(l, o, l.index)
	whole := o.env
	if by == nil {
		whole = a.residue(l, o, Expr{})
	}
	e, size := a.elementEnvs(l, o, whole, l.name+"·"+integer(int64(o.id)).String(), by)
	v := a.inner(st, o, t, e, size)
	if v.kind == ref {
		st.heap[v.obj].row = &rowOf{l, o}
	}
	if k := a.single(v.sym); v.kind == plain && k != nil && o.slot == nil && !o.table {
		k.entry = &entry{fmt.Sprint("object·", o.id), l}
	}
	if o.elem != nil && len(o.env[l1]) > 0 {
		v = a.alloc(st, object{bag: true, env: same(e[l1]), elem: a.gatheredElement(o), view: true})
	}
	l.cells[o.id] = v
	return v
}

// elementEnvs makes sources for an element that all rounds make up the object with, and those
// of a loop around.
func (a *analysis) elementEnvs(l *loop, o *object, whole [3]env, name string, by *nest) (e, size [3]env) {
	for n := range e {
		if len(whole[n]) > 0 {
			key := name + "·" + string(rune('0'+n))
			if a.divides(whole) {
				key = name + "·0" // one source for all norms, which may be divided
			}
			el := &elements{loop: l, env: rowEnv(whole, n)}
			if by != nil {
				el.up = a.outward(by, el.env, key)
			}
			a.elems[key] = el
			e[n] = env{key: {most: one()}}
		}
		if s := rowEnv(o.size, n); s[l1] != nil && s[l2] != nil && s[linf] != nil {
			key := name + "·size" + string(rune('0'+n))
			a.elems[key] = &elements{loop: l, env: s}
			size[n] = env{key: {most: one()}}
		}
	}
	return e, size
}

// afar is the loop, if there is one, in each round of which an index is another one, where the
// object is older than that and nothing was put at an index of it.
//
// Theorem. c·i + b for c != 0 and b the same in all rounds is another number in each where i
// is. So the elements there are different ones of the object, and their distances make up
// that of it at most, as those at i do.
func (a *analysis) afar(o *object, idx Expr) (*loop, *nest) {
	if o.slot != nil || o.elem != nil {
		return nil, nil
	}
	for k := len(a.stack) - 1; k >= o.depth && !a.stack[k].bag; k-- {
		if c, _, ok := a.linear(a.stack[k], a.stack[k].index, idx); ok && len(c.terms) > 0 {
			if by := a.nested(a.stack[k], o, idx); by != nil {
				return a.stack[k], by
			}
		}
		if _, ok := a.slope(a.stack[k], idx); ok && a.unchanged(o.env[l1], a.stack[k+1:]) && a.unchanged(o.env[l2], a.stack[k+1:]) && a.unchanged(o.env[linf], a.stack[k+1:]) {
			return a.stack[k], nil
		}
	}
	return nil, nil
}

// unchanged reports whether nothing is told by what the loops change.
func (a *analysis) unchanged(e env, loops []*loop) bool {
	for s := range e {
		for _, l := range loops {
			if _, changes := l.initial[s]; changes {
				return false
			}
		}
		if el := a.elems[s]; el != nil && (slices.Contains(loops, el.loop) || !a.unchanged(el.env[l1], loops) || !a.unchanged(el.env[l2], loops) || !a.unchanged(el.env[linf], loops)) {
			return false
		}
		if sp := a.splits[s]; sp != nil && (slices.Contains(loops, sp.loop) || !a.unchanged(sp.env, loops)) {
			return false
		}
	}
	return true
}

// residue is how far those elements of an object move that are at i + b in some round of a
// loop whose i grows by a whole number s.
//
// Theorem. Those of which b has another remainder by s are others: together they move no
// further in l1 than the object.
func (a *analysis) residue(l *loop, o *object, b Expr) [3]env {
	n, ok := b.number()
	if !ok || !n.IsInt() || l.stride == nil || !l.stride.IsInt() || l.stride.Num().CmpAbs(big.NewInt(1)) <= 0 || !a.divides(o.env) {
		return o.env
	}
	key := [2]int{o.id, -l.id}
	if a.groups[key] == 0 {
		a.groups[key] = a.next()
	}
	name := fmt.Sprintf("·part%d.%s", a.groups[key], new(big.Int).Mod(n.Num(), l.stride.Num()))
	a.splits[name] = &split{group: a.groups[key], env: maps.Clone(o.env[l1]), loop: a.around(l), numbers: true}
	return same(env{name: {most: one()}})
}

// around is the loop that another one stands in.
func (a *analysis) around(l *loop) *loop {
	if i := slices.Index(a.stack, l); i > 0 {
		return a.stack[i-1]
	}
	return nil
}

// slope is c of an index c·i + b, for i of the loop.
func (a *analysis) slope(l *loop, idx Expr) (c Expr, ok bool) {
	c, b, ok := a.linear(l, l.index, idx)
	return c, ok && a.older(l, b) && (a.isPositive(c) || a.isPositive(c.neg()))
}

// family is the element at an index that is another one in each round of the loop.
func (a *analysis) family(st *state, l *loop, by *nest, o *object, idx Expr, t types.Type) value {
	name := fmt.Sprintf("%s·%d·%s", l.name, o.id, idx)
	if v, ok := l.families[name]; ok {
		if v.kind == ref {
			st.heap[v.obj] = l.views[name]
		}
		return v
	}
	whole := o.env
	if c, _ := a.slope(l, idx); c.is(one()) && by == nil {
		whole = a.residue(l, o, idx.sub(l.index))
	}
	e, size := a.elementEnvs(l, o, whole, name, by)
	v := a.inner(st, o, t, e, size)
	switch v.kind {
	case plain:
		l.families[name] = v
	case ref:
		// The row is the same in all rounds of the loops within.
		row := st.heap[v.obj]
		row.depth = slices.Index(a.stack, l) + 1
		row.row = &rowOf{l, o}
		l.families[name], l.views[name] = v, row
	}
	return v
}

// rowEnv says what the norms n of the elements make up: for rows r_i of q, each norm
// of (‖r_i‖_n) is at most the larger of that norm and ‖·‖_n of q.
// Proof. ‖r‖_∞ <= ‖r‖_2 <= ‖r‖_1, and for one norm m both inside and outside it is
// ‖q‖_m. If n is l1, any outer norm of (‖r_i‖_1) is at most their sum, ‖q‖_1. If n is
// l2, their sum is at most ‖q‖_1, and their largest at most ‖q‖_2. ∎
func rowEnv(e [3]env, n int) [3]env {
	switch n {
	case l1:
		return [3]env{e[l1], e[l1], e[l1]}
	case l2:
		return [3]env{e[l1], e[l2], e[l2]}
	}
	return e
}

// inside finds the slice, array or map that a place lies in which is an element of an element,
// or a field of one: x[i][j], x[i].f.
//
// Theorem. The distance of a slice is that of all its numbers, in rows or structs or not. So
// what is put somewhere in it, or added there, adds so much to it, wherever it is. (That the
// rows are its own is asked by the discipline.)
func (a *analysis) inside(f *frame, st *state, x ast.Expr) (base value, moves env, ok bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		if sel := f.pkg.Info.Selections[x]; sel == nil || sel.Kind() != types.FieldVal || sel.Indirect() {
			return base, nil, false
		}
		return a.inside(f, st, x.X)
	case *ast.IndexExpr:
		base, moves, ok = a.inside(f, st, x.X)
		if !ok {
			base = a.expr(f, st, x.X)
		}
		idx := a.number(st, a.expr(f, st, x.Index), x.Index)
		moves = moves.add(a.env(idx.sym).infinite(a.why(x.Index, "counts[key] += n", "where something is put depends on private data")))
		return base, moves, base.kind == ref
	}
	return base, nil, false
}

// nested reports whether a place is a field, or an element, of an element.
func nested(x ast.Expr) bool {
	for {
		switch y := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			x = y.X
		case *ast.IndexExpr:
			return true
		default:
			return false
		}
	}
}

// slice is x[i:j].
func (a *analysis) slice(f *frame, st *state, x *ast.SliceExpr) value {
	v := a.expr(f, st, x.X)
	if v.kind == plain {
		e := a.env(v.sym)
		if len(e) == 0 {
			return a.public("slice")
		}
		return a.opaque("slice", e, a.why(x, "", "a part of private data of which nothing is known"))
	}
	if v.kind != ref || x.Max != nil {
		a.fail(x, "", "a slice that is not of the subset")
	}
	o := a.settled(st.heap[v.obj])
	a.touch(v.obj, nil)
	lo, hi := Expr{}, o.length
	for i, end := range []ast.Expr{x.Low, x.High} {
		if end == nil {
			continue
		}
		n := a.number(st, a.expr(f, st, end), end)
		if len(a.env(n.sym)) > 0 {
			a.fail(end, "public bounds", "a bound of a slice depends on private data")
		}
		if i == 0 {
			lo = n.sym
		} else {
			hi = n.sym
		}
	}
	if !o.given && !o.bag && !a.isNonneg(o.length.sub(hi)) {
		a.fail(x, "a bound of which it is known that it is within", "a slice may reach behind its end, where something else may have been appended")
	}
	if o.bag {
		if x.Low == nil && x.High == nil {
			return v
		}
		a.fail(x, "package dataset's Take", "a part of records that have no order that neighbours share")
	}
	e := o.env
	if len(lo.terms) > 0 || !hi.is(o.length) {
		var within bool
		if e, within = a.window(o, lo, hi); !within {
			e = a.stretch(o, lo, hi).env
		}
	}
	return a.alloc(st, object{env: e, size: o.size, length: hi.sub(lo), number: o.number, view: true})
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
