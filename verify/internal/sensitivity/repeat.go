package sensitivity

import (
	"fmt"
	"slices"
	"strings"
)

// prefix reports whether a list begins another.
func prefix(short, long []item) bool {
	if len(short) > len(long) {
		return false
	}
	for i := range short {
		if short[i].id != long[i].id {
			return false
		}
	}
	return true
}

// choice is what is paid where it is one of two, both of which begin alike.
func (a *analysis) choice(before, x, y []item) []item {
	switch {
	case prefix(x, y):
		return y
	case prefix(y, x):
		return x
	}
	n := len(before)
	return append(before[:n:n], item{id: a.next(), pos: append(x[n:len(x):len(x)], y[n:]...)[0].pos, law: choice, times: one(), choices: [][]item{x[n:], y[n:]}})
}

// repeated is what all iterations of a loop pay.
func (a *analysis) repeated(l *loop, items []item) []item {
	index := fmt.Sprint("loop ", l.id)
	items = regroup(items, func(group int) bool { return group > l.mark })
	out := make([]item, 0, len(items))
	for _, it := range items {
		out = append(out, a.repeat(l, it, index, false))
	}
	return out
}

func (a *analysis) repeat(l *loop, it item, index string, within bool) item {
	fixed := func(e Expr, what string) Expr {
		b := bound{most: e}
		if !a.bounded(l, &b) {
			a.fail(nodeAt(it.pos), "the same in all iterations", "%s differs between the iterations of a loop", what)
		}
		return b.most
	}
	once := within
	path := make([]part, len(it.path))
	for i, p := range it.path {
		if p.index == index {
			p.index, once = "each", true
		}
		path[i] = p
	}
	it.path = path
	if len(it.scale.terms) > 0 && !a.older(l, it.scale) {
		a.fail(nodeAt(it.pos), "noise of one scale", "the scale of noise differs between the iterations of a loop")
	}
	it.rounds = append(slices.Clip(it.rounds), l.count)
	it.times = fixed(it.times, "how often noise is drawn")
	it.epsilon, it.delta, it.rho = fixed(it.epsilon, "a cost"), fixed(it.delta, "a cost"), fixed(it.rho, "a cost")
	elementwise := false
	for s := range a.resolved(it.sens, func(s string) bool { return a.splits[s].numbers && !a.consumed(l, s) }) {
		el := a.elems[s]
		sp := a.splits[s]
		elementwise = elementwise || el != nil && el.loop == l || sp != nil && sp.loop == l && a.consumed(l, s)
	}
	sens := a.substituted(l, it.sens)
	switch {
	case it.sens == nil:
	case within || !elementwise:
		it.sens = a.lift(l, sens, linf)
	case it.law == gaussian || it.law == discreteGaussian:
		it.sens, it.vector, once = a.lift(l, sens, l2), true, true
	case it.law == exponentialLaw || it.law == withinLaw || it.law == claimedCost || it.law == pureCost || it.law == zcdpCost || it.law == approxCost:
		it.sens = a.lift(l, sens, linf)
	default:
		it.sens, once = a.lift(l, sens, l1), true
	}
	if it.choices != nil {
		choices := make([][]item, len(it.choices))
		for i, list := range it.choices {
			for _, inner := range list {
				choices[i] = append(choices[i], a.repeat(l, inner, index, true))
			}
		}
		it.choices = choices
	}
	if !once {
		it.times = it.times.mul(l.count)
	}
	return it
}

// regroup writes what is asked of the parts of some partitions as one choice each: the
// parts share no record, so that a record pays for one of them.
func regroup(items []item, which func(group int) bool) []item {
	for {
		deepest, group := 0, 0
		for _, it := range items {
			if n := len(it.path); n > deepest && which(it.path[n-1].group) {
				deepest, group = n, it.path[n-1].group
			}
		}
		if deepest == 0 {
			return items
		}
		var out []item
		byIndex := map[string][]item{}
		at := -1
		var parent []part
		for _, it := range items {
			if len(it.path) != deepest || it.path[deepest-1].group != group {
				out = append(out, it)
				continue
			}
			index := it.path[deepest-1].index
			it.path = it.path[:deepest-1]
			if index == "each" || strings.HasPrefix(index, "loop ") {
				out = append(out, it)
				continue
			}
			if at < 0 {
				at = len(out)
				parent = it.path
				out = append(out, item{})
			}
			it.path = nil
			byIndex[index] = append(byIndex[index], it)
		}
		if at >= 0 {
			c := item{law: choice, times: one(), path: parent}
			for _, k := range sortedKeys(byIndex) {
				c.choices = append(c.choices, byIndex[k])
			}
			c.pos, c.id = c.choices[0][0].pos, -c.choices[0][0].id
			out[at] = c
		}
		items = out
	}
}
