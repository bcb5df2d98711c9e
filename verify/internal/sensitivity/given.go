package sensitivity

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// wholly notes a call that writes to what it is given. It is a statement of its own, of
// which nothing else leads there.
func (r *discipline) wholly(v *variable, call *ast.CallExpr, through int) {
	at := r.statement(call)
	n := 0
	ast.Inspect(at, func(m ast.Node) bool {
		if lit, ok := m.(*ast.FuncLit); ok && r.compares(lit) {
			return false
		}
		if id, ok := m.(*ast.Ident); ok && r.pkg.Info.ObjectOf(id) == types.Object(v.object) {
			n++
		}
		return true
	})
	if !r.alone(call) || n > 1 {
		r.refuse(call, "a statement of its own", "a call writes to "+v.object.Name()+", which its statement also reads")
	}
	r.written(v, at, through+1)
}

// compares reports whether a function literal is the order that its call sorts by, and lives
// no longer. What it reads of what is sorted is public, or the call is refused: see ordering.
func (r *discipline) compares(lit ast.Node) bool {
	call, ok := r.parent[lit].(*ast.CallExpr)
	return ok && len(call.Args) == 2 && call.Args[1] == lit && r.called(call) != nil && slices.Contains(sorts, r.called(call).FullName())
}

// sorts are the functions that sort by an order that they are given.
var sorts = []string{"slices.SortFunc", "slices.SortStableFunc", "sort.Slice", "sort.SliceStable"}

// writers are Go's own functions that write to their first argument, and to nothing else.
var writers = []string{"slices.Sort", "slices.SortFunc", "slices.SortStableFunc", "slices.Reverse", "sort.Float64s", "sort.Ints", "sort.Strings", "sort.Slice", "sort.SliceStable"}

// given is a use of a variable as an argument, or as a receiver if i is negative. It
// reports whether the function only reads it, and keeps nothing.
func (r *discipline) given(v *variable, x ast.Expr, call *ast.CallExpr, i, through int) bool {
	fn := r.called(call)
	result := r.pkg.Info.TypeOf(call)
	plain := result == nil || !leads(result)
	if t, ok := result.(*types.Tuple); ok {
		plain = true
		for y := range t.Variables() {
			plain = plain && (!leads(y.Type()) || isError(y.Type()))
		}
	}
	if fn == nil {
		return false // a value: of a literal, which the captures are asked of, or from outside
	}
	if trusted(fn) {
		if fn.Name() == "AddTo" {
			r.refuse(call, "a release", "AddTo writes to what it is given")
		}
		return asked(fn) // it writes to nothing that it is given, but may read it later
	}
	if d, ok := r.program.funcs[fn.Origin().FullName()]; ok {
		k := r.program.read(d)
		if k.refusal != nil {
			r.refuse(call, k.refusal.Hint, shortName(fn.FullName())+" is given what may be written to: "+k.refusal.Reason)
		}
		if k.open {
			return false
		}
		sig := d.fn.Signature()
		to := sig.Recv()
		if i >= 0 {
			to = sig.Params().At(min(i, sig.Params().Len()-1))
		}
		if k.writes[to] {
			r.wholly(v, call, everywhere) // (for what is known)
			return !slices.Contains(k.fresh, false)
		}
		return plain || !slices.Contains(k.fresh, false)
	}
	name := fn.FullName()
	if slices.Contains(writers, name) && i == 0 {
		r.wholly(v, call, through)
		return true
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && i < 0 {
		if s := r.pkg.Info.Selections[sel]; s != nil && !harmless(fn) {
			r.refuse(call, "functions whose source is at hand", "the method "+fn.Name()+" may write to "+types.ExprString(x))
		}
		return plain
	}
	switch {
	case fn.Pkg() == nil:
		return true // error.Error
	case copies(fn):
		return !leads(elementType(r.pkg.Info.TypeOf(x)))
	case !readers(fn) && (!isPure(fn) || puts(fn)):
		r.refuse(call, "functions that only read, slices.Clone, slices.Sort", name+" may write to what it is given")
	}
	return plain
}

// puts reports whether a function of packages that else only read writes to what it is
// given.
func puts(fn *types.Func) bool {
	name := fn.Name()
	return strings.HasPrefix(name, "Append") || strings.HasPrefix(name, "Encode") || fn.FullName() == "errors.As"
}

// value holds a function that is no callee: who calls it does not see what it writes to.
func (r *discipline) value(id *ast.Ident, fn *types.Func) {
	var x ast.Expr = id
	for {
		p, ok := r.parent[x].(ast.Expr)
		if call, is := p.(*ast.CallExpr); is && call.Fun == x {
			return
		}
		switch p := p.(type) {
		case *ast.SelectorExpr:
			ok = p.Sel == x
		case *ast.IndexExpr:
			ok = p.X == x
		case *ast.IndexListExpr, *ast.ParenExpr:
		default:
			ok = false
		}
		if !ok {
			break
		}
		x = p
	}
	if d, ok := r.program.funcs[fn.Origin().FullName()]; ok {
		if k := r.program.read(d); k.open || k.refusal != nil || len(k.writes) > 0 {
			r.refuse(id, "a call", fn.Name()+" is passed on, and writes to what it is given")
		}
		return
	}
	if !isPure(fn) && !readers(fn) && !copies(fn) && !trusted(fn) && !harmless(fn) || fn.Pkg() != nil && puts(fn) {
		r.refuse(id, "a call", fn.Name()+" is passed on, and may write to what it is given")
	}
}

// readers reports whether a function of slices, maps or sort only reads what it is given.
func readers(fn *types.Func) bool {
	return slices.Contains([]string{
		"slices.All", "slices.BinarySearch", "slices.BinarySearchFunc", "slices.Compare", "slices.Contains", "slices.ContainsFunc", "slices.Equal", "slices.Index", "slices.IndexFunc",
		"slices.IsSorted", "slices.Max", "slices.Min", "slices.Values", "maps.All", "maps.Equal", "maps.Keys", "maps.Values",
		"sort.Search", "sort.SearchFloat64s", "sort.SearchInts", "sort.SearchStrings",
	}, fn.FullName())
}

// copies reports whether what a function of slices or maps returns is new.
func copies(fn *types.Func) bool {
	return slices.Contains([]string{"slices.Clone", "maps.Clone", "slices.Concat", "slices.Repeat", "slices.Sorted", "slices.Collect"}, fn.FullName())
}

// asked reports whether a function is a draw, or a release of a mechanism, which keep nothing of
// what they are given.
func asked(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	if recv == nil {
		return false
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || strings.HasSuffix(fn.Pkg().Path(), "/dataset") {
		return false
	}
	d := devices["New"+named.Obj().Name()]
	return slices.Contains(d.each, fn.Name()) || slices.Contains(d.run, fn.Name()) || named.Obj().Name() == "Source" && fn.Name() == "Choose"
}

// harmless are methods of others that write to nothing, and remember nothing.
func harmless(fn *types.Func) bool {
	if fn.Signature().Recv() == nil {
		return false
	}
	if fn.Pkg() == nil {
		return true // of error
	}
	switch fn.Pkg().Path() {
	case "time", "regexp", "context":
		return true
	case "math/big":
		return slices.Contains([]string{"Float64", "Sign", "Cmp", "IsInt", "Num", "Denom", "Int64", "IsInt64", "String", "RatString"}, fn.Name())
	}
	return false
}

// called is the function of a call, if it is known by its name.
func (r *discipline) called(call *ast.CallExpr) *types.Func {
	if id := calleeOf(call); id != nil {
		fn, _ := r.pkg.Info.Uses[id].(*types.Func)
		return fn
	}
	return nil
}

func isBlank(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "_"
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// calleeOf is the name that a call is by.
func calleeOf(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	}
	return nil
}

// trusted reports whether a function is one of Discreet's that the rules have models of.
func trusted(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false
	}
	path, ok := strings.CutPrefix(fn.Pkg().Path(), module)
	return ok && slices.Contains([]string{"noise", "dataset", "mechanism", "privacy"}, path)
}

// writesTo checks what a call writes to: a variable, of which that is noted, or what
// nobody else has.
func (r *discipline) writesTo(call *ast.CallExpr) {
	check := func(x ast.Expr) {
		if root(r.pkg.Info, x) == nil && !r.new(x, everywhere) {
			r.refuse(x, "a variable", "a call writes to what is no variable")
		}
	}
	switch b := r.builtin(call); b {
	case "append", "copy", "clear", "delete":
		check(call.Args[0])
		return
	case "":
	default:
		return
	}
	fn := r.called(call)
	if fn == nil || trusted(fn) {
		return
	}
	d, ok := r.program.funcs[fn.Origin().FullName()]
	if !ok {
		if slices.Contains(writers, fn.FullName()) {
			check(call.Args[0])
		}
		return
	}
	k := r.program.read(d)
	if k.open {
		return // it writes to nothing that it is given
	}
	sig := d.fn.Signature()
	for i, x := range call.Args {
		if k.writes[sig.Params().At(min(i, sig.Params().Len()-1))] {
			check(x)
		}
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && sig.Recv() != nil && k.writes[sig.Recv()] {
		check(sel.X)
	}
}
