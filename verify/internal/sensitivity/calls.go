package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

func (a *analysis) call(f *frame, st *state, x *ast.CallExpr) value {
	if tv := f.pkg.Info.Types[x.Fun]; tv.IsType() {
		return a.conversion(f, st, tv.Type, x)
	}
	fun := ast.Unparen(x.Fun)
	if id, ok := fun.(*ast.Ident); ok {
		if _, ok := f.pkg.Info.Uses[id].(*types.Builtin); ok {
			return a.builtin(f, st, id.Name, x)
		}
	}
	var v value
	var args []value
	if v = a.expr(f, st, x.Fun); v.kind == function {
		for _, arg := range x.Args {
			args = append(args, a.expr(f, st, arg))
		}
	} else {
		// A function that is given from outside: public, and pure.
		sig, _ := f.pkg.Info.Types[x.Fun].Type.Underlying().(*types.Signature)
		for _, arg := range x.Args {
			w := a.handed(st, a.expr(f, st, arg), arg)
			if len(a.envs(st, w)[l1]) > 0 && (a.cost || sig == nil || sig.Results().Len() == 0 || types.ExprString(x.Fun) == "yield") {
				a.fail(arg, "a result", "private data are given to a function from outside")
			}
			args = append(args, w)
		}
		if a.cost {
			st.spent[a.next()] = true // it may be seen that it is called
		}
		return a.unknownCall(f, st, nil, args, x)
	}
	if len(args) == 1 && args[0].kind == tuple && len(x.Args) == 1 {
		args = args[0].elems
	}
	if v.fn.fn != nil {
		if w, ok := a.release(f, st, v.fn, args, x); ok {
			return w
		}
		if w, ok := a.claimed(st, v.fn, args, x); ok {
			return w
		}
	}
	if v.fn.body != nil {
		return a.followed(f, st, v.fn, args, x)
	}
	if w, ok := a.library(f, st, v.fn, args, x); ok {
		return w
	}
	var moves env
	for _, w := range args {
		moves = moves.add(a.envs(st, w)[l1])
	}
	for i, w := range args {
		if w.kind != function {
			args[i] = a.handed(st, w, x)
		}
		if p, ok := ast.Unparen(x.Args[min(i, len(x.Args)-1)]).(*ast.UnaryExpr); ok && p.Op == token.AND {
			// What it points to is set by the function.
			if id, ok := ast.Unparen(p.X).(*ast.Ident); ok && w.kind == plain && len(x.Args) == len(args) {
				set := a.public(id.Name)
				if len(moves) > 0 {
					set = a.opaque(id.Name, moves, a.why(p, "", "%s sets it, and is given private data", types.ExprString(x.Fun)))
				}
				st.vars[a.place(f, st, f.pkg.Info.Uses[id], id)] = set
			} else if !ok || w.kind != ref {
				a.fail(p, "results instead of pointers", "%s is given a pointer to what it may change", types.ExprString(x.Fun))
			}
		}
	}
	if v.fn.self != nil {
		args = append(args, a.handed(st, *v.fn.self, x))
	}
	return a.unknownCall(f, st, v.fn.fn, args, x)
}

// pure are the packages whose functions depend on their arguments alone and change
// nothing that is of interest here.
var pure = []string{"math", "math/bits", "cmp", "strings", "strconv", "unicode", "unicode/utf8", "errors", "bytes"}

// unknownCall is of a function of which nothing is known but that it is pure.
func (a *analysis) unknownCall(f *frame, st *state, fn *types.Func, args []value, x *ast.CallExpr) value {
	var e env
	for _, v := range args {
		e = e.add(a.envs(st, v)[l1])
		if v.kind == function && v.fn.body != nil || v.kind == source {
			a.fail(x, "a function whose source is at hand", "%s is given what may act", types.ExprString(x.Fun))
		}
		if v.kind == private || v.kind == divided {
			a.fail(x, "the operators of package dataset", "%s is given private records", types.ExprString(x.Fun))
		}
	}
	for _, v := range args {
		if !searches(fn) {
			a.escape(st, v, e, x)
		}
	}
	name := types.ExprString(x.Fun)
	if fn != nil && fn.Pkg() != nil && (fn.Pkg().Path() == "fmt" || fn.Pkg().Path() == "errors") && len(e) > 0 {
		for _, arg := range x.Args {
			if t := f.pkg.Info.Types[arg].Type; t != nil && speaks(t, map[types.Type]bool{}) {
				a.fail(arg, "values of Go's own types", "%s calls methods of what it is given, and they are not followed", name)
			}
		}
	}
	if !isPure(fn) {
		// It may be seen from outside that it is called.
		st.spent[a.next()] = true
	}
	if len(e) > 0 && !isPure(fn) {
		a.fail(x, "a function whose source is at hand", "%s is given private data, and what it does with it is not known", name)
	}
	if fn != nil && len(e) > 0 && strings.HasPrefix(fn.FullName(), "strconv.Append") {
		a.fail(x, "strconv.Format...", "%s writes private data behind the end of a slice", name)
	}
	one := func() value {
		if len(e) == 0 && fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "math" && fn.Signature().Recv() == nil && fn.Signature().Results().Len() == 1 {
			return a.publicCall(fn.FullName(), args)
		}
		if len(e) == 0 {
			return a.public(name)
		}
		return a.opaque(name, e, a.why(x, "clamps, sums, and products with public numbers", "%s of private data: nothing is known of its slope", name))
	}
	if t, ok := f.pkg.Info.Types[x].Type.(*types.Tuple); ok {
		v := value{kind: tuple}
		for range t.Len() {
			v.elems = append(v.elems, one())
		}
		return v
	}
	if t := f.pkg.Info.Types[x].Type; t != nil && len(e) == 0 {
		if _, ok := t.Underlying().(*types.Slice); ok {
			// It may be what the function was given.
			return a.alloc(st, object{length: a.hidden("len", known{lo: &Expr{}, whole: true}), view: true})
		}
	}
	return one()
}

// publicCall names the result of a function of public numbers, so that equal ones are equal.
func (a *analysis) publicCall(name string, args []value) value {
	k := known{}
	var of []string
	for _, v := range args {
		of = append(of, v.sym.String())
		k.serial = max(k.serial, a.serialOf(&atom{args: []Expr{v.sym}}))
	}
	name += "(" + strings.Join(of, ", ") + ")"
	if a.knowns[name] == nil {
		a.knowns[name] = &k
	}
	return value{sym: named(name)}
}

// escape: what is given to a function that is not known may be changed by it, and is
// not written to any more.
func (a *analysis) escape(st *state, v value, given env, x *ast.CallExpr) {
	for _, w := range v.fields {
		a.escape(st, w, given, x)
	}
	for _, w := range v.elems {
		a.escape(st, w, given, x)
	}
	if v.kind == plain {
		v.sym.atoms(func(y *atom) {
			if k := a.knowns[y.name]; k != nil && k.rational != nil {
				a.fail(x, "big.NewRat in its place", "%s may change a rational that a mechanism is calibrated by", types.ExprString(x.Fun))
			}
			a.escaped[y.name] = true
		})
	}
	if v.kind != ref {
		return
	}
	a.touch(v.obj, nil)
	a.update(st, v.obj, func(o *object) {
		all := a.settled(o).env[l1].add(given)
		for n := range o.env {
			o.env[n] = all.infinite(a.why(x, "", "%s may change it", types.ExprString(x.Fun)))
		}
		o.size, o.slot, o.base = [3]env{}, nil, ""
	})
}

// speaks reports whether a value may have methods of the program's own: functions that
// write what they are given call them.
func speaks(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if n, ok := types.Unalias(t).(*types.Named); ok && n.NumMethods() > 0 {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Struct:
		for f := range u.Fields() {
			if speaks(f.Type(), seen) {
				return true
			}
		}
		return false
	case *types.Map:
		return speaks(u.Key(), seen) || speaks(u.Elem(), seen)
	case interface{ Elem() types.Type }: // slices, arrays and pointers
		return speaks(u.Elem(), seen)
	}
	return true
}

// searches reports whether a function only looks for something in a slice.
func searches(fn *types.Func) bool {
	return fn != nil && slices.Contains([]string{"slices.Contains", "slices.Index", "slices.BinarySearch", "sort.SearchInts", "sort.SearchFloat64s", "sort.SearchStrings"}, fn.FullName())
}

// isPure reports whether a function is; nil is one that was given from outside: public,
// and pure by the same right as its other calls.
func isPure(fn *types.Func) bool {
	switch {
	case fn == nil:
		return true
	case fn.Pkg() == nil || fn.Signature().Recv() != nil:
		return false
	case fn.Pkg().Path() == "fmt":
		return slices.Contains([]string{"Sprint", "Sprintf", "Errorf"}, fn.Name())
	case fn.Pkg().Path() == "time":
		return slices.Contains([]string{"Date", "Parse", "ParseDuration", "Unix", "UnixMilli", "UnixMicro"}, fn.Name())
	case fn.Pkg().Path() == "slices" || fn.Pkg().Path() == "sort":
		return searches(fn)
	}
	return slices.Contains(pure, fn.Pkg().Path())
}

// inline runs a function whose source is at hand.
func (a *analysis) inline(f *frame, st *state, c *closure, args []value, x ast.Node) value {
	if len(a.calls) >= maxCalls {
		a.fail(x, "a loop over public numbers", "calls nest deeper than %d: %s may not end", maxCalls, shortName(c.name))
	}
	if c.fn != nil {
		a.keeps(a.program.funcs[c.fn.Origin().FullName()])
	}
	a.calls = append(a.calls, c.name)
	defer func() { a.calls = a.calls[:len(a.calls)-1] }()
	g := &frame{id: a.next(), pkg: c.pkg}
	a.parents[g.id] = c.frame
	i := 0
	bind := func(name *ast.Ident, v value) {
		if name.Name == "_" {
			return
		}
		if obj := c.pkg.Info.Defs[name]; obj != nil {
			st.vars[place{g.id, obj}] = v
		}
	}
	if c.recv != nil && c.self != nil && len(c.recv.List) > 0 && len(c.recv.List[0].Names) > 0 {
		bind(c.recv.List[0].Names[0], *c.self)
	}
	for _, field := range c.typ.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		names := field.Names
		if len(names) == 0 {
			names = []*ast.Ident{{Name: "_"}}
		}
		for _, name := range names {
			if variadic {
				rest := args[min(i, len(args)):]
				if call, ok := x.(*ast.CallExpr); ok && call.Ellipsis.IsValid() && len(rest) == 1 {
					bind(name, rest[0])
					continue
				}
				v := a.alloc(st, object{size: same(env{}), length: integer(int64(len(rest)))})
				for _, w := range rest {
					w = a.handed(st, w, x)
					a.update(st, v.obj, func(o *object) { a.put(st, o, w, nil) })
				}
				bind(name, v)
				continue
			}
			if i >= len(args) {
				a.fail(x, "", "too few arguments for %s", c.name)
			}
			bind(name, args[i])
			i++
		}
	}
	if c.typ.Results != nil {
		for _, field := range c.typ.Results.List {
			for _, name := range field.Names {
				if obj := c.pkg.Info.Defs[name]; obj != nil {
					p := place{g.id, obj}
					st.vars[p] = a.zero(st, obj.Type())
					g.results = append(g.results, p)
				}
			}
		}
	}
	under := st.under
	o := a.block(g, st, c.body.List, nil)
	end := o.fall
	v := value{kind: tuple}
	if o.ret != nil {
		if end != nil {
			a.fail(x, "", "%s ends in two ways", c.name)
		}
		end, v = o.ret.st, o.ret.val
	}
	if end == nil {
		a.fail(x, "", "%s never returns", shortName(c.name))
	}
	for p := range end.vars {
		if p.frame == g.id && !a.captured(end, g.id) {
			delete(end.vars, p)
		}
	}
	*st = *end
	st.under = under
	return v
}

// captured reports whether a closure of a frame may still be called.
func (a *analysis) captured(st *state, frame int) bool {
	for child, parent := range a.parents {
		_ = child
		if parent == frame {
			return true
		}
	}
	for _, v := range st.vars {
		if v.kind == function && v.fn.frame == frame {
			return true
		}
	}
	return false
}

// ordering sorts what is public by what is public: the result is, too.
func (a *analysis) ordering(st *state, args []value, x *ast.CallExpr) (value, bool) {
	by := args[1]
	switch {
	case len(a.envs(st, args[0])[l1]) > 0 || by.kind != function || args[0].kind == ref && st.heap[args[0].obj].view || args[0].kind != ref && args[0].kind != plain:
		return value{}, false
	case by.fn.body != nil:
		seen := maps.Clone(a.seen)
		a.closed(st, by.fn, x.Args[1], map[*ast.BlockStmt]bool{})
		a.seen = seen // it is not called later
	case !isPure(by.fn.fn):
		return value{}, false
	}
	if args[0].kind == ref {
		a.touch(args[0].obj, nil)
		a.update(st, args[0].obj, func(o *object) {
			*o = *a.settled(o)
			o.slot, o.base = nil, ""
		})
	}
	return a.public("sorted"), true
}

// sorted sorts numbers, up or down, or turns them round.
//
// Theorem. Sorting is 1-sensitive in every l_p norm (the rearrangement inequality).
func (a *analysis) sorted(st *state, v value) (value, bool) {
	if v.kind != ref || st.heap[v.obj].view {
		return value{}, false
	}
	a.touch(v.obj, nil)
	a.update(st, v.obj, func(o *object) {
		*o = *a.settled(o)
		o.slot = nil
		if !o.bag {
			o.base = ""
		}
	})
	return a.public("sorted"), true
}

// byValue reports whether a call sorts numbers by themselves, up or down: by cmp.Compare of both,
// or by x[i] < x[j] of what is sorted.
func byValue(f *frame, x *ast.CallExpr) bool {
	lit, ok := x.Args[1].(*ast.FuncLit)
	b, ordered := core(elementType(f.pkg.Info.TypeOf(x.Args[0]))).(*types.Basic)
	if !ok || !ordered || b.Info()&(types.IsInteger|types.IsFloat) == 0 || len(lit.Body.List) != 1 {
		return false
	}
	end, ok := lit.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(end.Results) != 1 {
		return false
	}
	var params []types.Object
	for _, field := range lit.Type.Params.List {
		for _, name := range field.Names {
			params = append(params, f.pkg.Info.Defs[name])
		}
	}
	both := func(x, y ast.Expr) bool {
		u, ok1 := x.(*ast.Ident)
		v, ok2 := y.(*ast.Ident)
		if !ok1 || !ok2 || len(params) != 2 {
			return false
		}
		p, q := f.pkg.Info.Uses[u], f.pkg.Info.Uses[v]
		return p == params[0] && q == params[1] || p == params[1] && q == params[0]
	}
	switch by := end.Results[0].(type) {
	case *ast.CallExpr:
		id := calleeOf(by)
		if id == nil || len(by.Args) != 2 {
			return false
		}
		fn, ok := f.pkg.Info.Uses[id].(*types.Func)
		return ok && fn.FullName() == "cmp.Compare" && both(by.Args[0], by.Args[1])
	case *ast.BinaryExpr:
		u, ok1 := by.X.(*ast.IndexExpr)
		v, ok2 := by.Y.(*ast.IndexExpr)
		return ok1 && ok2 && (by.Op == token.LSS || by.Op == token.GTR) && both(u.Index, v.Index) && simple(x.Args[0]) &&
			sameExpr(f, u.X, x.Args[0]) && sameExpr(f, v.X, x.Args[0])
	}
	return false
}

// library is what is known of Go's own functions.
func (a *analysis) library(f *frame, st *state, c *closure, args []value, x *ast.CallExpr) (value, bool) {
	name := c.fn.FullName()
	arg := func(i int) value { return a.number(st, args[i], x) }
	public := func() bool {
		for _, v := range args {
			if e := a.envs(st, v); len(e[l1]) > 0 || v.kind != plain {
				return false
			}
		}
		return true
	}
	switch name {
	case "math.Abs":
		v := arg(0)
		e := a.env(v.sym)
		if len(e) == 0 {
			return value{sym: a.abs(v.sym)}, true
		}
		return value{sym: a.hidden("abs", known{env: e, lo: &Expr{}, size: a.size(v.sym), hi: a.sizeBound(v.sym), whole: a.whole(v.sym)})}, true
	case "math.Sin", "math.Cos", "math.Tanh", "math.Atan":
		// Their slopes lie in [-1, 1], and their values within 2 of 0.
		if v := arg(0); len(a.env(v.sym)) > 0 {
			most := one()
			if name == "math.Atan" {
				most = integer(2)
			}
			least := most.neg()
			a.reals = true
			return value{sym: a.hidden(c.fn.Name(), known{env: a.env(v.sym), lo: &least, hi: &most})}, true
		}
	case "math.Hypot":
		// A norm moves no further than what it is of.
		if e := a.env(arg(0).sym).add(a.env(arg(1).sym)); len(e) > 0 {
			a.reals = true
			return value{sym: a.hidden("hypot", known{env: e, lo: &Expr{}})}, true
		}
	case "math.Max", "math.Min":
		return a.extreme(strings.ToLower(strings.TrimPrefix(name, "math.")), arg(0), arg(1)), true
	case "math.Sqrt":
		if k := a.single(arg(0).sym); k != nil && k.measure != nil && k.measure.square {
			m := *k.measure
			m.square = false
			a.reals = true
			return value{sym: a.hidden("norm", known{env: m.env, lo: &Expr{}, measure: &m})}, true
		}
		if public() {
			return value{sym: a.root(arg(0).sym)}, true
		}
	case "math.Log":
		if public() {
			return value{sym: arg(0).sym.log()}, true
		}
	case "math.Exp":
		if public() {
			return value{sym: arg(0).sym.exp()}, true
		}
	case "slices.Max", "slices.Min":
		if args[0].kind == ref && !st.heap[args[0].obj].bag {
			a.touch(args[0].obj, nil)
			o := a.settled(st.heap[args[0].obj])
			return value{sym: a.hidden("extreme", known{env: o.env[linf], size: o.size[linf]})}, true
		}
	case "slices.Sort", "sort.Float64s", "sort.Ints", "slices.Reverse":
		return a.sorted(st, args[0])
	case "slices.SortFunc", "slices.SortStableFunc", "sort.Slice", "sort.SliceStable":
		if byValue(f, x) {
			return a.sorted(st, args[0])
		}
		return a.ordering(st, args, x)
	case "math/big.NewRat":
		if public() {
			if inverse, ok := arg(1).sym.inverse(); ok {
				e := arg(0).sym.mul(inverse)
				return value{sym: a.hidden("rational", known{rational: &e})}, true
			}
		}
	case "slices.Clone":
		if args[0].kind == ref {
			a.touch(args[0].obj, nil)
			o := *a.settled(st.heap[args[0].obj])
			o.slot, o.base, o.only, o.view, o.spare, o.given = nil, "", nil, false, true, false
			return a.alloc(st, o), true
		}
	}
	return value{}, false
}

func (a *analysis) sizeBound(e Expr) *Expr {
	c, ok := a.constantSize(e)
	if !ok {
		return nil
	}
	return &c
}

// claimed is the call of a function that claims a pure cost: the claim says what it
// costs, if its arguments are as near as it asks. Functions over datasets are read
// themselves, which shows what parts pay.
func (a *analysis) claimed(st *state, c *closure, args []value, x *ast.CallExpr) (value, bool) {
	cl := a.program.claims[c.name]
	if cl == nil || cl.Cost == nil || cl.Cost.Measure != claim.Pure || !a.cost || a.program.reaches(c.name, a.calls[0]) {
		return value{}, false
	}
	for _, v := range args {
		if v.kind == private || v.kind == divided {
			return value{}, false
		}
	}
	for result := range c.fn.Signature().Results().Variables() {
		if later(result.Type()) {
			return value{}, false // the claim is of one pass over what it returns
		}
	}
	k := a.program.keeper(a.program.funcs[c.name])
	if c.self != nil || c.fn.Signature().Variadic() || k.refusal != nil || len(k.writes) > 0 {
		return value{}, false // what it leaves in its receiver, or in what it is given, no claim speaks of
	}
	return a.byClaim(st, c, cl, args, x)
}

// later reports whether values of a type may act, as often as they are asked to.
func later(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Slice:
		return later(u.Elem())
	case *types.Array:
		return later(u.Elem())
	case *types.Map:
		return later(u.Key()) || later(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if later(f.Type()) {
				return true
			}
		}
		return false
	}
	return !isError(t)
}

// reaches reports whether one function may call another: a claim is never used for
// its own proof.
func (p *Program) reaches(from, to string) bool {
	seen := map[string]bool{}
	var walk func(name string) bool
	walk = func(name string) bool {
		if name == to {
			return true
		}
		d, ok := p.funcs[name]
		if !ok || seen[name] {
			return false
		}
		seen[name] = true
		found := false
		ast.Inspect(d.decl.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !found {
				if fn, ok := d.pkg.Info.Uses[id].(*types.Func); ok {
					found = walk(fn.Origin().FullName())
				}
			}
			return !found
		})
		return found
	}
	return walk(from)
}

// keeps refuses a function that does not keep the discipline.
func (a *analysis) keeps(d declared) {
	if k := a.program.keeper(d); k.refusal != nil {
		panic(failure{*k.refusal})
	}
}
