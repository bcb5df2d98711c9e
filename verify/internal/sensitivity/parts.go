package sensitivity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A stretch is the elements of a slice from lo on and before hi, as a source of their own.
type stretch struct {
	lo, hi  Expr
	env     [3]env
	element value // where it is one number, that
}

// apart are so many envs of what together moves no further than e does: of the fields of a
// struct, or the elements of a slice, the distances add up to that of the whole in l1. They
// are e itself where other norms say less, and within loops over private records, where
// what a record does is told by its name.
func (a *analysis) apart(e [3]env, n int) [][3]env {
	out := make([][3]env, n)
	group := a.next()
	for i := range out {
		out[i] = e
		if a.divides(e) {
			out[i] = same(a.part1(group, i, e[l1]))
		}
	}
	return out
}

// part1 is one part of a group that together moves as far as e.
func (a *analysis) part1(group, i int, e env) env {
	name := fmt.Sprintf("·part%d.%d", group, i)
	a.splits[name] = &split{group: group, env: maps.Clone(e), loop: a.top(), numbers: true}
	return env{name: {most: one()}}
}

func (a *analysis) divides(e [3]env) bool {
	return len(e[l1]) > 0 && e[l1].refusal() == nil && sameEnv(e[l1], e[l2]) && sameEnv(e[l1], e[linf]) && !a.amongRecords()
}

func (a *analysis) amongRecords() bool {
	return slices.ContainsFunc(a.stack, func(l *loop) bool { return l.bag })
}

// stretch is the part of an object from lo on, before hi, if it shares no element with
// those of which that was asked before of the same content, in the same round.
//
// Theorem. Stretches that share no element move, all together, no further in l1 than the
// slice does.
func (a *analysis) stretch(o *object, lo, hi Expr) *stretch {
	key := [2]int{o.id, 0}
	if l := a.top(); l != nil {
		key[1] = l.id
	}
	known := a.stretches[key]
	for _, s := range known {
		if s.lo.is(lo) && s.hi.is(hi) {
			return s
		}
	}
	s := &stretch{lo: lo, hi: hi, env: o.env}
	apart := a.divides(o.env)
	for _, t := range known {
		apart = apart && (sameEnv(t.env[l1], o.env[l1]) || a.isNonneg(t.lo.sub(hi)) || a.isNonneg(lo.sub(t.hi)))
	}
	if apart {
		group, ok := a.groups[key]
		if !ok {
			group = a.next()
			a.groups[key] = group
		}
		s.env = same(a.part1(group, len(known), o.env[l1]))
	}
	a.stretches[key] = append(known, s)
	return s
}

// larger bounds what is one of two. Parts of a whole are written as that, where together
// they would seem to move further.
func (a *analysis) larger(e, f env) env {
	both := e.max(f, a.facts)
	numbers := func(s string) bool { return a.splits[s].numbers }
	whole := a.resolved(e, numbers).max(a.resolved(f, numbers), a.facts)
	if sameEnv(whole, a.resolved(both, numbers)) {
		return both
	}
	return whole
}

// ordered are the distances of the smaller and the larger of two numbers.
//
// Theorem. Sorting two numbers is 1-sensitive in l1, |min-min'| + |max-max'| <= |x-x'| + |y-y'|
// (the rearrangement inequality): together they move no further than the two.
func (a *analysis) ordered(x, y Expr) (lo, hi env, ok bool) {
	ex, ey := a.env(x), a.env(y)
	both := ex.add(ey)
	if len(ex) == 0 || len(ey) == 0 || !a.divides(same(both)) || !sameEnv(both, a.larger(ex, ey)) {
		return nil, nil, false
	}
	u, v := x.String(), y.String()
	if u > v {
		u, v = v, u
	}
	key := fmt.Sprint(u, " and ", v)
	if l := a.top(); l != nil {
		key = fmt.Sprint(key, " in ", l.id)
	}
	group, seen := a.pairs[key]
	if !seen {
		group = a.next()
		a.pairs[key] = group
	}
	return a.part1(group, 0, both), a.part1(group, 1, both), true
}

// exchanged are the numbers that change places between two lists, where it is a comparison
// that decides which of the lists there is.
//
// Theorem. Let two numbers be g and h where it holds, and h and g elsewhere, and g = h where
// its sides are equal. On the segment between two arguments they are made of pieces of (g, h)
// and of (h, g): together they move no further in l1 than g and h do.
func exchanged[K comparable](a *analysis, cond *value, keys []K, vs, ws map[K]value) map[K]value {
	if cond == nil || cond.test == nil || len(a.env(cond.sym)) == 0 {
		return nil
	}
	out := map[K]value{}
	for i, p := range keys {
		v, w := vs[p], ws[p]
		if v.kind != plain || w.kind != plain || v.sym.is(w.sym) {
			continue
		}
		for _, q := range keys[i+1:] {
			x, y := vs[q], ws[q]
			if x.kind != plain || y.kind != plain || !x.sym.is(w.sym) || !y.sym.is(v.sym) || !a.meets(v.sym.sub(w.sym), cond.test) {
				continue
			}
			ev, ew := a.env(v.sym), a.env(w.sym)
			both := ev.add(ew)
			if len(ev) == 0 || len(ew) == 0 || !a.divides(same(both)) || !sameEnv(both, a.larger(ev, ew)) {
				continue
			}
			group := a.next()
			for n, z := range []value{a.joinedNumber(nil, cond, v, w), a.joinedNumber(nil, cond, w, v)} {
				a.knowns[z.sym.terms[0].powers[0].atom.name].env = a.part1(group, n, both)
				out[[]K{p, q}[n]] = z
			}
		}
	}
	return out
}

// exchangedVars are the variables that change places between two states.
func (a *analysis) exchangedVars(cond *value, x, y *state) map[place]value {
	var keys []place
	for p, v := range x.vars {
		if w, ok := y.vars[p]; ok && p.obj != nil && v.kind == plain && !equal(v, w) {
			keys = append(keys, p)
		}
	}
	slices.SortFunc(keys, func(p, q place) int {
		return cmp.Or(cmp.Compare(p.frame, q.frame), cmp.Compare(p.obj.Pos(), q.obj.Pos()))
	})
	return exchanged(a, cond, keys, x.vars, y.vars)
}

func numbered(list []value) (keys []int, all map[int]value) {
	all = map[int]value{}
	for i, v := range list {
		keys, all[i] = append(keys, i), v
	}
	return keys, all
}
