package sensitivity

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
)

// A nest is how the rounds of a loop share the places that loops within it, or parts of a
// slice, come to: so many in a round at most, and no place in more than so many rounds.
type nest struct {
	loop         *loop
	places, most Expr
}

// nested finds the loop around l in which c·i + b, for i of l, is told by the round, too.
//
// Theorem. Let i be lo+t for t in [0, n), and c·lo + b be D·r + e in the round r of the loop
// around, all but t and r the same. Then two pairs (t, r) with the same place have
// c·(t-t') = D·(r'-r). Where |D| >= |c|·n, or |c| >= |D|·m for m rounds, that is so of no
// two pairs (x[i*cols+j]); else, where neither is 0, of one round for each t, and of one t for
// each round: no place is in more than min(n, m) (sums over windows).
func (a *analysis) nested(l *loop, o *object, idx Expr) *nest {
	at := slices.Index(a.stack, l)
	for k := at - 1; k >= o.depth && !a.stack[k].bag; k-- {
		around := a.stack[k]
		if !a.untold(o, k) {
			return nil
		}
		c, b, ok := a.linear(around, l.index, idx)
		i := a.indexOf(l)
		if !ok || i == nil || i.lo == nil || i.most == nil {
			return nil
		}
		n, bounded := a.ceiling(i.most.sub(*i.lo).add(one()), nil, around)
		d, rest, told := a.linear(around, around.index, b.add(c.mul(*i.lo)))
		switch {
		case !bounded || !told || !a.older(around, rest):
			return nil
		case len(d.terms) > 0:
			return a.shared(around, c, d, unclipped(n))
		}
	}
	return nil
}

// shared is the nest of places c·t + d·i for t in [0, n) and i of the loop.
func (a *analysis) shared(l *loop, c, d, n Expr) *nest {
	if l.stride != nil {
		d = d.mul(a.abs(rat(l.stride)))
	}
	rounds := unclipped(l.count)
	places := a.max(n, Expr{})
	for _, sign := range []int64{1, -1} {
		s := integer(sign)
		if a.isNonneg(d.mul(s).sub(a.abs(c).mul(n))) || a.stepwise(l) && a.isNonneg(c.mul(s).sub(a.abs(d).mul(rounds))) {
			return &nest{l, places, one()}
		}
	}
	if !a.isPositive(a.abs(d)) || !a.isPositive(a.abs(c)) {
		return nil
	}
	most := a.min(places, l.count)
	for _, x := range []Expr{places, l.count} {
		if isNumber(x) {
			most = x // either is a bound
		}
	}
	return &nest{l, places, most}
}

// unclipped is n of max(n, 0): what there is of no rounds is nothing.
func unclipped(n Expr) Expr {
	if len(n.terms) != 1 || len(n.terms[0].powers) != 1 || !n.is(atomic(n.terms[0].powers[0].atom)) {
		return n
	}
	if x := n.terms[0].powers[0].atom; x.op == maximum && len(x.args) == 2 {
		switch {
		case len(x.args[1].terms) == 0:
			return x.args[0]
		case len(x.args[0].terms) == 0:
			return x.args[1]
		}
	}
	return n
}

// A rowOf is the object that a row is of, and the loop in each round of which it is another one.
type rowOf struct {
	loop *loop
	of   *object
}

// untold reports whether an object is changed neither by the loop of a place nor within it.
func (a *analysis) untold(o *object, k int) bool {
	loops := a.stack[k:]
	return o.slot == nil && o.elem == nil && a.unchanged(o.env[l1], loops) && a.unchanged(o.env[l2], loops) && a.unchanged(o.env[linf], loops)
}

// indexOf is what is known of the index of a loop.
func (a *analysis) indexOf(l *loop) *known {
	if len(l.index.terms) != 1 || len(l.index.terms[0].powers) != 1 {
		return nil
	}
	return a.knowns[l.index.terms[0].powers[0].atom.name]
}

// stepwise reports whether the index of a loop grows, or falls, by as much in each round.
func (a *analysis) stepwise(l *loop) bool {
	k := a.indexOf(l)
	return l.stride != nil || k != nil && k.most != nil
}

// linear writes an expression as c·i + b, where c is the same in all rounds of a loop, and
// tells whether it is one. In b there may be what is not.
func (a *analysis) linear(l *loop, index, e Expr) (c, b Expr, ok bool) {
	if len(index.terms) != 1 || len(index.terms[0].powers) != 1 {
		return c, b, false
	}
	i := index.terms[0].powers[0].atom
	for _, t := range e.terms {
		at := slices.IndexFunc(t.powers, func(p power) bool { return p.atom.name == i.name })
		if at < 0 {
			b = b.add(Expr{[]term{t}})
			continue
		}
		if t.powers[at].halfs != 2 {
			return c, b, false
		}
		c = c.add(Expr{[]term{{t.coef, slices.Delete(slices.Clone(t.powers), at, at+1)}}})
	}
	return c, b, a.older(l, c)
}

// ceiling is a number that is no less than e, where comparisons hold, and older than a loop.
func (a *analysis) ceiling(e Expr, where []comparison, l *loop) (Expr, bool) {
	if a.older(l, e) {
		return e, true
	}
	if !a.told() {
		return e, false
	}
	for _, c := range where {
		d := c.y.sub(c.x)
		switch c.op {
		case token.GTR, token.GEQ:
			d = d.neg()
		case token.LSS, token.LEQ:
		default:
			continue
		}
		// d >= 0.
		if up := e.add(d); a.older(l, up) {
			return up, true
		}
	}
	for _, t := range e.terms {
		if len(t.powers) != 1 || t.powers[0].halfs != 2 {
			continue
		}
		x := t.powers[0].atom
		k := a.knowns[x.name]
		switch {
		case x.op == minimum && t.coef.Sign() > 0:
			for _, arg := range x.args {
				if up, ok := e.replace(x.name, arg); ok {
					if up, ok = a.ceiling(up, where, l); ok {
						return up, true
					}
				}
			}
		case x.op == maximum && t.coef.Sign() > 0:
			most, ok := Expr{}, true
			for j, arg := range x.args {
				up, all := e.replace(x.name, arg)
				if all {
					up, all = a.ceiling(up, where, l)
				}
				if ok = ok && all; j == 0 {
					most = up
				} else {
					most = a.max(most, up)
				}
			}
			return most, ok
		case k != nil && k.pieces != nil:
			yes, ok1 := e.replace(x.name, k.pieces.yes)
			no, ok2 := e.replace(x.name, k.pieces.no)
			if !ok1 || !ok2 {
				return e, false
			}
			yes, ok1 = a.ceiling(yes, append(where[:len(where):len(where)], k.pieces.test), l)
			no, ok2 = a.ceiling(no, append(where[:len(where):len(where)], *k.pieces.test.not()), l)
			return a.max(yes, no), ok1 && ok2
		}
	}
	return e, false
}

// windows are the norms over all rounds of the norm of what a round comes to.
//
// Proof. A round comes to n places at most, so that its l1 norm is at most √n of its l2 norm,
// and n of its largest; and no place is in more than k of them, so that the sums of sizes, and of
// squares, are k of the whole at most. ∎
func (a *analysis) windows(e [3]env, by *nest, norm int) (out [3]env) {
	k, n := by.most, by.places
	out = [3]env{e[l1].scale(k), e[l2].scale(a.root(k)), e[norm]}
	if norm == l1 && !(sameEnv(e[l1], e[l2]) && sameEnv(e[l1], e[linf])) {
		out[l2], out[linf] = e[l2].scale(a.root(k).mul(a.root(n))), e[linf].scale(n)
	}
	return out
}

// outward makes sources for what all rounds of a loop within come to, in one of the nest's.
func (a *analysis) outward(by *nest, e [3]env, name string) (up [3]string) {
	for norm := range up {
		up[norm] = fmt.Sprint(name, " outward", norm)
		a.elems[up[norm]] = &elements{loop: by.loop, env: a.windows(e, by, norm)}
	}
	return up
}

// across is the element of a row that a loop is at, at an index of one around it: m[i][j],
// by columns.
//
// Theorem. Where j is another one in each round of the loop around, and i in each of that
// within, no two rounds of both come to one place.
func (a *analysis) across(st *state, o *object, idx Expr, t types.Type) (value, bool) {
	if o.row == nil || !numeric(t) {
		return value{}, false
	}
	l := o.row.loop
	name := fmt.Sprintf("%s·%d·%s across", l.name, o.id, idx)
	if v, ok := l.families[name]; ok {
		return v, true
	}
	whole := o.row.of
	for k := slices.Index(a.stack, l) - 1; k >= whole.depth && !a.stack[k].bag && a.untold(whole, k); k-- {
		around := a.stack[k]
		d, rest, ok := a.linear(around, around.index, idx)
		n, bounded := a.ceiling(l.count, nil, around)
		if !ok || !bounded || !a.older(around, rest) {
			return value{}, false
		}
		if len(d.terms) == 0 {
			continue
		}
		if !a.isPositive(d) && !a.isPositive(d.neg()) {
			return value{}, false
		}
		e, size := a.elementEnvs(l, &object{}, whole.env, name, &nest{around, n, one()})
		v := a.inner(st, o, t, e, size)
		l.families[name] = v
		return v, true
	}
	return value{}, false
}

// window is how far the part of an object from lo on, before hi, moves in each norm, in a loop
// in the rounds of which it is another one.
func (a *analysis) window(o *object, lo, hi Expr) ([3]env, bool) {
	for k := len(a.stack) - 1; k >= o.depth && !a.stack[k].bag && a.untold(o, k); k-- {
		l := a.stack[k]
		d, rest, ok := a.linear(l, l.index, lo)
		n, bounded := a.ceiling(hi.sub(lo), nil, l)
		if !ok || !bounded || !a.older(l, rest) {
			return o.env, false
		}
		if len(d.terms) == 0 {
			continue
		}
		by := a.shared(l, one(), d, unclipped(n))
		if by == nil {
			return o.env, false
		}
		var all [3]env
		for norm := range all {
			if len(o.env[norm]) == 0 {
				continue
			}
			name := fmt.Sprintf("%s·%d·%s·%s·window%d", l.name, o.id, lo, hi, norm)
			a.elems[name] = &elements{loop: l, env: a.windows(o.env, by, norm)}
			all[norm] = env{name: {most: one()}}
		}
		return all, true
	}
	return o.env, false
}
