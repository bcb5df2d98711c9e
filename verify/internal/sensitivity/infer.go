package sensitivity

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

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
	// Swapped: it is read as the multiset of its elements, of which one is another one. The
	// distance is how many are.
	Swapped bool
}

var norms = map[claim.Norm]int{claim.L1: l1, claim.L2: l2, claim.LInf: linf, "": l1}

// infer returns how far the result of a function moves, in a norm, with each of its
// inputs. What it cannot follow it refuses.
func (p *Program) infer(fn string, inputs []Input, norm claim.Norm, requires ...claim.Claim) (Signature, error) {
	var c *claim.Claim
	if len(requires) > 0 {
		c = &requires[0]
	}
	a, _, env, err := p.run(context.Background(), fn, c, inputs, false)
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

// run analyses a function and returns how far its results move in each norm.
func (p *Program) run(ctx context.Context, fn string, c *claim.Claim, inputs []Input, cost bool) (a *analysis, items []item, out [3]env, err error) {
	d, ok := p.funcs[fn]
	if !ok {
		return nil, nil, out, fmt.Errorf("%s: %w", fn, errUnknown)
	}
	a = &analysis{facts: &facts{work: &work{ctx: ctx, left: maxWork}}, program: p, knowns: map[string]*known{}, functions: map[string]env{}, elems: map[string]*elements{}, splits: map[string]*split{}, stretches: map[[2]int][]*stretch{}, groups: map[[2]int]int{}, pairs: map[string]int{}, branches: map[int][]comparison{}, parents: map[int]int{}, inputs: len(inputs), ones: map[int]bool{}, tags: map[*ast.Ident]*types.Var{}, swapped: map[int]Expr{}, escaped: map[string]bool{}, seen: map[types.Object]bool{}, cost: cost, pkg: d.pkg}
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
			a.require(a.understood(r), a.whole)
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
		if in.Swapped {
			// One record goes, and another one comes: as many are left.
			w := a.alloc(st, object{bag: true, env: same(e.scale(integer(2))), given: true, elem: &value{sym: a.hidden("row", known{whole: isInteger(elem)})}})
			a.knowns["len("+n+")"] = &known{whole: true}
			a.nonneg = append(a.nonneg, lengthOf(n))
			a.swapped[st.heap[w.obj].id] = lengthOf(n)
			return w
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
		w := a.alloc(st, object{env: inNorms(e, norms[in.Norm], length, elem), length: length, given: true})
		if numeric(elem) {
			st.heap[w.obj].number = elem
		}
		if in.One {
			a.ones[st.heap[w.obj].id] = true
		}
		return w
	case *types.Map:
		if numbers(u.Elem()) {
			all := inNorms(e, norms[in.Norm], lengthOf(n), u.Elem())
			a.nonneg = append(a.nonneg, lengthOf(n))
			return a.alloc(st, object{env: all, table: true, given: true, keys: e.infinite(&Refusal{Pos: v.Pos(), Reason: "which keys a private map has"})})
		}
	}
	return a.shape(st, t, inNorms(e, norms[in.Norm], one(), t), [3]env{}, n)
}

// inNorms is a distance, which is given in one norm, in each, of so many values of a type:
// ‖x‖₁ <= √d·‖x‖₂, ‖x‖₁ <= d·‖x‖_∞ and ‖x‖₂ <= √d·‖x‖_∞ for the d numbers that they have
// together, those of all rows and fields.
func inNorms(e env, norm int, values Expr, t types.Type) [3]env {
	all := same(e)
	n, ok := count(t)
	d := values.mul(n)
	times := func(by Expr) env {
		if !ok {
			return e.infinite(&Refusal{Reason: "how many numbers there are is not known, of which each may move", Hint: "the norm l1"})
		}
		return e.scale(by)
	}
	switch norm {
	case l2:
		all[l1] = times(d.sqrt())
	case linf:
		all[l1], all[l2] = times(d), times(d.sqrt())
	}
	return all
}

// count is how many numbers a value of a type has, where the type says it.
func count(t types.Type) (n Expr, ok bool) {
	if numeric(t) {
		return one(), true
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		n, ok = count(u.Elem())
		return n.mul(integer(u.Len())), ok
	case *types.Struct:
		for f := range u.Fields() {
			m, known := count(f.Type())
			if !known {
				return Expr{}, false
			}
			n = n.add(m)
		}
		return n, true
	}
	return Expr{}, false
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
