package sensitivity

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

const module = "github.com/discreet-dp/discreet/"

// An item is something that a function pays for: a release, so many times; or one of
// several lists of items.
type item struct {
	id    int
	pos   token.Pos
	times Expr
	law   law
	// Noise: its scale, and how far the number moves that it is added to.
	scale Expr
	sens  env
	// What a release costs by itself.
	epsilon, delta, rho Expr
	path                []part
	// choices are lists of which the most costly counts: what a public choice leads
	// to, or what is asked of parts that share no record.
	choices [][]item
	// rounds are the counts of the loops that a draw stands in: it is made where none is 0.
	rounds []Expr
}

type law string

const (
	laplace          law = "laplace"
	discreteLaplace  law = "discrete_laplace"
	gaussian         law = "gaussian"
	discreteGaussian law = "discrete_gaussian"
	exponentialLaw   law = "exponential" // scale: 1/ε for scores that move by 1
	pureCost         law = "pure"
	approxCost       law = "approx"
	zcdpCost         law = "zcdp"
	choice           law = "choice"
)

// A part is one of the parts of a partition. Index is a number, "each" for all of
// them, or that of a loop that is at each part once.
type part struct {
	group int
	index string
}

func samePath(p, q []part) bool {
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != q[i] {
			return false
		}
	}
	return true
}

// partOf is one part.
func (a *analysis) partOf(v value, idx value) value {
	index := "each"
	if l := a.turn(idx); l != nil {
		index = fmt.Sprint("loop ", l.id)
	} else if n, ok := idx.sym.number(); ok {
		index = n.RatString()
	}
	group := v.path[len(v.path)-1].group
	w := value{kind: private, id: a.next(), env: v.env, roots: v.roots}
	w.path = append(append([]part{}, v.path[:len(v.path)-1]...), part{group, index})
	return w
}

// noised is a number with noise added: public from here on, and paid for.
func (a *analysis) noised(st *state, v value, d *draw, at ast.Node) value {
	if st.spent[d.id] {
		a.fail(at, "a draw of its own for each use", "noise that was added to a number is used again")
	}
	if d.loops < len(a.stack) {
		a.fail(at, "a draw in the loop", "noise drawn before a loop is added in each of its iterations")
	}
	st.spent[d.id] = true
	e := a.env(v.sym)
	if len(e) == 0 {
		return a.public("noise")
	}
	if d.law == "" {
		a.fail(at, "Laplace, DiscreteLaplace, Gaussian or DiscreteGaussian noise", "one-sided noise hides nothing on its other side")
	}
	if strings.HasPrefix(d.law, "discrete") && !a.whole(v.sym) {
		a.fail(at, "noise of a real law, or an integer", "noise over the integers is added to what is not known to be one")
	}
	a.precise(v.sym, d.law)
	a.charge(st, item{pos: at.Pos(), law: law(d.law), scale: d.scale, sens: e, times: one()})
	return value{sym: a.hidden("noisy", known{whole: strings.HasPrefix(d.law, "discrete")})}
}

// precise notes over which numbers the result speaks.
func (a *analysis) precise(e Expr, law string) {
	if !a.whole(e) {
		a.reals = true
	} else if !strings.HasPrefix(law, "discrete") {
		a.grid = true
	}
}

func (a *analysis) charge(st *state, it item) {
	if !a.cost {
		a.fail(nodeAt(it.pos), "//dp:cost", "the function makes noise; a sensitivity is claimed of functions without")
	}
	it.id = a.next()
	st.items = append(st.items[:len(st.items):len(st.items)], it)
}

type nodeAt token.Pos

func (n nodeAt) Pos() token.Pos { return token.Pos(n) }
func (n nodeAt) End() token.Pos { return token.Pos(n) }

// release knows the functions that make noise, and those of package dataset.
func (a *analysis) release(f *frame, st *state, c *closure, args []value, x *ast.CallExpr) (value, bool) {
	if c.fn.Pkg() == nil || !strings.HasPrefix(c.fn.Pkg().Path(), module) {
		return value{}, false
	}
	switch strings.TrimPrefix(c.fn.Pkg().Path(), module) {
	case "noise":
		return a.drawn(st, c, args, x)
	case "dataset":
		return a.operator(f, st, c, args, x)
	case "mechanism":
		return a.mechanism(st, c, args, x)
	case "privacy":
		return a.amount(f, st, c, args, x)
	}
	return value{}, false
}

func (a *analysis) drawn(st *state, c *closure, args []value, x *ast.CallExpr) (value, bool) {
	if c.self == nil || !strings.Contains(c.name, "noise.Source)") {
		switch {
		case c.self == nil && c.fn.Name() == "System":
			return value{kind: source, id: a.next()}, true
		case c.self == nil && (c.fn.Name() == "NewSource" || c.fn.Name() == "NewStream"):
			a.random(st, args[0], x)
			return value{kind: source, id: a.next()}, true
		}
		return value{}, false
	}
	a.random(st, *c.self, x)
	if !a.cost {
		a.fail(x, "//dp:cost", "the function draws noise; a sensitivity is claimed of functions without")
	}
	parameter := func(i int) Expr {
		v := a.number(st, args[i], x)
		if len(a.env(v.sym)) > 0 {
			a.fail(x, "a public parameter", "the parameter of a draw depends on private data")
		}
		return v.sym
	}
	laws := map[string]string{"Laplace": "laplace", "DiscreteLaplace": "discrete_laplace", "Gaussian": "gaussian", "DiscreteGaussian": "discrete_gaussian", "Exponential": "", "Geometric": ""}
	name := c.fn.Name()
	if l, ok := laws[name]; ok {
		return value{kind: noisy, draw: &draw{id: a.next(), law: l, scale: parameter(0), loops: len(a.stack), pos: x.Pos(), sign: 1}}, true
	}
	switch name {
	case "Bernoulli", "Uniform":
		parameter(0)
		st.spent[a.next()] = true
		return a.public("coin"), true
	case "Choose":
		if args[0].kind != ref {
			a.fail(x, "a slice of scores", "scores of which nothing is known")
		}
		a.touch(args[0].obj, nil)
		o := a.settled(st.heap[args[0].obj])
		eps := parameter(1)
		st.spent[a.next()] = true
		if len(o.env[linf]) == 0 {
			return a.public("choice"), true
		}
		if o.bag {
			a.fail(x, "a score for each public candidate", "how many candidates there are depends on private data")
		}
		scale, ok := eps.inverse()
		if !ok {
			return a.public("choice"), true
		}
		a.reals = true
		a.charge(st, item{pos: x.Pos(), law: exponentialLaw, scale: scale, sens: o.env[linf], times: one()})
		return value{sym: a.hidden("choice", known{whole: true, lo: &Expr{}})}, true
	case "Round":
		v := a.number(st, args[0], x)
		e := a.env(v.sym)
		if len(e) == 0 {
			return a.public("rounded"), true
		}
		if a.whole(v.sym) {
			// Integers lie on the grid, but what is far out is cut off: it moves no further, and may
			// move less.
			return value{sym: a.hidden("rounded", known{env: e})}, true
		}
		return a.opaque("rounded", e, a.why(x, "whole numbers, which are on the grid", "rounding to a grid may add a step of it to a distance")), true
	}
	a.fail(x, "", "the draw %s", name)
	return value{}, false
}

// random refuses bits that are neither the system's nor those that the caller gives as
// such: of a type of the program's own they may be known.
func (a *analysis) random(st *state, v value, x *ast.CallExpr) {
	if v.kind == source {
		return
	}
	a.fail(x, "noise.System(), or a parameter", "bits of which it is not known that they are random")
}

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
		a.random(st, args[1], x)
	}
	if created {
		a.random(st, args[0], x)
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
	}
	return value{}, false
}

// byClaim is a call that costs what its function claims.
//
// The claim is of neighbours at certain distances, and speaks of this call if the
// arguments move no further than those. At k times the distance, k whole, it costs k
// times as much (group privacy).
func (a *analysis) byClaim(st *state, c *closure, cl *claim.Claim, args []value, x *ast.CallExpr) (value, bool) {
	names := map[string]value{}
	for i, v := range args {
		args[i] = a.handed(st, v, x)
	}
	params := map[string]types.Type{}
	for v := range c.fn.Signature().Params().Variables() {
		params[v.Name()] = v.Type()
	}
	i := 0
	for _, field := range c.typ.Params.List {
		for _, name := range field.Names {
			if i < len(args) {
				names[name.Name] = args[i]
			}
			i++
		}
	}
	symbol := func(name string) (Expr, bool) {
		if v, ok := names[name]; ok && v.kind == plain && len(a.env(v.sym)) == 0 {
			return v.sym, true
		}
		return Expr{}, false
	}
	for i := range min(len(args), c.fn.Signature().Params().Len()) {
		if !a.byType(st, args[i], c.fn.Signature().Params().At(i).Type()) {
			a.fail(x, "noise.System(), or a parameter", "bits of which it is not known that they are random")
		}
	}
	var e env
	covered := map[string]bool{}
	for _, adj := range cl.Adjacent {
		v, ok := names[adj.Input.Name]
		if !ok {
			return value{}, false
		}
		covered[adj.Input.Name] = true
		if v.kind == ref {
			a.touch(v.obj, nil)
		}
		d := a.envs(st, v)
		norm := l1
		if adj.Relation == claim.Each {
			norm = linf
		}
		if (adj.Relation == claim.Bag) != (v.kind == ref && st.heap[v.obj].bag) {
			if len(d[l1]) > 0 {
				a.fail(x, "", "%s is claimed for other neighbours than those of this call", shortName(c.name))
			}
		}
		most, err := expression(adj.High, symbol)
		low, err2 := expression(adj.Low, symbol)
		if err != nil || adj.Relation != claim.Bag && (err2 != nil || !low.neg().is(most)) {
			a.fail(x, "", "the claim of %s is one-sided, or not of public parameters", shortName(c.name))
		}
		if len(d[norm]) == 0 {
			continue
		}
		// On the way from one to the other are neighbours only if those of distance 1 are,
		// for what is counted; and if each step is in one element where they differ in one.
		counted := adj.Relation == claim.Bag || wholeType(params[adj.Input.Name])
		if n, ok := most.number(); counted && (!ok || !n.IsInt()) && !a.whole(most) {
			a.fail(x, "neighbours at a whole distance", "the claim of %s is for neighbours at a distance that is no whole number", shortName(c.name))
		}
		if adj.Relation == claim.One && v.kind == ref && !a.ones[st.heap[v.obj].id] {
			if !counted {
				a.fail(x, "each("+adj.Input.Name+"), or the input itself", "the claim of %s is for neighbours that differ in one element", shortName(c.name))
			}
			most = one()
		}
		if !a.isPositive(most) {
			a.fail(x, "", "the claim of %s is for neighbours that are not known to differ", shortName(c.name))
		}
		if n, ok := most.inverse(); ok {
			e = e.max(d[norm].scale(n), a.facts)
		}
	}
	for name, v := range names {
		if !covered[name] && len(a.envs(st, v)[l1]) > 0 {
			a.fail(x, "", "the claim of %s is for neighbours with the same %s", shortName(c.name), name)
		}
	}
	for _, r := range cl.Requires {
		fs, err := conditions(r, symbol)
		if err != nil {
			a.fail(x, "", "what %s requires is not known to hold here", shortName(c.name))
		}
		for _, q := range fs {
			if q.strict && !a.isPositive(q.e) || !q.strict && !a.isNonneg(q.e) {
				a.fail(x, "//dp:requires "+r.String(), "what %s requires is not known to hold here: %s", shortName(c.name), r)
			}
		}
	}
	it := item{pos: x.Pos(), times: one(), sens: e}
	var err error
	switch cl.Cost.Measure {
	case claim.Pure:
		it.law = claimedCost
		it.epsilon, err = expression(cl.Cost.Epsilon, symbol)
	default:
		a.fail(x, "a claim of ε alone", "the claim of %s is not pure", shortName(c.name))
	}
	if err != nil {
		a.fail(x, "", "the claim of %s is not of public parameters", shortName(c.name))
	}
	a.uses = append(a.uses, c.name)
	a.reals = a.reals || !a.program.whole[c.name]
	st.spent[a.next()] = true
	if len(e) > 0 {
		a.charge(st, it)
	}
	return a.released(st, c.fn.Signature().Results(), true), true
}

// byType reports whether the sources of randomness in a value of a type are such: a claim
// is of those.
func (a *analysis) byType(st *state, v value, t types.Type) bool {
	if random(t) {
		return v.kind == source
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	u, ok := t.Underlying().(*types.Struct)
	if !ok || v.kind == plain && a.fixed(v.sym) {
		return true // given as it is; in what is no struct none is looked for
	}
	for f := range u.Fields() {
		if v.kind != record || !a.byType(st, a.field(st, v, f, nil), f.Type()) {
			return false
		}
	}
	return true
}

// claimedCost is ε times the distance, as a claim says that was proved elsewhere.
const claimedCost law = "claimed"

// released is a public result; shared says that it may be what the function was given.
func (a *analysis) released(st *state, t *types.Tuple, shared bool) value {
	one := func(t types.Type) value {
		if _, ok := t.Underlying().(*types.Slice); ok {
			return a.alloc(st, object{length: a.hidden("len", known{lo: &Expr{}, whole: true}), view: shared})
		}
		return a.public("answer")
	}
	if t.Len() == 1 {
		return one(t.At(0).Type())
	}
	v := value{kind: tuple}
	for i := range t.Len() {
		v.elems = append(v.elems, one(t.At(i).Type()))
	}
	return v
}

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
	for s := range it.sens {
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
		it.sens, once = a.lift(l, sens, l2), true
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
