package sensitivity

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// Within a loop over private records what is not followed may be any function of a record.
//
// Theorem (Reed and Pierce 2010: bagmap, bagfilter, for functions of any sensitivity). What
// depends on one record and public values alone, and acts on nothing, may be added up over
// the records in any way that is bounded. So what a function returns that is pure, or what a
// loop sets that reads and sets numbers, is a number of which nothing is known but what it
// is made of.

// attempt is what a run gives, or why it was refused; then all is as it was before.
func (a *analysis) attempt(st *state, run func() value) (v value, why *failure) {
	before, calls, stack, held, seen := st.clone(), len(a.calls), len(a.stack), len(a.held), maps.Clone(a.seen)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			why = &r
			*st = *before
			a.calls, a.stack, a.held, a.seen = a.calls[:calls], a.stack[:stack], a.held[:held], seen
		default:
			panic(r)
		}
	}()
	return run(), nil
}

// followed is a call whose function is at hand.
func (a *analysis) followed(f *frame, st *state, fn *closure, args []value, x *ast.CallExpr) value {
	if fn.fn == nil || !a.amongRecords() {
		return a.inline(f, st, fn, args, x)
	}
	v, why := a.attempt(st, func() value { return a.inline(f, st, fn, args, x) })
	if why == nil {
		return v
	}
	given := args
	if fn.self != nil {
		given = append(slices.Clip(args), *fn.self)
	}
	var e env
	for _, w := range given {
		if !data(w) {
			panic(*why)
		}
		e = e.add(a.envs(st, w)[l1])
	}
	c := *fn
	c.self = nil // it is a parameter as others are
	if _, acts := a.attempt(st, func() value {
		a.closed(st, &c, x, map[*ast.BlockStmt]bool{})
		return value{}
	}); acts != nil || len(e) == 0 {
		panic(*why)
	}
	results := fn.fn.Signature().Results()
	all := value{kind: tuple}
	for y := range results.Variables() {
		if !isError(y.Type()) && !inert(y.Type(), 0) {
			panic(*why)
		}
		all.elems = append(all.elems, a.any(shortName(fn.name), e, y.Type(), &why.Refusal))
	}
	if len(all.elems) == 1 {
		return all.elems[0]
	}
	return all
}

// any is a value that may be anything that depends on so much.
func (a *analysis) any(what string, e env, t types.Type, why *Refusal) value {
	return value{sym: a.hidden(what, known{env: e.infinite(why), whole: isInteger(t)})}
}

// data reports whether a value holds nothing that acts.
func data(v value) bool {
	if v.kind != plain && v.kind != ref && v.kind != record {
		return false
	}
	for _, w := range v.fields {
		if !data(w) {
			return false
		}
	}
	return true
}

// inert reports whether values of a type are made of numbers and texts, and act in no way.
func inert(t types.Type, depth int) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Slice:
		return depth < 8 && inert(u.Elem(), depth+1)
	case *types.Array:
		return depth < 8 && inert(u.Elem(), depth+1)
	case *types.Map:
		return depth < 8 && inert(u.Key(), depth+1) && inert(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if depth >= 8 || !inert(f.Type(), depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// anyLoop is a loop that sets variables of numbers, and is not followed.
func (a *analysis) anyLoop(f *frame, st *state, s ast.Stmt, why failure) {
	var e env
	set := map[types.Object]bool{}
	outer := func(o types.Object) bool { return o != nil && (o.Pos() < s.Pos() || o.Pos() >= s.End()) }
	sets := func(x ast.Expr) {
		if x == nil {
			return
		}
		id := root(f.pkg.Info, x)
		if id == nil {
			panic(why)
		}
		o := f.pkg.Info.ObjectOf(id)
		if !outer(o) {
			return
		}
		if v, here := st.vars[place{f.id, o}]; ast.Expr(id) != ast.Unparen(x) || !here || v.kind != plain || !inert(o.Type(), 0) {
			panic(why)
		}
		set[o] = true
	}
	seen := map[*ast.BlockStmt]bool{}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt, *ast.FuncLit:
			panic(why)
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				sets(l)
			}
		case *ast.IncDecStmt:
			sets(n.X)
		case *ast.RangeStmt:
			sets(n.Key)
			sets(n.Value)
		case *ast.CallExpr:
			id := calleeOf(n)
			if id == nil || f.pkg.Info.Types[n.Fun].IsType() {
				break
			}
			switch fn := f.pkg.Info.Uses[id].(type) {
			case *types.Builtin:
				if !slices.Contains([]string{"len", "min", "max", "cap"}, id.Name) {
					panic(why)
				}
			case *types.Func:
				if slices.Contains(writers, fn.Origin().FullName()) {
					panic(why)
				}
				a.calledOver(st, f, n, seen)
			default:
				panic(why)
			}
		case *ast.Ident:
			o, ok := f.pkg.Info.Uses[n].(*types.Var)
			if !ok || o.IsField() || !outer(o) {
				break
			}
			if slices.ContainsFunc(a.held, func(h held) bool { return h.root == o }) {
				panic(why)
			}
			v := a.ident(f, st, n)
			if !data(v) {
				panic(why)
			}
			e = e.add(a.envs(st, v)[l1])
		}
		return true
	})
	if len(e) == 0 {
		panic(why)
	}
	for o := range set {
		p := place{f.id, o}
		st.vars[p] = a.any(o.Name(), e.add(a.env(st.vars[p].sym)), o.Type(), &why.Refusal)
	}
}
