package sensitivity

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
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
	// vector: of discrete Gaussian noise, sens is in l2, of several numbers.
	vector bool
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
	if d.round != a.top() {
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
	it := item{pos: at.Pos(), law: law(d.law), scale: d.scale, sens: e, times: one()}
	a.rescale(&it)
	a.charge(st, it)
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
			a.random(args[0], x)
			return value{kind: source, id: a.next()}, true
		}
		return value{}, false
	}
	a.random(*c.self, x)
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
		return value{kind: noisy, draw: &draw{id: a.next(), law: l, scale: parameter(0), round: a.top(), pos: x.Pos(), sign: 1}}, true
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
func (a *analysis) random(v value, x *ast.CallExpr) {
	if v.kind == source {
		return
	}
	a.fail(x, "noise.System(), or a parameter", "bits of which it is not known that they are random")
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
	read := a.reading(symbol)
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
		most, err := read.expression(adj.High)
		low, err2 := read.expression(adj.Low)
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
			e = a.larger(e, d[norm].scale(n))
		}
	}
	for name, v := range names {
		if !covered[name] && len(a.envs(st, v)[l1]) > 0 {
			a.fail(x, "", "the claim of %s is for neighbours with the same %s", shortName(c.name), name)
		}
	}
	for _, r := range cl.Requires {
		fs, err := read.conditions(r)
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
		it.epsilon, err = read.expression(cl.Cost.Epsilon)
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
