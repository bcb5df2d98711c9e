package sensitivity

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math/big"
	"slices"
)

// bagLoop runs a loop over private records.
//
// Theorem. If the body, for a record r, adds to each variable something that depends
// on r and public values alone, then what is added over all records is a sum over the
// multiset, whatever its order; and multisets at symmetric difference k give sums
// that are at most k·c apart, c being a bound on the size of what one record adds.
// (Reed and Pierce 2010: bagmap, bagfilter, bagsum over clipped numbers.) All else
// that a body does to a variable makes it infinitely sensitive.
func (a *analysis) bagLoop(f *frame, st *state, s *ast.RangeStmt, bag *object) (*state, *result) {
	elem := elementType(f.pkg.Info.Types[s.X].Type)
	run := func(h *state, l *loop) outcome {
		l.row = l.name + ".row"
		place := a.opaque("place", bag.env[l1], a.why(s, "the record at it, or a sum of what depends on records alone", "the place of a record, which neighbours do not share"))
		l.rows, l.place, l.at = bag.id, place.sym, a.rowValue(h, l, elem, bag.elem, s)
		a.bind(f, h, s.Key, place)
		if s.Value != nil {
			a.bind(f, h, s.Value, l.at)
		}
		return a.block(f, h, s.Body.List, &rest{body: true})
	}
	l, head, end, o, c := a.iterate(f, st, Expr{}, s, run, true)
	if o.ret != nil || o.brk != nil || end == nil {
		a.fail(s, "a loop over all records, with continue", "a loop over private records is left early, which depends on their order")
	}
	l.reach = a.everything(l, head, end, c)
	if len(end.items) > 0 || len(end.spent) > len(st.spent) {
		a.fail(s, "noise on the sum, or package shuffle's local randomizers", "noise is drawn for each of an unknown number of private records")
	}
	after := st.clone()
	var sums []place
	for p := range c.vars {
		after.vars[p] = a.summed(l, bag, st.vars[p], head.vars[p], end.vars[p], p.obj.Name(), s)
		if v, w := head.vars[p], end.vars[p]; v.kind == plain && w.kind == plain && len(a.only(w.sym.sub(v.sym))) > 0 {
			sums = append(sums, p)
		}
	}
	slices.SortFunc(sums, func(p, q place) int {
		return cmp.Or(cmp.Compare(p.frame, q.frame), cmp.Compare(p.obj.Pos(), q.obj.Pos()))
	})
	a.exclusiveSums(bag, after, st, head, end, sums)
	var grown []int
	for _, id := range sortedKeys(c.objs) {
		if a.gathered(l, bag, after, id, st, head, end, s) {
			grown = append(grown, id)
		}
		// (after.heap[id] is of gathered alone.)
		after.heap[id].bag = after.heap[id].bag || c.lengths[id]
	}
	a.exclusive(bag, after, end, grown)
	return after, nil
}

// counts is the object of private records that a number is the length of.
func (a *analysis) counts(st *state, n Expr) (*object, bool) {
	if len(n.terms) != 1 || len(n.terms[0].powers) != 1 || !n.is(atomic(n.terms[0].powers[0].atom)) {
		return nil, false
	}
	k := a.knowns[n.terms[0].powers[0].atom.name]
	if k == nil || k.rows == 0 {
		return nil, false
	}
	for _, id := range sortedKeys(st.heap) {
		if o := a.settled(st.heap[id]); o.id == k.rows && o.bag {
			return o, true
		}
	}
	return nil, false
}

// mapped is out[i] = v for the record i, where out was made of as many numbers as there are
// records.
//
// Theorem (Reed and Pierce 2010: bagmap). What holds for each record 0, or a function of it
// and public values, is a multiset that moves as the records do.
func (a *analysis) mapped(st *state, obj int, idx Expr, v value, at ast.Node) bool {
	i := slices.IndexFunc(a.stack, func(l *loop) bool {
		return l.bag && len(l.place.terms) > 0 && l.place.is(idx) && l.rows == st.heap[obj].made
	})
	if i < 0 || v.kind != plain {
		return false
	}
	for s := range a.env(v.sym) {
		if s != a.stack[i].row {
			a.fail(at, "what depends on the record alone", "what is kept for a record depends on other private data too")
		}
	}
	a.touch(obj, nil)
	a.update(st, obj, func(o *object) {
		o.elem = a.either(o.elem, &v)
		for n := range o.added {
			// It adds no record, but what decides that it is done must be of the record, too.
			o.added[n] = o.added[n].add(env{unit: {}})
		}
	})
	return true
}

// callsVariables reports whether functions are called that may be literals, which set
// variables.
func callsVariables(f *frame, body ast.Node) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !f.pkg.Info.Types[call.Fun].IsType() {
			id := calleeOf(call)
			if id == nil {
				found = true
				return false
			}
			_, variable := f.pkg.Info.Uses[id].(*types.Var)
			found = found || variable
		}
		return !found
	})
	return found
}

// overRecords is for i := 0; i < len(rows); i++ over private records as a range.
func (a *analysis) overRecords(f *frame, st *state, s *ast.ForStmt) (*ast.RangeStmt, bool) {
	inc, ok := s.Post.(*ast.IncDecStmt)
	cond, ok2 := s.Cond.(*ast.BinaryExpr)
	if !ok || !ok2 || inc.Tok != token.INC || cond.Op != token.LSS || !onlyLen(f, cond.Y) {
		return nil, false
	}
	i, ok := inc.X.(*ast.Ident)
	x, ok2 := cond.X.(*ast.Ident)
	if !ok || !ok2 || f.pkg.Info.Uses[i] != f.pkg.Info.Uses[x] {
		return nil, false
	}
	obj := f.pkg.Info.Uses[i]
	first, here := st.vars[place{f.id, obj}]
	rows := cond.Y.(*ast.CallExpr).Args[0]
	v := a.expr(f, st, rows)
	if !here || first.kind != plain || len(first.sym.terms) > 0 || v.kind != ref || !st.heap[v.obj].bag || assigns(f, s.Body, cond.Y, obj) || callsVariables(f, s.Body) {
		return nil, false
	}
	return &ast.RangeStmt{For: s.For, Key: i, Tok: token.ASSIGN, X: rows, Body: s.Body}, true
}

// record is rows[i], in a loop over rows that i is the index of: the record of the iteration.
func (a *analysis) record(f *frame, st *state, x *ast.IndexExpr) (value, bool) {
	if !simple(x) || !slices.ContainsFunc(a.stack, func(l *loop) bool { return l.bag }) {
		return value{}, false
	}
	base, idx := a.expr(f, st, x.X), a.expr(f, st, x.Index)
	if base.kind != ref || idx.kind != plain {
		return value{}, false
	}
	for _, l := range a.stack {
		if l.bag && len(l.place.terms) > 0 && l.place.is(idx.sym) && a.settled(st.heap[base.obj]).id == l.rows {
			return l.at, true
		}
	}
	return value{}, false
}

// rowValue is a record: that it is there at all is what neighbours differ in.
func (a *analysis) rowValue(st *state, l *loop, t types.Type, known1 *value, at ast.Node) value {
	e := env{l.row: {infinite: a.why(at, "", "a record")}}
	if isTypeParam(t) || known1 != nil && known1.kind == plain || !numeric(t) {
		k := known{env: e, whole: isInteger(t)}
		if known1 != nil && known1.kind == plain {
			k.lo, k.hi = a.interval(known1.sym)
			k.whole = a.whole(known1.sym)
			if k.lo != nil && !a.fixed(*k.lo) {
				k.lo = nil
			}
			if k.hi != nil && !a.fixed(*k.hi) {
				k.hi = nil
			}
		}
		return value{sym: a.hidden("row", k)}
	}
	return a.shape(st, t, same(e), [3]env{}, "row")
}

// fixed reports whether an expression is of parameters alone.
func (a *analysis) fixed(e Expr) bool {
	ok := true
	e.atoms(func(x *atom) {
		k := a.knowns[x.name]
		ok = ok && (k == nil || len(k.env) == 0 && k.serial == 0)
	})
	return ok
}

// summed is a variable after a loop over records.
func (a *analysis) summed(l *loop, bag *object, before, head, end value, name string, at ast.Node) value {
	if equal(head, end) {
		return before // what it leads to is told of apart
	}
	if before.kind != plain || head.kind != plain || end.kind != plain {
		if end.kind == record && before.kind == record {
			w := end
			w.fields = map[string]value{}
			for k := range end.fields {
				w.fields[k] = a.summed(l, bag, before.fields[k], head.fields[k], end.fields[k], name+"."+k, at)
			}
			return w
		}
		a.fail(at, "sums, counts and slices of records", "a loop over private records changes %s, which is no number", name)
	}
	d := end.sym.sub(head.sym)
	e := a.env(d)
	whole := a.whole(before.sym) && a.whole(d)
	order := a.why(at, name+" += what depends on the record alone", "%s depends on the order of private records, or on what other records did to it", name)
	if d.has(head.sym.String()) || a.poisoned(l, e) {
		all := bag.env[l1].add(a.outside(l, e)).add(a.env(before.sym)).add(l.reach).infinite(order)
		return value{sym: a.hidden(name, known{env: all, whole: whole})}
	}
	closes := a.why(at, "a sum over records of what depends on the record alone", "what is added for each record depends on other private data too")
	k := known{env: a.outside(l, e).infinite(closes), whole: a.whole(d)}
	c, ok := a.constantSize(d)
	if half, fits := a.halfWidth(bag, d); fits {
		c, ok = half, true
	}
	if ok && a.steady(l, c) {
		k.env = k.env.add(bag.env[l1].scale(c))
	} else {
		k.env = k.env.add(bag.env[l1].infinite(a.why(at, "clamp it with min and max", "what a record adds to %s has no bound", name)))
	}
	return value{sym: before.sym.add(a.hidden(name, k))}
}

// halfWidth is half of how far apart two numbers within the bounds of d may be, where every
// record that goes is made up for by one that comes: a sum moves by d' - d for both.
func (a *analysis) halfWidth(bag *object, d Expr) (Expr, bool) {
	lo, hi := a.interval(d)
	if _, swapped := a.swapped[bag.id]; !swapped || lo == nil || hi == nil {
		return Expr{}, false
	}
	return hi.sub(*lo).mul(rat(big.NewRat(1, 2))), true
}

// steady reports whether a bound does not depend on the iteration.
func (a *analysis) steady(l *loop, c Expr) bool { return a.older(l, c) }

// poisoned reports whether something depends on what the loop changes.
func (a *analysis) poisoned(l *loop, e env) bool {
	for s := range e {
		if _, ok := l.initial[s]; ok {
			return true
		}
	}
	return false
}

// everything is all from before the loop that anything that it changes depends on, at first
// or by what an iteration makes of it: what depends on what other iterations did may depend
// on any of it.
func (a *analysis) everything(l *loop, head, end *state, c changes) env {
	var all env
	for _, e := range l.initial {
		all = all.add(e)
	}
	for _, e := range a.unknowns(l, head, end, c) {
		all = all.add(a.outside(l, e))
	}
	for id := range c.objs {
		for _, e := range end.heap[id].moved {
			all = all.add(a.outside(l, e))
		}
	}
	return all
}

// outside are the sources of before the loop.
func (a *analysis) outside(l *loop, e env) env {
	out := env{}
	for s, b := range e {
		if _, ok := l.initial[s]; ok || s == l.row {
			continue
		}
		if el := a.elems[s]; el != nil && el.loop == l {
			continue
		}
		out[s] = b
	}
	return out
}

// gathered puts an object after a loop over records, and reports whether only
// additions were made to it.
func (a *analysis) gathered(l *loop, bag *object, after *state, id int, st, head, end *state, at ast.Node) bool {
	before, now := a.settled(st.heap[id]), end.heap[id]
	o := *now
	o.id, o.slot, o.size = a.next(), nil, [3]env{}
	o.base, o.moved, o.added, o.only = before.base, before.moved, before.added, before.only
	o.view = before.view || now.view
	order := a.why(at, "counts[key(row)] += n, or append", "a slice or map depends on the order of private records, or on what other records did to it")
	ok := now.base == head.heap[id].base && now.slot == nil
	why := order
	for n := range o.env {
		c, constant := constant1(now.added[n])
		if a.poisoned(l, now.moved[n]) {
			ok = false
		}
		by := bag.env[l1].scale(c)
		if !constant || !a.steady(l, c) {
			unbounded := a.why(at, "clamp it with min and max", "what a record adds to a slice or map has no bound")
			if by = bag.env[l1].infinite(unbounded); n == linf {
				why, ok = unbounded, false // nor in any other norm
			}
		}
		o.env[n] = before.env[n].add(by).add(a.outside(l, now.moved[n]).infinite(order))
		if now.bag && !before.bag {
			o.env[n] = o.env[n].add(before.env[n].infinite(a.why(at, "a slice that begins empty", "records are appended to numbers that depend on private data")))
		}
		if n == l1 && o.table && now.put != "+=" {
			o.keys = before.keys.add(by).add(a.outside(l, now.keys).infinite(order))
		}
	}
	if o.table && (now.put == "+=" || now.put == "") {
		o.keys = before.keys.add(bag.env[l1]).add(a.outside(l, now.keys)).infinite(a.why(at, "a range over the public keys", "which keys a map has depends on private data"))
	}
	if !ok {
		for n := range o.env {
			o.env[n] = before.env[n].add(bag.env[l1]).add(a.outside(l, a.settled(now).env[n])).add(l.reach).infinite(why)
		}
		o.keys = o.env[l1]
		o.base = ""
	} else if before.base != "" {
		// Within another loop over records the number of inner ones is not bounded.
		o.base = ""
	}
	after.heap[id] = &o
	return ok
}

// exclusive finds slices and maps to which no record adds in more than one: together
// they move as one does.
func (a *analysis) exclusive(bag *object, after, end *state, ids []int) {
	for len(ids) > 1 {
		group := []int{ids[0]}
		var left []int
		for _, id := range ids[1:] {
			fits := true
			for _, g := range group {
				fits = fits && a.exclude(end.heap[g].only, end.heap[id].only)
			}
			if fits {
				group = append(group, id)
			} else {
				left = append(left, id)
			}
		}
		ids = left
		if len(group) == 1 {
			continue
		}
		number := a.next()
		for i, id := range group {
			name := fmt.Sprintf("·split%d.%d", number, i)
			a.splits[name] = &split{group: number, env: maps.Clone(bag.env[l1]), loop: a.top()}
			o := *after.heap[id]
			o.id = a.next()
			for n := range o.env {
				c, _ := constant1(end.heap[id].added[n])
				before := env{}
				for s, b := range o.env[n] {
					if _, ours := bag.env[l1][s]; !ours {
						before[s] = b
					}
				}
				if len(before) == len(o.env[n])-len(bag.env[l1]) && len(bag.env[l1]) > 0 && a.fresh(o.env[n], bag.env[l1], c) {
					o.env[n] = before.add(env{name: {most: c}}.scale(one()))
				}
			}
			after.heap[id] = &o
		}
	}
}

// exclusiveSums finds sums to which no record adds in more than one: together they move as far
// as one does, Σ |Δsᵢ| <= Σ over records of max cᵢ.
func (a *analysis) exclusiveSums(bag *object, after, before, head, end *state, sums []place) {
	for len(sums) > 1 {
		added := func(p place) Expr { return end.vars[p].sym.sub(head.vars[p].sym) }
		group := sums[:1:1]
		var left []place
		for _, p := range sums[1:] {
			if !slices.ContainsFunc(group, func(q place) bool { return !a.exclude(a.only(added(p)), a.only(added(q))) }) {
				group = append(group, p)
			} else {
				left = append(left, p)
			}
		}
		sums = left
		if len(group) == 1 {
			continue
		}
		number := a.next()
		for i, p := range group {
			sum := after.vars[p].sym.sub(before.vars[p].sym)
			c, ok := a.constantSize(added(p))
			if len(sum.terms) != 1 || !ok {
				continue
			}
			k := *a.knowns[sum.terms[0].powers[0].atom.name]
			if len(k.env) != len(bag.env[l1]) || !a.fresh(k.env, bag.env[l1], c) {
				continue
			}
			name := fmt.Sprintf("·split%d.%d", number, i)
			a.splits[name] = &split{group: number, env: maps.Clone(bag.env[l1]), loop: a.top()}
			k.env = env{name: {most: c}}.scale(one())
			after.vars[p] = value{sym: before.vars[p].sym.add(a.hidden(p.obj.Name(), k))}
		}
	}
}

// exclude reports whether of two sets of branches no run takes both: one is where a condition
// holds and one where it does not, or their conditions do not hold together.
func (a *analysis) exclude(x, y map[int]bool) bool {
	for b := range x {
		if y[-b] {
			return true
		}
		for c := range y {
			for _, p := range a.branches[b] {
				if slices.ContainsFunc(a.branches[c], func(q comparison) bool { return a.contradict(p, q) }) {
					return true
				}
			}
		}
	}
	return false
}

// contradict reports whether two comparisons do not hold together: u > 0, say, and u < d for
// d <= 0.
func (a *analysis) contradict(p, q comparison) bool {
	u := p.x.sub(p.y)
	flip := map[token.Token]token.Token{token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ, token.EQL: token.EQL}
	for _, q := range []comparison{q, {flip[q.op], q.y, q.x}} {
		// u p 0 and u q d
		d := u.sub(q.x.sub(q.y))
		above := func(op token.Token) bool { return op == token.GTR || op == token.GEQ || op == token.EQL }
		below := func(op token.Token) bool { return op == token.LSS || op == token.LEQ || op == token.EQL }
		strict := p.op == token.GTR || p.op == token.LSS || q.op == token.GTR || q.op == token.LSS
		gap := func(e Expr) bool { return a.isPositive(e) || strict && a.isNonneg(e) }
		if above(p.op) && below(q.op) && gap(d.neg()) || below(p.op) && above(q.op) && gap(d) {
			return true
		}
	}
	return false
}

// fresh reports whether an object moves for the records' sake alone.
func (a *analysis) fresh(e, bag env, c Expr) bool {
	for s, b := range bag {
		if e[s].infinite != nil || b.infinite != nil || !e[s].most.is(b.most.mul(c)) {
			return false
		}
	}
	return true
}

// rowLoop runs a loop over the elements of a vector in a record.
//
// Theorem. Some n is at least as large as every such vector of two neighbours is long, the same
// for both: so the loop is one of n rounds, in which what lies behind the end is left out. What
// holds whatever n is holds of it. (Of arrays n is known.)
func (a *analysis) rowLoop(f *frame, st *state, s *ast.RangeStmt, row Expr, t types.Type) (*state, *result) {
	body, within := s.Body, &ast.Ident{NamePos: s.Body.Pos(), Name: "within"}
	var count Expr
	if array, ok := core(t).(*types.Array); ok {
		count = integer(array.Len())
	} else {
		count = a.hidden("len", known{lo: &Expr{}, whole: true})
		a.tags[within] = types.NewVar(within.Pos(), f.pkg.Types, within.Name, types.Typ[types.Bool])
		body = &ast.BlockStmt{Lbrace: s.Body.Pos(), List: []ast.Stmt{&ast.IfStmt{If: s.Body.Pos(), Cond: within, Body: s.Body}}}
	}
	return a.publicLoop(f, st, count, nil, body, nil, nil, func(h *state, l *loop) {
		if v, ok := a.tags[within]; ok {
			h.vars[place{f.id, v}] = a.opaque("within", a.env(row), a.why(s, "", "how often a loop runs depends on private data"))
		}
		a.bind(f, h, s.Key, value{sym: l.index})
		if s.Value != nil {
			a.bind(f, h, s.Value, a.entryOf(l, row, s.Value))
		}
	})
}

// entryOf is the element of a vector in a record at the index of a loop: the same each time in
// a round.
func (a *analysis) entryOf(l *loop, row Expr, at ast.Node) value {
	name := "entry·" + row.String()
	if v, ok := l.families[name]; ok {
		return v
	}
	v := a.opaque("element", a.env(row), a.why(at, "", "an element of private data of which nothing is known"))
	a.single(v.sym).entry = &entry{row.String(), l}
	l.families[name] = v
	return v
}

// privateLoop runs a loop of which the number of iterations is private: what it
// changes is infinitely sensitive to all that it depends on.
func (a *analysis) privateLoop(f *frame, st *state, s *ast.RangeStmt, body *ast.BlockStmt, over env) (*state, *result) {
	why := a.why(s, "a loop over records that adds up", "how often a loop runs depends on private data")
	run := func(h *state, l *loop) outcome {
		l.row = l.name + ".row"
		a.bind(f, h, s.Key, a.opaque("key", over, why))
		if s.Value != nil {
			a.bind(f, h, s.Value, a.opaque("element", over, why))
		}
		return a.block(f, h, body.List, &rest{body: true})
	}
	l, head, end, o, c := a.iterate(f, st, Expr{}, s, run, true)
	if o.ret != nil || end == nil {
		a.fail(s, "a variable that is set, and one return at the end", "a return from a loop that depends on private data")
	}
	l.reach = a.everything(l, head, end, c)
	if len(end.items) > 0 || len(end.spent) > len(st.spent) {
		a.fail(s, "a fixed number of draws", "how many draws are made depends on private data")
	}
	after := st.clone()
	for p := range c.vars {
		e := over.add(a.envs(st, st.vars[p])[l1]).add(a.outside(l, a.envs(end, end.vars[p])[l1])).add(l.reach)
		after.vars[p] = a.opaque(p.obj.Name(), e, why)
	}
	for id := range c.objs {
		obj := *end.heap[id]
		obj.id, obj.slot, obj.base, obj.size = a.next(), nil, "", [3]env{}
		obj.bag = obj.bag || c.lengths[id]
		for n := range obj.env {
			obj.env[n] = over.add(a.settled(st.heap[id]).env[n]).add(a.outside(l, a.settled(end.heap[id]).env[n])).add(l.reach).infinite(why)
		}
		obj.keys = obj.env[l1]
		after.heap[id] = &obj
	}
	return after, nil
}
