package sensitivity

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// A Step is something that a proof rests on, for people.
type Step struct {
	Pos  token.Pos
	Text string
}

// A Result is what is established about a claim. A claim that is not proved is not
// refuted: the rules may be too weak to see it.
type Result struct {
	Proved bool
	// Inferred is the sensitivity to each claimed input, or the cost; an upper bound.
	Inferred string
	// Over is the numbers of which the result speaks, as verify.Over.
	Over     string
	Note     string
	Refusals []Refusal
	Plan     *Plan
	Steps    []Step
	// Uses are the functions whose own claims were taken as true.
	Uses []string
}

// A Signature is the distance of a function's result in a norm, as a multiple of the
// distance of each private input.
type Signature struct {
	Norm   claim.Norm
	Inputs []Sensitivity
}

// Sensitivity is that to one input. Infinite says why there is no bound.
type Sensitivity struct {
	Input    string
	Most     Expr
	Infinite *Refusal
}

// An Input is one that neighbours differ in.
type Input struct {
	Name string
	// Bag: the distance is the symmetric difference of multisets. Else it is the one in
	// Norm, for slices, and |x-y| for numbers.
	Bag  bool
	Norm claim.Norm
	// One: neighbours differ in one element.
	One bool
}

var norms = map[claim.Norm]int{claim.L1: l1, claim.L2: l2, claim.LInf: linf, "": l1}

// Infer returns how far the result of a function moves, in a norm, with each of its
// inputs. What it cannot follow it refuses.
func (p *Program) Infer(fn string, inputs []Input, norm claim.Norm, requires ...claim.Claim) (Signature, error) {
	var c *claim.Claim
	if len(requires) > 0 {
		c = &requires[0]
	}
	a, _, env, err := p.run(fn, c, inputs, false)
	if err != nil {
		return Signature{}, err
	}
	s := Signature{Norm: norm}
	for _, in := range inputs {
		b := env[norms[norm]][in.Name]
		s.Inputs = append(s.Inputs, Sensitivity{in.Name, b.most, b.infinite})
	}
	_ = a
	return s, nil
}

// Error is a refusal as an error.
func (r *Refusal) Error() string { return r.Reason }

var errUnknown = errors.New("the function is not of the program")

// run analyses a function and returns how far its results move in each norm.
func (p *Program) run(fn string, c *claim.Claim, inputs []Input, cost bool) (a *analysis, items []item, out [3]env, err error) {
	d, ok := p.funcs[fn]
	if !ok {
		return nil, nil, out, fmt.Errorf("%s: %w", fn, errUnknown)
	}
	a = &analysis{facts: &facts{}, program: p, knowns: map[string]*known{}, elems: map[string]*elements{}, splits: map[string]*split{}, parents: map[int]int{}, inputs: len(inputs), ones: map[int]bool{}, escaped: map[string]bool{}, seen: map[types.Object]bool{}, cost: cost, pkg: d.pkg}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = &r.Refusal
		default:
			panic(r)
		}
	}()
	st := &state{vars: map[place]value{}, heap: map[int]*object{}, spent: map[int]bool{}}
	var args []value
	var self *value
	names := map[string]bool{}
	bind := func(v *types.Var) value {
		names[v.Name()] = true
		i := slices.IndexFunc(inputs, func(in Input) bool { return in.Name == v.Name() })
		if i < 0 {
			if w, ok := a.fields(st, v, inputs); ok {
				for f := range w.fields {
					names[v.Name()+"."+f] = true
				}
				return w
			}
			return a.parameter(st, v, nil)
		}
		return a.parameter(st, v, &inputs[i])
	}
	sig := d.fn.Signature()
	if recv := sig.Recv(); recv != nil {
		v := bind(recv)
		self = &v
	}
	for i := range sig.Params().Len() {
		args = append(args, bind(sig.Params().At(i)))
	}
	for _, in := range inputs {
		if !names[in.Name] {
			return a, nil, out, &Refusal{d.decl.Pos(), fmt.Sprintf("%s has no input %s", shortName(fn), in.Name), "a parameter, or a field of one that is a struct"}
		}
	}
	if c != nil {
		for _, r := range c.Requires {
			a.require(understood(r), a.whole)
		}
	}
	if sig.Variadic() {
		return a, nil, out, &Refusal{d.decl.Pos(), "a function of any number of arguments", "a slice"}
	}
	if why := p.sole(d); why != nil {
		return a, nil, out, why
	}
	cl := &closure{pkg: d.pkg, typ: d.decl.Type, recv: d.decl.Recv, body: d.decl.Body, fn: d.fn, name: fn, self: self}
	v := a.inline(&frame{pkg: d.pkg}, st, cl, args, d.decl)
	v = a.shown(st, v, d.decl)
	private := map[string]bool{}
	for _, in := range inputs {
		private[in.Name] = true
	}
	given := slices.Collect(sig.Params().Variables())
	if self != nil {
		given, args = append(given, sig.Recv()), append(args, *self)
	}
	if why := a.leaves(st, given, args, private); why != nil {
		return a, nil, out, why
	}
	out = a.distance(st, v, a.cost)
	for n := range out {
		out[n] = a.resolved(out[n], func(string) bool { return true })
		for s, b := range out[n] {
			if !names[s] {
				return a, nil, out, &Refusal{d.decl.Pos(), "the result depends on private data in a way that is not followed", s}
			}
			if b.infinite != nil || a.fixed(b.most) {
				continue
			}
			if most, ok := a.most(b.most, a.fixed); ok {
				out[n][s] = bound{most: most}
			} else {
				out[n][s] = bound{infinite: &Refusal{Pos: d.decl.Pos(), Reason: "the bound depends on a number of the program: " + b.most.String(), Hint: "a bound by parameters"}}
			}
		}
	}
	items = regroup(st.items, func(int) bool { return true })
	return a, items, out, nil
}

// shown is a result as others see it: with the noise that it is made of.
func (a *analysis) shown(st *state, v value, at ast.Node) value {
	v = a.used(st, v, at)
	if v.kind == function || v.kind == source || v.kind == mechanical || v.kind == divided {
		a.fail(at, "numbers, slices, structs and datasets", "the result is a function, or something else that acts later")
	}
	elems := v.elems
	v.elems = nil
	for _, w := range elems {
		v.elems = append(v.elems, a.shown(st, w, at))
	}
	fields := v.fields
	if fields != nil {
		v.fields = map[string]value{}
	}
	for k, w := range fields {
		v.fields[k] = a.shown(st, w, at)
	}
	return v
}

// parameter is the value of a parameter at the beginning; private if in is given.
func (a *analysis) parameter(st *state, v *types.Var, in *Input) value {
	n := v.Name()
	t := v.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if isNamed(t, "dataset", "Dataset") {
		w := value{kind: private, id: a.next()}
		if in != nil {
			w.env = env{n: {most: one()}}
			w.roots = map[string]env{n: w.env}
		}
		return w
	}
	if random(v.Type()) {
		return value{kind: source, id: a.next()}
	}
	if in == nil {
		switch u := t.Underlying().(type) {
		case *types.Slice, *types.Array:
			length := lengthOf(n)
			if arr, ok := u.(*types.Array); ok {
				length = integer(arr.Len())
			}
			a.knowns["len("+n+")"] = &known{whole: true}
			return a.alloc(st, object{length: length, given: true})
		case *types.Map:
			return a.alloc(st, object{table: true, given: true})
		}
		k := &known{whole: isInteger(t)}
		at := &atom{name: n}
		if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned != 0 || isAmount(t) {
			at.nonneg = true
			a.nonneg = append(a.nonneg, atomic(&atom{name: n}))
		}
		a.knowns[n] = k
		return value{sym: atomic(at)}
	}
	e := env{n: {most: one()}}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		elem := u.(interface{ Elem() types.Type }).Elem()
		if in.Bag {
			// Of its records nothing is known but their type.
			row := known{whole: isInteger(elem)}
			if numeric(elem) && unsigned(elem) && !isTypeParam(elem) {
				row.lo = &Expr{}
			}
			return a.alloc(st, object{bag: true, env: same(e), given: true, elem: &value{sym: a.hidden("row", row)}})
		}
		if !numbers(elem) {
			return a.opaque(n, e, &Refusal{Pos: v.Pos(), Reason: "a slice of what are no numbers", Hint: "bag(" + n + ") <= 1"})
		}
		length := lengthOf(n)
		if arr, ok := u.(*types.Array); ok {
			length = integer(arr.Len())
		}
		a.knowns["len("+n+")"] = &known{whole: true}
		a.nonneg = append(a.nonneg, lengthOf(n))
		all := same(e)
		switch norms[in.Norm] {
		case l2:
			// ‖x‖₁ <= √d·‖x‖₂.
			all[l1] = e.scale(length.sqrt())
		case linf:
			// ‖x‖₁ <= d·‖x‖_∞, ‖x‖₂ <= √d·‖x‖_∞.
			all[l1], all[l2] = e.scale(length), e.scale(length.sqrt())
		}
		w := a.alloc(st, object{env: all, length: length, given: true})
		if in.One {
			a.ones[st.heap[w.obj].id] = true
		}
		return w
	case *types.Map:
		if numbers(u.Elem()) {
			all := same(e)
			switch norms[in.Norm] {
			case l2:
				all[l1] = e.scale(lengthOf(n).sqrt())
			case linf:
				all[l1], all[l2] = e.scale(lengthOf(n)), e.scale(lengthOf(n).sqrt())
			}
			a.nonneg = append(a.nonneg, lengthOf(n))
			return a.alloc(st, object{env: all, table: true, given: true, keys: e.infinite(&Refusal{Pos: v.Pos(), Reason: "which keys a private map has"})})
		}
	}
	return a.shape(st, t, same(e), [3]env{}, n)
}

// fields is a parameter of which fields are private. They are not written to: what else leads
// there is not known.
func (a *analysis) fields(st *state, v *types.Var, inputs []Input) (value, bool) {
	t := v.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return value{}, false
	}
	w := value{kind: record, base: v.Name(), fields: map[string]value{}}
	for f := range s.Fields() {
		path := v.Name() + "." + f.Name()
		for i := range inputs {
			if inputs[i].Name != path {
				continue
			}
			x := a.parameter(st, types.NewVar(v.Pos(), v.Pkg(), path, f.Type()), &inputs[i])
			if x.kind == ref {
				a.update(st, x.obj, func(o *object) { o.view = true })
			}
			w.fields[f.Name()] = x
		}
	}
	return w, len(w.fields) > 0
}

// numbers reports whether a type is of numbers, whole or together.
func numbers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if !numbers(u.Field(i).Type()) {
				return false
			}
		}
		return true
	case *types.Slice:
		return numbers(u.Elem())
	case *types.Array:
		return numbers(u.Elem())
	}
	return numeric(t)
}

// random reports whether values of the type are random bits, or made of them: the types
// of package noise, by its own word.
func random(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return isNamed(p.Elem(), "noise", "Source") || isNamed(p.Elem(), "noise", "Stream")
	}
	return isNamed(t, "noise", "Bits")
}

func isNamed(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == module+pkg && n.Obj().Name() == name
}

// Check holds the claims of sensitivity of a function against what is inferred.
func (p *Program) Check(fn string, c *claim.Claim) (r Result) {
	r = Result{Proved: true, Over: "integers"}
	d, ok := p.funcs[fn]
	if !ok {
		return r.refused(errUnknown)
	}
	defer func() { r.place(d) }()
	var texts []string
	for _, s := range c.Sensitivities {
		var inputs []Input
		for _, adj := range c.Adjacent {
			in := adjacentInput(adj)
			if in.Name == s.Input && !in.One {
				in.Norm = s.Norm // where one element differs, all norms are the same
			}
			inputs = append(inputs, in)
		}
		for _, t := range c.Sensitivities {
			if !slices.ContainsFunc(inputs, func(x Input) bool { return x.Name == t.Input }) {
				inputs = append(inputs, Input{Name: t.Input, Norm: s.Norm})
			}
		}
		a, _, out, err := p.run(fn, c, inputs, false)
		if err != nil {
			return r.refused(err)
		}
		if whole := wholeResults(d.fn.Signature()) && wholeInput(d.fn.Signature(), s.Input); !whole || a.reals {
			r.Over = "reals"
		}
		b := out[norms[s.Norm]][s.Input]
		claimed, err := expression(s.Most, nil)
		switch {
		case err != nil:
			return r.refused(err)
		case b.infinite != nil:
			r.Proved = false
			why := *b.infinite
			if why.Pos == token.NoPos {
				why.Pos = d.decl.Pos()
			}
			r.Refusals = append(r.Refusals, why)
			texts = append(texts, s.Input+": infinite")
			continue
		}
		texts = append(texts, s.Input+": "+b.most.String())
		if !a.isNonneg(claimed.sub(b.most)) {
			r.Proved = false
			r.Refusals = append(r.Refusals, Refusal{d.decl.Pos(), fmt.Sprintf("the sensitivity to %s is at most %s, which is not known to be at most %s", s.Input, b.most, claimed), "//dp:sensitivity " + s.Input + " = " + b.most.String()})
		}
	}
	r.Inferred = strings.Join(texts, ", ")
	r.Note = "by sensitivity typing: distances of inputs go through every statement"
	return r
}

func adjacentInput(adj claim.Adjacency) Input {
	in := Input{Name: adj.Input.Name}
	switch adj.Relation {
	case claim.Bag:
		in.Bag = true
	case claim.Each:
		in.Norm = claim.LInf
	case claim.One:
		in.One = true
	}
	return in
}

func wholeResults(sig *types.Signature) bool {
	for i := range sig.Results().Len() {
		if !wholeType(sig.Results().At(i).Type()) {
			return false
		}
	}
	return true
}

func wholeInput(sig *types.Signature, name string) bool {
	for i := range sig.Params().Len() {
		if v := sig.Params().At(i); v.Name() == name {
			return wholeType(v.Type())
		}
	}
	return false
}

// wholeType reports whether a type's distance is a count: integers, and records.
func wholeType(t types.Type) bool {
	if isNamed(t, "dataset", "Dataset") {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return wholeType(u.Elem())
	case *types.Array:
		return wholeType(u.Elem())
	case *types.Map:
		return wholeType(u.Elem())
	case *types.Basic:
		return u.Info()&types.IsFloat == 0
	case *types.Struct:
		for i := range u.NumFields() {
			if !wholeType(u.Field(i).Type()) {
				return false
			}
		}
	}
	return true
}

// place gives refusals of the function as a whole its position.
func (r *Result) place(d declared) {
	for i := range r.Refusals {
		if !r.Refusals[i].Pos.IsValid() {
			r.Refusals[i].Pos = d.decl.Pos()
		}
	}
}

func (r Result) refused(err error) Result {
	r.Proved = false
	var why *Refusal
	if !errors.As(err, &why) {
		why = &Refusal{Reason: err.Error()}
	}
	r.Refusals = append(r.Refusals, *why)
	r.Note = why.Reason
	if why.Hint != "" {
		r.Note += " (" + why.Hint + ")"
	}
	return r
}

// Cost holds the claim of a function's cost against its plan.
//
// Inputs with an adjacency are private, and datasets always: what a function asks of
// a dataset costs what its budgets are charged, by the theorems of package dataset.
func (p *Program) Cost(fn string, c *claim.Claim) (r Result) {
	r = Result{Over: "integers"}
	d, ok := p.funcs[fn]
	if !ok {
		return r.refused(errUnknown)
	}
	defer func() { r.place(d) }()
	var inputs []Input
	most := map[string]Expr{}
	for _, adj := range c.Adjacent {
		in := adjacentInput(adj)
		high, err := expression(adj.High, nil)
		if err != nil {
			return r.refused(err)
		}
		if adj.Relation != claim.Bag {
			low, err := expression(adj.Low, nil)
			if err != nil {
				return r.refused(err)
			}
			f := &facts{}
			for _, q := range c.Requires {
				f.require(understood(q), func(Expr) bool { return false })
			}
			high = f.max(f.abs(low), f.abs(high))
		}
		if _, twice := most[in.Name]; twice {
			return r.refused(fmt.Errorf("%s has two adjacencies", in.Name))
		}
		inputs, most[in.Name] = append(inputs, in), high
	}
	sig := d.fn.Signature()
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		if _, named := most[v.Name()]; !named && isNamed(v.Type(), "dataset", "Dataset") {
			inputs, most[v.Name()] = append(inputs, Input{Name: v.Name(), Bag: true}), one()
		}
	}
	a, items, out, err := p.run(fn, c, inputs, true)
	if err != nil {
		return r.refused(err)
	}
	if len(out[l1]) > 0 {
		why := a.why(d.decl, "noise on all that is returned", "the result shows private data without noise")
		if inf := out[l1].refusal(); inf != nil && inf.Pos != token.NoPos {
			why.Pos = inf.Pos
		}
		return r.refused(why)
	}
	r.Uses = a.uses
	switch {
	case a.reals:
		r.Over = "reals"
	case a.grid && c.Cost.Measure == claim.Approximate:
		r.Over = "reals" // the delta is that of real noise
	case a.grid:
		r.Over = "grid"
	}
	// What is asked of parts is one of several, which the accountant does not evaluate here.
	plans := [][]item{a.parallel(items, most)}
	if len(plans[0]) < len(items) {
		plans = append(plans, items)
	}
	var all []Result
	for _, items := range plans {
		q := r
		if err := a.settle(items, most); err != nil {
			all = append(all, q.refused(err))
			continue
		}
		items = withoutChecks(items)
		q.Plan, q.Steps = &Plan{items, a.facts}, steps(items)
		if q = q.compare(q.Plan, c.Cost); q.Proved {
			return q
		}
		all = append(all, q)
	}
	return all[0]
}

// parallel writes what is asked of slices that share no record as a choice between them.
//
// Theorem (McSherry 2009, Theorem 4). Neighbours that differ in one record differ in one of
// the slices, which one what was answered before decides alike in both runs: what is asked
// of the others costs nothing.
func (a *analysis) parallel(items []item, most map[string]Expr) []item {
	part := func(it item) (source string, sp *split) {
		if it.law == choice || len(it.path) > 0 || len(it.sens) != 1 {
			return "", nil
		}
		source = sortedKeys(it.sens)[0]
		if sp = a.splits[source]; sp == nil || sp.loop != nil {
			return "", nil
		}
		records := Expr{}
		for s, b := range a.resolved(sp.env, func(string) bool { return true }) {
			d, ok := most[s]
			if !ok || b.infinite != nil {
				return "", nil
			}
			records = records.add(b.most.mul(d))
		}
		if !a.isNonneg(one().sub(records)) {
			return "", nil
		}
		return source, sp
	}
	groups := map[int]map[string][]item{}
	for _, it := range items {
		if s, sp := part(it); sp != nil {
			if groups[sp.group] == nil {
				groups[sp.group] = map[string][]item{}
			}
			groups[sp.group][s] = append(groups[sp.group][s], it)
		}
	}
	var out []item
	for _, it := range items {
		_, sp := part(it)
		if sp == nil || len(groups[sp.group]) == 1 {
			out = append(out, it)
			continue
		}
		if parts := groups[sp.group]; len(parts) > 1 {
			c := item{id: a.next(), pos: it.pos, law: choice, times: one()}
			for _, s := range sortedKeys(parts) {
				c.choices = append(c.choices, parts[s])
			}
			out = append(out, c)
			groups[sp.group] = nil
		}
	}
	return out
}

// settle writes the distances of neighbours for the sources of a plan.
func (a *analysis) settle(items []item, most map[string]Expr) error {
	for i := range items {
		it := &items[i]
		for _, c := range it.choices {
			if err := a.settle(c, most); err != nil {
				return err
			}
		}
		refuse := func(what string) error {
			return &Refusal{it.pos, what, "noise on a number of bounded sensitivity"}
		}
		for _, e := range []Expr{it.times, it.scale, it.epsilon, it.delta, it.rho} {
			if !a.fixed(e) {
				return refuse("what it costs depends on a number of the program: " + e.String())
			}
		}
		drawn := a.isPositive(it.scale)
		if it.hasScale() && !drawn && !a.whenDrawn(it.rounds).isPositive(it.scale) {
			return refuse("the scale of noise is not known to be positive: " + it.scale.String())
		}
		for _, e := range []Expr{it.times, it.epsilon, it.delta, it.rho} {
			if !a.isNonneg(e) {
				return refuse("a cost is not known to be positive: " + e.String())
			}
		}
		if it.law == choice {
			continue
		}
		switch it.law {
		case pureCost, approxCost, zcdpCost:
			// (Of what a mechanism costs no distance is known: it is 1.)
			// A release of package dataset costs so much for one unit, whatever the
			// stability of what is asked; of as many units as may change it costs as
			// much as for a group of them.
			units := Expr{}
			for s, b := range a.resolved(it.sens, func(string) bool { return true }) {
				d, ok := most[s]
				if !ok || b.infinite != nil || !a.fixed(b.most) {
					return refuse("a dataset depends on private data in a way that is not followed")
				}
				units = units.add(b.most.mul(d))
			}
			if len(units.terms) == 0 || a.isNonneg(one().sub(units)) {
				units = one()
			}
			if it.law == approxCost && !units.is(one()) {
				return refuse("a cost with a δ is of one unit, not of " + units.String())
			}
			it.sens = env{unit: {most: units}}
			continue
		}
		sum := Expr{}
		e := a.resolved(it.sens, func(string) bool { return true })
		for _, s := range sortedKeys(e) {
			b := e[s]
			d, ok := most[s]
			switch {
			case b.infinite != nil:
				why := *b.infinite
				if why.Pos == token.NoPos {
					why.Pos = it.pos
				}
				return &why
			case !ok:
				return refuse("noise is added to what depends on private data in a way that is not followed")
			case !a.fixed(b.most):
				return refuse("the distance that noise hides depends on a number of the program: " + b.most.String())
			}
			sum = sum.add(b.most.mul(d))
		}
		if !a.isNonneg(sum) {
			return refuse("a distance is not known to be positive: " + sum.String())
		}
		if it.law == withinLaw && !a.isNonneg(it.scale.sub(sum)) {
			return &Refusal{it.pos, fmt.Sprintf("a mechanism is told a sensitivity of %s, and given what moves by %s", it.scale, sum), "Sensitivity: " + sum.String()}
		}
		if it.law == claimedCost {
			switch n, ok := sum.number(); {
			case a.isNonneg(one().sub(sum)):
				sum = one()
			case ok:
				up := new(big.Int).Add(n.Num(), new(big.Int).Sub(n.Denom(), big.NewInt(1)))
				sum = rat(new(big.Rat).SetInt(up.Quo(up, n.Denom())))
			default:
				return refuse("the claim used here is of neighbours that are nearer than " + sum.String())
			}
		}
		it.sens = env{unit: {most: sum}}
		if it.hasScale() && !drawn && !a.isNonneg(it.paid()) {
			return refuse("the scale of noise is not known to be positive: " + it.scale.String())
		}
	}
	return nil
}

// whenDrawn are the facts where a draw is made that stands in loops of such counts: each
// runs at least once.
//
// Lemma: what a draw is said to cost, written over the parameters, may be of use only
// where it is made. Elsewhere it costs 0, and is said to cost what is not negative.
func (a *analysis) whenDrawn(rounds []Expr) *facts {
	f := a.facts
	for _, n := range rounds {
		if !a.fixed(n) {
			continue
		}
		if len(n.terms) == 1 && len(n.terms[0].powers) == 1 && n.is(atomic(n.terms[0].powers[0].atom)) {
			if x := n.terms[0].powers[0].atom; x.op == maximum && len(x.args) == 2 && len(x.args[1].terms) == 0 {
				n = x.args[0] // max(n, 0) >= 1
			} else if x.op == maximum && len(x.args) == 2 && len(x.args[0].terms) == 0 {
				n = x.args[1]
			}
		}
		f = f.and(n.sub(one()))
	}
	return f
}

// paid is what all draws cost, in terms of the measure that adds up.
func (it item) paid() Expr {
	inverse, ok := it.scale.inverse()
	if !ok {
		return integer(-1)
	}
	each := it.sensitivity().mul(inverse)
	if it.law == gaussian || it.law == discreteGaussian {
		each = each.mul(each)
	}
	return it.times.mul(each)
}

func steps(items []item) (all []Step) {
	for _, it := range items {
		if it.law == choice {
			for i, c := range it.choices {
				for _, s := range steps(c) {
					s.Text = fmt.Sprintf("choice %d of %d, of which the most costly counts: %s", i+1, len(it.choices), s.Text)
					all = append(all, s)
				}
			}
			continue
		}
		t := it.text()
		if !it.times.is(one()) {
			t = it.times.String() + " times " + t
		}
		all = append(all, Step{it.pos, t})
	}
	return all
}
