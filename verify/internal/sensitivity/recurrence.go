package sensitivity

import (
	"fmt"
	"go/ast"
	"maps"
)

// A split is a source that stands for the records of one part, of parts that share
// no record: together they move as far as env.
type split struct {
	group int
	env   env
	loop  *loop // the innermost loop that it was made in
	// numbers: the parts are numbers, all of which may move, and not records.
	numbers bool
}

// solve bounds the unknowns of a loop at every iteration.
//
// Theorem. Let x_{k+1} <= a·x_k + r_k with 0 <= a <= 1. Then x_k <= x_0 + Σ r_j for
// every k. With a = 0, x_k <= max(x_0, max_j r_j). By induction. Distances of an
// iteration are bounded by the sum of the parts that things have in them, each at its
// largest over all iterations, except that of elements at the loop's own index, which
// add up to those of the whole.
func (a *analysis) solve(l *loop, ends map[string]env, head, end *state, c changes, at ast.Node) {
	a.consume(l, ends)
	left := map[string]env{}
	for _, name := range sortedKeys(ends) {
		left[name] = a.resolved(ends[name], func(s string) bool { return a.splits[s].loop == l })
	}
	// What was read and written at other places than the loop's own moves as the
	// whole does.
	for name, e := range left {
		out := env{}
		for s, b := range e {
			el := a.elems[s]
			if el != nil && el.loop == l && a.own(l, el, c) {
				out = out.add(el.env[linf].scaleBound(b))
				continue
			}
			out = out.add(env{s: b})
		}
		left[name] = out
	}
	for len(left) > 0 {
		progress := false
		for _, name := range sortedKeys(left) {
			if !a.ready(name, left) {
				continue
			}
			l.solved[name] = a.solveOne(l, name, left[name], at)
			delete(left, name)
			progress = true
		}
		if progress {
			continue
		}
		// Unknowns that depend on each other. If the factors of none exceed 1
		// together, the largest of them grows by the sum of the rests at most.
		// Theorem: |Ax|_∞ <= |x|_∞ where every row of A >= 0 has sum at most 1.
		var start, rest env
		bounded := true
		for _, name := range sortedKeys(left) {
			row := Expr{}
			r := env{}
			for s, b := range left[name] {
				if _, in := left[s]; in {
					bounded = bounded && b.infinite == nil && a.bounded(l, &b)
					row = row.add(b.most)
					continue
				}
				r[s] = b
			}
			bounded = bounded && a.isNonneg(one().sub(row))
			start = start.add(l.initial[name])
			rest = rest.add(a.lift(l, a.substituted(l, r), l1))
		}
		all := start.add(rest)
		if !bounded {
			all = all.infinite(a.why(at, "a fixed number of iterations written out, or one variable", "variables that depend on each other grow in a loop"))
		}
		for _, name := range sortedKeys(left) {
			l.solved[name] = all
			delete(left, name)
		}
	}
}

func (e env) scaleBound(b bound) env {
	if b.infinite != nil {
		return e.infinite(b.infinite)
	}
	return e.scale(b.most)
}

// own reports whether an element is of an object that the loop changes elsewhere too.
func (a *analysis) own(l *loop, el *elements, c changes) bool {
	for id := range c.objs {
		if !l.mixed[id] {
			continue
		}
		for n := range el.env {
			for s := range el.env[n] {
				if s == fmt.Sprintf("%s.o%d.%d", l.name, id, l1) || s == fmt.Sprintf("%s.o%d.%d", l.name, id, l2) || s == fmt.Sprintf("%s.o%d.%d", l.name, id, linf) {
					return true
				}
			}
		}
	}
	return false
}

func (a *analysis) ready(name string, left map[string]env) bool {
	for s := range left[name] {
		if _, in := left[s]; in && s != name {
			return false
		}
	}
	return true
}

func (a *analysis) solveOne(l *loop, name string, e env, at ast.Node) env {
	initial := l.initial[name]
	self, depends := e[name]
	rest := maps.Clone(e)
	delete(rest, name)
	rest = a.substituted(l, rest)
	if !depends {
		return a.larger(initial, a.lift(l, rest, linf))
	}
	if self.infinite != nil {
		return initial.add(a.lift(l, rest, l1)).infinite(self.infinite)
	}
	if !a.bounded(l, &self) {
		return initial.add(rest).infinite(self.infinite)
	}
	if end, ok := l.ends[name]; ok && a.among(end, name) {
		return a.larger(initial, a.lift(l, rest, linf))
	}
	if a.isNonneg(one().sub(self.most)) {
		return initial.add(a.lift(l, rest, l1))
	}
	if n, ok := l.count.number(); ok && n.IsInt() && n.Num().IsInt64() && n.Num().Int64() <= 64 {
		// A factor that may be less than 1 makes the last round no bound of those before.
		factor, power, sum := a.max(self.most, one()), one(), Expr{}
		for range n.Num().Int64() {
			sum = sum.add(power)
			power = power.mul(factor)
		}
		return initial.scale(power).add(a.lift(l, rest, linf).scale(sum))
	}
	return initial.add(a.lift(l, rest, l1)).infinite(a.why(at, "a fixed number of iterations", "a distance grows by the factor %s in each iteration", self.most))
}

// among reports whether a number is one of several, which of them by comparisons that they
// meet at: of each the unknown alone, or without it.
//
// Theorem. It then moves no further than the one that moves the most (joinedNumber), so that
// x_{k+1} <= max(x_k, r_k), and x_k <= max(x_0, max_j r_j). (The largest of a vector.)
func (a *analysis) among(e Expr, name string) bool {
	moves := a.resolved(a.env(e), func(string) bool { return true })
	self, depends := moves[name]
	switch {
	case !depends || len(moves) == 1 && self.infinite == nil && self.most.is(one()):
		return true
	case len(e.terms) != 1 || len(e.terms[0].powers) != 1:
		return false
	}
	x := e.terms[0].powers[0].atom
	k := a.knowns[x.name]
	return e.is(atomic(x)) && k != nil && k.pieces != nil && a.told() && a.among(k.pieces.yes, name) && a.among(k.pieces.no, name)
}

// substituted writes the bounds of unknowns for them.
func (a *analysis) substituted(l *loop, e env) env {
	out := env{}
	for _, s := range sortedKeys(e) {
		if by, ok := l.solved[s]; ok {
			b := e[s]
			if !a.bounded(l, &b) {
				out = out.add(by.infinite(b.infinite))
				continue
			}
			out = out.add(by.scaleBound(b))
			continue
		}
		out = out.add(env{s: e[s]})
	}
	return out
}

// bounded writes the largest index for the loop's index in a bound, and is infinite
// where that depends on an iteration in another way. A loop that never runs has no
// index: what it is bounded by is 0 then, and not count - 1, which would be taken off
// the distance of what the loop has no part in. An index that may be below 0, or a factor
// that may be, would make another round the largest.
func (a *analysis) bounded(l *loop, b *bound) bool {
	if b.infinite != nil {
		return false
	}
	out := Expr{}
	for _, t := range b.most.terms {
		one := Expr{[]term{t}}
		bad := ""
		nonneg, _ := a.termSign(t)
		for _, p := range t.powers {
			k := a.knowns[p.atom.name]
			above, _ := a.sign(p.atom)
			switch {
			case a.serialOf(p.atom) < l.mark:
			case k != nil && k.most != nil && p.halfs > 0 && nonneg && above:
				one, _ = one.replace(p.atom.name, a.max(*k.most, Expr{}))
			case p.halfs < 0 && nonneg:
				// 1/x is at most 1/low where x >= low > 0.
				low, ok := a.lowest(l, p.atom)
				inverse, invertible := low.inverse()
				if !ok || !invertible || p.halfs%2 != 0 {
					bad = p.atom.name
					break
				}
				for range -p.halfs / 2 {
					one = one.mul(atomic(p.atom)).mul(inverse)
				}
			default:
				bad = p.atom.name
			}
		}
		if bad != "" {
			if most, ok := a.most(Expr{[]term{t}}, func(e Expr) bool { return a.older(l, e) }); ok {
				out = out.add(most)
				continue
			}
			*b = bound{infinite: &Refusal{Reason: "a bound depends on a number of one iteration, " + bad, Hint: "a factor that is the same in all iterations"}}
			return false
		}
		out = out.add(one)
	}
	b.most = out
	return true
}

// lowest is a positive number below an atom in all iterations: that of a sum of indices of
// loops with factors that are not negative.
func (a *analysis) lowest(l *loop, x *atom) (Expr, bool) {
	e := atomic(x)
	if x.op == sum {
		e = x.args[0]
	}
	low := Expr{}
	for _, t := range e.terms {
		least := Expr{[]term{t}}
		if nonneg, _ := a.termSign(t); !nonneg && !a.older(l, least) {
			return low, false
		}
		for _, p := range t.powers {
			k := a.knowns[p.atom.name]
			switch {
			case a.serialOf(p.atom) < l.mark:
			case k == nil || k.most == nil || k.lo == nil || p.halfs < 0 || !a.isNonneg(*k.lo):
				return low, false
			default:
				least, _ = least.replace(p.atom.name, *k.lo)
			}
		}
		low = low.add(least)
	}
	return low, a.older(l, low) && a.isPositive(low)
}

func (a *analysis) serialOf(x *atom) int {
	if k := a.knowns[x.name]; k != nil {
		return k.serial
	}
	n := 0
	for _, arg := range x.args {
		arg.atoms(func(y *atom) {
			if k := a.knowns[y.name]; k != nil {
				n = max(n, k.serial)
			}
		})
	}
	return n
}

// lift is the distance, in a norm, of what all iterations make that each move so far:
// elements at the loop's own index make up their object, everything else counts once
// an iteration.
func (a *analysis) lift(l *loop, e env, norm int) env {
	out := env{}
	e = a.substituted(l, a.resolved(e, func(name string) bool { return a.splits[name].loop == l && !a.consumed(l, name) }))
	for _, s := range sortedKeys(e) {
		b := e[s]
		el := a.elems[s]
		sp := a.splits[s]
		switch {
		case !a.bounded(l, &b):
			if el != nil && el.loop == l {
				out = out.add(a.before(l, el.env[norm]).infinite(b.infinite))
				continue
			}
			out = out.add(env{s: bound{infinite: b.infinite}})
		case el != nil && el.loop == l && !a.stays(l, el):
			// The elements of all iterations are no vector that there ever was: each
			// moves as the whole does, while the loop runs.
			each := a.before(l, el.env[linf]).scale(b.most)
			switch norm {
			case l1:
				each = each.scale(l.count)
			case l2:
				each = each.scale(a.root(l.count))
			}
			out = out.add(each)
		case el != nil && el.loop == l && el.up[norm] != "":
			out = out.add(env{el.up[norm]: b})
		case el != nil && el.loop == l:
			out = out.add(a.before(l, el.env[norm]).scale(b.most))
		case sp != nil && sp.loop == l:
			// Parts that are taken away one after another share no record.
			out = out.add(a.before(l, sp.env).scale(b.most))
		case norm == l1:
			out = out.add(env{s: bound{most: b.most.mul(l.count)}})
		case norm == l2:
			out = out.add(env{s: bound{most: b.most.mul(a.root(l.count))}})
		default:
			out = out.add(env{s: b})
		}
	}
	return out
}

// before writes what was before the loop for its unknowns: each element that is only
// touched at the loop's own index is, when that comes, what it was.
func (a *analysis) before(l *loop, e env) env {
	out := env{}
	for _, s := range sortedKeys(e) {
		if by, ok := l.initial[s]; ok {
			if !a.untouched(l, s) {
				by = l.solved[s]
			}
			out = out.add(by.scaleBound(e[s]))
			continue
		}
		out = out.add(env{s: e[s]})
	}
	return out
}

// stays reports whether an element is of an object that is only touched at the loop's
// own index, or not changed at all.
func (a *analysis) stays(l *loop, el *elements) bool {
	for n := range el.env {
		for s := range el.env[n] {
			if !a.untouched(l, s) {
				return false
			}
		}
	}
	return true
}

// untouched reports whether the unknown is of an object that is only touched at the
// loop's own index.
func (a *analysis) untouched(l *loop, name string) bool {
	for id := range l.mixed {
		for n := range 3 {
			if name == fmt.Sprintf("%s.o%d.%d", l.name, id, n) {
				return false
			}
		}
	}
	return true
}

// consume finds splits of which one part takes the place of what was split. Then over
// all iterations the other parts share no record, and together move no further than
// what was there before the loop: each iteration takes their distance away from what
// is left, d_i + r_{i+1} <= r_i.
func (a *analysis) consume(l *loop, ends map[string]env) {
	for name, e := range ends {
		for s, b := range e {
			sp := a.splits[s]
			if sp == nil || sp.loop != l || len(e) != 1 || b.infinite != nil || !b.most.is(one()) || len(sp.env) != 1 {
				continue
			}
			if parent, ok := sp.env[name]; ok && parent.infinite == nil && parent.most.is(one()) {
				l.split[sp.group] = s
			}
		}
	}
}

// consumed reports whether a source is a part that is taken away from what is left.
func (a *analysis) consumed(l *loop, s string) bool {
	sp := a.splits[s]
	rest, ok := l.split[sp.group]
	return ok && rest != s
}

// resolved writes, for splits, that together they move as far as what was split: the
// part with the largest factor bounds all. What was split last may be parts of what was
// split before.
func (a *analysis) resolved(e env, which func(name string) bool) env {
	for {
		group := 0
		for s := range e {
			if sp := a.splits[s]; sp != nil && which(s) {
				group = max(group, sp.group)
			}
		}
		if group == 0 {
			return e
		}
		var out, all env
		for _, s := range sortedKeys(e) {
			if sp := a.splits[s]; sp != nil && sp.group == group && which(s) {
				all = all.max(sp.env.scaleBound(e[s]), a.facts)
				continue
			}
			out = out.add(env{s: e[s]})
		}
		e = out.add(all)
	}
}

// afterValue is a variable after the loop.
func (a *analysis) afterValue(l *loop, before, head, end value, name string, early bool) value {
	switch end.kind {
	case plain:
		if before.kind == noisy { // the loop may not run
			before = a.public(name)
		}
		d := end.sym.sub(head.sym)
		solved := l.solved[name]
		whole := a.whole(end.sym) && a.whole(before.sym)
		if !d.has(head.sym.String()) {
			e := a.env(d)
			if len(e) == 0 && !early && a.older(l, d) {
				sum := before.sym.add(d.mul(l.count))
				// Ten times 0.1 are not 1.
				a.reals = a.reals || a.whole(sum) && !(a.whole(before.sym) && a.whole(d))
				return value{sym: sum}
			}
			k := known{env: a.lift(l, a.substituted(l, e), l1), whole: a.whole(d)}
			if s := a.size(d); s != nil {
				k.size = a.liftSize(l, s, l1)
			}
			return value{sym: before.sym.add(a.hidden(name, k))}
		}
		return value{sym: a.hidden(name, known{env: solved, whole: whole})}
	case private:
		end.env, end.id = l.solved[name], a.next()
		return end
	case record, tuple:
		w := end
		w.fields, w.elems = map[string]value{}, nil
		for k := range end.fields {
			w.fields[k] = a.afterValue(l, before.fields[k], head.fields[k], end.fields[k], name+"."+k, early)
		}
		for i := range end.elems {
			w.elems = append(w.elems, a.afterValue(l, before.elems[i], head.elems[i], end.elems[i], fmt.Sprint(name, ".", i), early))
		}
		return w
	}
	return end
}

// older reports whether all atoms are older than the loop.
func (a *analysis) older(l *loop, e Expr) bool {
	ok := true
	for _, t := range e.terms {
		for _, p := range t.powers {
			ok = ok && a.serialOf(p.atom) < l.mark
		}
	}
	return ok
}

// liftSize is lift for bounds on sizes; nil where there is none.
func (a *analysis) liftSize(l *loop, s env, norm int) env {
	if s == nil {
		return nil
	}
	out := a.lift(l, s, norm)
	if out.refusal() != nil {
		return nil
	}
	return out
}

// afterObject is an object after the loop.
func (a *analysis) afterObject(l *loop, id int, before, head, end *object, early bool) *object {
	o := *end
	o.id = a.next()
	o.slot, o.zero = nil, false
	o.base, o.moved, o.added, o.only, o.size = before.base, before.moved, before.added, before.only, [3]env{}
	name := func(n int) string { return fmt.Sprintf("%s.o%d.%d", l.name, id, n) }
	o.keys = l.solved[fmt.Sprintf("%s.o%d.keys", l.name, id)]
	grown := l.mixed[-id] // a slot for what is appended
	slotted := end.slot != nil && end.slot.loop == l.id && end.slot.written
	delete(l.mixed, -id)
	for n := range o.env {
		o.env[n] = l.solved[name(n)]
	}
	if slotted && end.slot.val.kind == plain && !l.mixed[id] && !end.bag {
		sym := end.slot.val.sym
		e := a.substituted(l, a.env(sym))
		for _, name := range sortedKeys(l.ends) {
			// What a variable is at the end of an iteration moves as it does.
			if sym.is(l.ends[name]) {
				e = l.solved[name]
			}
		}
		size := a.size(sym)
		covered := end.slot.always && !early && l.whole && l.exact.is(before.length)
		cell, read := l.cells[head.id]
		for n := range o.env {
			switch {
			case grown:
				o.env[n] = before.env[n].add(a.lift(l, e, n))
			case covered:
				o.env[n] = a.lift(l, e, n)
			default:
				own := env{}
				if read {
					own = a.substituted(l, a.env(cell.sym))
				}
				o.env[n] = a.lift(l, a.larger(own, e), n)
				// Elements that were not written, or in only some iterations, stay what they
				// were. (Of those that were read, own says so.)
				switch {
				case read:
				case n == linf:
					o.env[n] = a.larger(o.env[n], before.env[n])
				default:
					o.env[n] = o.env[n].add(before.env[n])
				}
			}
			if before.size[n] != nil && size != nil {
				if s := a.liftSize(l, size, n); s != nil {
					o.size[n] = before.size[n].add(s)
				}
			}
		}
		d := Expr{}
		if read {
			d = sym.sub(cell.sym)
		}
		if !read || d.has(cell.sym.String()) {
			o.base = ""
		} else {
			added := a.size(d)
			for n := range o.env {
				o.moved[n] = o.moved[n].add(a.lift(l, a.substituted(l, a.env(d)), n))
				if s := a.liftSize(l, added, n); s != nil {
					o.added[n] = o.added[n].add(s)
				} else {
					o.base = ""
				}
			}
		}
	} else {
		if end.base != head.base || slotted {
			o.base = "" // what was added still moves
		}
		for n := range o.env {
			o.moved[n] = o.moved[n].add(a.lift(l, a.substituted(l, end.moved[n]), l1))
			o.added[n] = o.added[n].add(a.lift(l, end.added[n], l1))
		}
	}
	// The length grows by what an iteration adds.
	if d := end.length.sub(head.length); !end.bag && !end.table {
		switch {
		case len(d.terms) == 0:
			o.length = before.length
		case a.older(l, d) && !early:
			o.length = before.length.add(d.mul(l.count))
		default:
			o.length = a.hidden("len", known{lo: &Expr{}, whole: true})
		}
	}
	return &o
}
