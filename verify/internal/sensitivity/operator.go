package sensitivity

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"math/big"
	"strings"
)

// stabilities of the operators of package dataset, as they stand with their proofs
// at each; by their dataset arguments.
var stabilities = map[string][]int64{
	"Where": {1}, "Select": {1}, "Distinct": {1}, "DistinctUpTo": {1}, "Take": {2}, "Limit": {2}, "GroupBy": {2},
	"Join": {2, 2}, "Concat": {1, 1}, "Union": {1, 1}, "Intersect": {1, 1}, "Except": {1, 1},
}

// operator is a function of package dataset.
func (a *analysis) operator(f *frame, st *state, c *closure, args []value, x *ast.CallExpr) (value, bool) {
	name := c.fn.Name()
	if c.self != nil {
		return value{}, false
	}
	for i, v := range args {
		if v.kind == function && v.fn.body != nil {
			a.closed(st, v.fn, x.Args[i], map[*ast.BlockStmt]bool{})
		}
	}
	dataset := func(i int) value {
		if args[i].kind != private {
			a.fail(x.Args[i], "a dataset that is a parameter or made by an operator", "a dataset of which nothing is known")
		}
		return args[i]
	}
	created := name == "New" || name == "NewUnits" || name == "NewOfUnits" || name == "Collect"
	if strings.HasPrefix(name, "Noisy") || name == "Choose" {
		a.random(args[1], x)
	}
	if created {
		a.random(args[0], x)
	}
	for i, v := range args {
		if v.kind == private || v.kind == divided || v.kind == source || v.kind == function || created && i == 1 {
			continue
		}
		args[i] = a.handed(st, v, x)
		if e := a.envs(st, v)[l1]; len(e) > 0 {
			a.fail(x.Args[min(i, len(x.Args)-1)], "public options", "an argument of %s depends on private data", name)
		}
	}
	switch name {
	case "New", "NewUnits", "NewOfUnits", "Collect":
		e := a.envs(st, args[1])[l1]
		if args[1].kind == ref && !st.heap[args[1].obj].bag {
			if len(e) > 0 {
				a.fail(x, "records: bag(rows) <= 1", "numbers in their places as records")
			}
		}
		if strings.HasSuffix(name, "Units") {
			// A record that comes or goes makes another unit of one: it is taken out, and put
			// in again.
			e = e.scale(integer(2))
		}
		return value{kind: tuple, elems: []value{{kind: private, id: a.next(), env: e, roots: map[string]env{fmt.Sprint(name, a.next()): e}}, a.public("err")}}, true
	case "BoundedJoin":
		l, r := dataset(0), dataset(1)
		left, right := a.option(st, args[4], "Left", x), a.option(st, args[4], "Right", x)
		return value{kind: private, id: a.next(), env: l.env.scale(integer(2).mul(right)).add(r.env.scale(integer(2).mul(left))), path: common(l.path, r.path), roots: a.roots(l, r)}, true
	case "SelectMany":
		d := dataset(0)
		k := a.number(st, args[1], x)
		if len(a.env(k.sym)) > 0 {
			a.fail(x, "a public number", "how many records each becomes depends on private data")
		}
		return value{kind: private, id: a.next(), env: d.env.scale(a.abs(k.sym)), path: d.path, roots: d.roots}, true
	case "Partition":
		d := dataset(0)
		count := a.public("parts")
		if args[1].kind == ref {
			count = value{sym: st.heap[args[1].obj].length}
		}
		group := a.next()
		return value{kind: divided, id: group, env: d.env, roots: d.roots, fields: map[string]value{"count": count},
			path: append(append([]part{}, d.path...), part{group, "each"})}, true
	case "NoisyCount", "NoisySum", "NoisyAverage", "NoisyHistogram", "NoisyMedian", "NoisyOrderStatistic", "NoisyQuantiles", "NoisyVectorSum", "Choose":
		d := dataset(2)
		it := a.options(st, args[len(args)-1], x)
		it.pos, it.path, it.times, it.sens = x.Pos(), d.path, one(), env{}
		for _, r := range sortedKeys(d.roots) {
			it.sens = it.sens.add(d.roots[r])
		}
		a.charge(st, it)
		return value{kind: tuple, elems: []value{a.public("answer"), a.public("err")}}, true
	case "ReadLines", "CSV", "JSON":
		v := value{kind: tuple, elems: []value{a.public("records"), a.public("err")}}
		if name != "ReadLines" {
			return a.public("decoder"), true
		}
		return v, true
	}
	factors, ok := stabilities[name]
	if !ok {
		a.fail(x, "", "the operator %s is not known here", name)
	}
	out := value{kind: private, id: a.next()}
	for i, s := range factors {
		d := dataset(i)
		out.env = out.env.add(d.env.scale(integer(s)))
		out.roots = a.roots(out, d)
		if i == 0 {
			out.path = d.path
		} else {
			out.path = common(out.path, d.path)
		}
	}
	return out, true
}

// roots are those of either: what is charged is charged to each once.
func (a *analysis) roots(v, w value) map[string]env {
	all := map[string]env{}
	for _, side := range []map[string]env{v.roots, w.roots} {
		for r, e := range side {
			all[r] = all[r].max(e, a.facts)
		}
	}
	return all
}

// common is what two paths have in common: what is asked of records of both is paid
// for where they part.
func common(p, q []part) []part {
	n := 0
	for n < len(p) && n < len(q) && p[n] == q[n] {
		n++
	}
	return p[:n:n]
}

// option is a number among options.
func (a *analysis) option(st *state, v value, name string, at ast.Node) Expr {
	switch {
	case v.kind == record:
		if w, ok := v.fields[name]; ok {
			return a.number(st, w, at).sym
		}
		for _, embedded := range []string{"Options", "ScoreOptions"} {
			if w, ok := v.fields[embedded]; ok {
				return a.option(st, w, name, at)
			}
		}
		if v.base == "" {
			return Expr{}
		}
	}
	a.fail(at, "options that are written out in the function", "options of which it is not known what they ask for")
	return Expr{}
}

// options say what a release of package dataset costs.
func (a *analysis) options(st *state, v value, at ast.Node) item {
	eps, delta, rho := a.option(st, v, "Epsilon", at), a.option(st, v, "Delta", at), a.option(st, v, "Rho", at)
	switch none := (Expr{}); {
	case rho.is(none) && delta.is(none):
		return item{law: pureCost, epsilon: eps}
	case eps.is(none) && delta.is(none):
		return item{law: zcdpCost, rho: rho}
	case rho.is(none):
		return item{law: approxCost, epsilon: eps, delta: delta}
	}
	a.fail(at, "Epsilon, Rho, or Epsilon with Delta", "options that package dataset refuses")
	return item{}
}

func isAmount(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == module+"privacy" && n.Obj().Name() == "Amount"
}

// amount is what is known of package privacy.
func (a *analysis) amount(f *frame, st *state, c *closure, args []value, x *ast.CallExpr) (value, bool) {
	switch name := c.fn.Name(); {
	case c.self == nil && (name == "ParseEpsilon" || name == "ParseRho" || name == "ParseDelta"):
		tv := f.pkg.Info.Types[x.Args[0]]
		amount := a.public("amount")
		if tv.Value != nil && tv.Value.Kind() == constant.String {
			if r, ok := new(big.Rat).SetString(constant.StringVal(tv.Value)); ok && r.Sign() >= 0 {
				amount = value{sym: rat(r)}
			}
		}
		return value{kind: tuple, elems: []value{amount, a.public("err")}}, true
	case c.self != nil && name == "Add" && len(args) == 1:
		v, w := a.number(st, *c.self, x), a.number(st, args[0], x)
		return value{sym: v.sym.add(w.sym)}, true
	case c.self != nil && name == "MulRat" && len(args) == 1:
		v, w := a.number(st, *c.self, x), a.number(st, args[0], x)
		if k := a.single(w.sym); k != nil && k.rational != nil && len(a.env(v.sym)) == 0 {
			return value{sym: v.sym.mul(*k.rational)}, true
		}
	}
	return value{}, false
}
