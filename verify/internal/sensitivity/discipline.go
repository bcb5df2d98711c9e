package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// The rules speak of values: what a variable holds, and how far it moves. Go's slices,
// maps and pointers are places instead, which several names may lead to. The discipline
// is what makes the one the other, and all functions that the rules read keep it:
//
//   - the statements and expressions are those listed here, and no others;
//   - nothing is written to through a pointer, a captured variable or a variable of the
//     package, and no address of a variable is taken;
//   - what a variable leads to is written to only where the variable alone leads there:
//     all that it was ever set to was made for it, and no other name was given to it that
//     lives on when it is written to.
//
// Theorem. In a function that keeps the discipline no write through one name changes what
// another name leads to, and no call changes a variable of its caller but the one
// argument that it is said to write to, of which its statement says nothing else. So a
// slice may be read as the value it had when it was named, and the operands of a
// statement in any order.
//
// Proof. A place of memory is written to by x[i]... = v, append(x, ...), a builtin or a
// function that is said to write to x. All sets of x are fresh: they lead to places that
// no other variable leads to then. A name y other than x comes to lead there only by a use
// of x as it is, or of a part of it: one that only reads and keeps nothing, one after
// which x is not written to any more (lasting), or one that moves it to y, where x is not
// used any more. In the first two cases y never sees a write through x. A write through y
// needs that all sets of y be fresh: the set was a move, and x sees nothing. What leads
// further, rows of rows, is asked to be fresh if it is written to. ∎
//
// A keeper is a function that keeps the discipline, or why not.
type keeper struct {
	refusal *Refusal
	writes  map[*types.Var]bool // parameters whose memory it writes to
	deep    bool                // so far in that rows of it are written to
	fresh   []bool              // results that lead to memory that no other name leads to
	open    bool                // it is being read
	again   bool                // it calls itself
}

// keeper reads a declared function once.
func (p *Program) keeper(d declared) *keeper {
	p.reading.Lock()
	defer p.reading.Unlock()
	return p.read(d)
}

func (p *Program) read(d declared) *keeper {
	key := d.fn.FullName()
	k, ok := p.keepers[key]
	if !ok {
		k = &keeper{writes: map[*types.Var]bool{}, open: true}
		p.keepers[key] = k
		r := &discipline{program: p, declared: d, keeper: k, parent: map[ast.Node]ast.Node{}, vars: map[*types.Var]*variable{}}
		r.read()
		k.open = false
	}
	k.again = k.again || k.open
	return k
}

// discipline reads one function.
type discipline struct {
	program *Program
	declared
	*keeper
	parent map[ast.Node]ast.Node
	vars   map[*types.Var]*variable
	// callees are all calls.
	callees []*ast.CallExpr
}

// A variable is what is done with one.
type variable struct {
	object *types.Var
	at     ast.Node // its declaration
	level  ast.Node // the function, or literal, that it is declared in
	param  bool
	sets   []set
	writes []ast.Node // statements
	depth  int        // how far in it is written to: 1 its elements, 2 those of its rows
	kept   []ast.Expr // uses as it is, or of a part, that may live on
	uses   []ast.Node // all
	fresh  int        // 1 yes, 2 no, 3 being asked
}

// A set is an assignment to a variable, or to a part of it that may lead somewhere.
type set struct {
	at    ast.Node
	value ast.Expr // nil if the zero value, or unknown
	index int      // of the results of a call, or -1
	level int      // 0 for the variable, 1 for an element of it, 2 for one of a row
	alien bool     // of what is led to nothing is known
}

type broken struct{ Refusal }

func (r *discipline) refuse(at ast.Node, hint, reason string) {
	panic(broken{Refusal{at.Pos(), reason, hint}})
}

func (r *discipline) read() {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case broken:
			r.refusal = &x.Refusal
		default:
			panic(x)
		}
	}()
	var stack []ast.Node
	ast.Inspect(r.decl, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			r.parent[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		r.allowed(n)
		return true
	})
	r.parameters(r.decl.Recv)
	r.parameters(r.decl.Type.Params)
	ast.Inspect(r.decl, func(n ast.Node) bool {
		r.dynamic(n)
		switch n := n.(type) {
		case *ast.FuncLit:
			r.parameters(n.Type.Params)
		case *ast.ReturnStmt:
			r.bare(n)
		case *ast.Ident:
			switch o := r.pkg.Info.ObjectOf(n).(type) {
			case *types.Var:
				if !o.IsField() && n.Name != "_" {
					r.occurrence(n, o)
				}
			case *types.Func:
				if r.pkg.Info.Uses[n] != nil {
					r.value(n, o)
				}
			}
		}
		return true
	})
	for _, call := range r.callees {
		r.writesTo(call)
	}
	for _, id := range r.order() {
		r.judge(id, r.vars[id])
	}
	r.results()
	if r.again && (len(r.writes) > 0 || slices.Contains(r.fresh, false)) {
		// What was taken for granted of its own calls, by induction on their depth.
		r.refuse(r.decl, "a loop", "a function that calls itself writes to, or returns, what it is given")
	}
}

// dynamic refuses values that become those of an interface: of which type they are would be told
// with them, and values are read without. What Go's own functions are given they keep to themselves.
func (r *discipline) dynamic(n ast.Node) {
	open := func(t types.Type) bool {
		_, parameter := types.Unalias(t).(*types.TypeParam)
		return types.IsInterface(t) && !parameter
	}
	becomes := func(t, from types.Type, x ast.Expr) {
		if t == nil || from == nil || !open(t) || open(from) || types.Identical(from, types.Typ[types.UntypedNil]) || random(from) {
			return
		}
		r.refuse(x, "a value of one type", "a value of type "+from.String()+" becomes one of "+t.String())
	}
	to := func(t types.Type, x ast.Expr) { becomes(t, r.pkg.Info.TypeOf(x), x) }
	of := func(t *types.Tuple, list []ast.Expr) {
		if several, ok := r.pkg.Info.TypeOf(list[0]).(*types.Tuple); ok {
			for i := range several.Len() {
				becomes(t.At(min(i, t.Len()-1)).Type(), several.At(i).Type(), list[0])
			}
			return
		}
		for i, x := range list {
			to(t.At(min(i, t.Len()-1)).Type(), x)
		}
	}
	switch n := n.(type) {
	case *ast.ReturnStmt:
		sig := r.fn.Signature()
		if lit, ok := r.level(n).(*ast.FuncLit); ok {
			sig, _ = r.pkg.Info.TypeOf(lit).(*types.Signature)
		}
		if sig != nil && len(n.Results) > 0 {
			of(sig.Results(), n.Results)
		}
	case *ast.AssignStmt:
		several, _ := r.pkg.Info.TypeOf(n.Rhs[0]).(*types.Tuple)
		for i, l := range n.Lhs {
			switch {
			case isBlank(l):
			case len(n.Lhs) == len(n.Rhs):
				to(r.pkg.Info.TypeOf(l), n.Rhs[i])
			case several != nil:
				becomes(r.pkg.Info.TypeOf(l), several.At(i).Type(), l)
			}
		}
	case *ast.ValueSpec:
		for i, x := range n.Values {
			if len(n.Names) == len(n.Values) {
				to(r.pkg.Info.TypeOf(n.Names[i]), x)
			}
		}
	case *ast.CompositeLit:
		for i, x := range n.Elts {
			value := x
			pair, keyed := x.(*ast.KeyValueExpr)
			if keyed {
				value = pair.Value
			}
			switch t := core(r.pkg.Info.TypeOf(n)).(type) {
			case *types.Slice:
				to(t.Elem(), value)
			case *types.Array:
				to(t.Elem(), value)
			case *types.Map:
				to(t.Key(), pair.Key)
				to(t.Elem(), value)
			case *types.Struct:
				if keyed {
					to(r.pkg.Info.TypeOf(pair.Key), value)
				} else {
					to(t.Field(i).Type(), value)
				}
			}
		}
	case *ast.CallExpr:
		if r.pkg.Info.Types[n.Fun].IsType() {
			to(r.pkg.Info.TypeOf(n.Fun), n.Args[0])
			return
		}
		sig, ok := r.pkg.Info.TypeOf(n.Fun).(*types.Signature) // of the types that it is called for
		if r.builtin(n) == "append" {
			for _, x := range n.Args[1:] {
				if !n.Ellipsis.IsValid() {
					to(elementType(r.pkg.Info.TypeOf(n)), x)
				}
			}
		} else if fn := r.called(n); ok && len(n.Args) > 0 {
			known := fn == nil && r.builtin(n) == "" // a function that is a value
			if fn != nil {
				_, known = r.program.funcs[fn.Origin().FullName()]
			}
			if known {
				of(sig.Params(), n.Args)
				for _, x := range n.Args[min(len(n.Args), sig.Params().Len()-1):] {
					if sig.Variadic() && !n.Ellipsis.IsValid() {
						to(elementType(sig.Params().At(sig.Params().Len()-1).Type()), x)
					}
				}
			}
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN && !(n.Key == nil || isBlank(n.Key)) && types.IsInterface(r.pkg.Info.TypeOf(n.Key)) {
			r.refuse(n.Key, "a variable of the range's own", "a key becomes a value of "+r.pkg.Info.TypeOf(n.Key).String())
		}
		if n.Tok == token.ASSIGN && !(n.Value == nil || isBlank(n.Value)) {
			becomes(r.pkg.Info.TypeOf(n.Value), elementType(r.pkg.Info.TypeOf(n.X)), n.Value)
		}
	case *ast.IndexExpr:
		if m, ok := core(r.pkg.Info.TypeOf(n.X)).(*types.Map); ok {
			to(m.Key(), n.Index)
		}
	}
}

// order is that of declarations, so that refusals are the same each time.
func (r *discipline) order() []*types.Var {
	var all []*types.Var
	for v := range r.vars {
		all = append(all, v)
	}
	slices.SortFunc(all, func(v, w *types.Var) int { return int(v.Pos() - w.Pos()) })
	return all
}

func (r *discipline) parameters(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		for _, name := range f.Names {
			if o, ok := r.pkg.Info.Defs[name].(*types.Var); ok {
				v := r.variable(o, name)
				v.param = true
			}
		}
	}
}

// bare notes that a return without results uses the named ones.
func (r *discipline) bare(s *ast.ReturnStmt) {
	t := r.decl.Type
	if lit, ok := r.level(s).(*ast.FuncLit); ok {
		t = lit.Type
	}
	if len(s.Results) > 0 || t.Results == nil {
		return
	}
	for _, f := range t.Results.List {
		for _, name := range f.Names {
			if o, ok := r.pkg.Info.Defs[name].(*types.Var); ok {
				v := r.variable(o, name)
				v.uses = append(v.uses, s)
			}
		}
	}
}

// allowed refuses syntax that the rules do not read.
func (r *discipline) allowed(n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl, *ast.FieldList, *ast.Field, *ast.FuncType, *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.InterfaceType, *ast.Ellipsis,
		*ast.Comment, *ast.CommentGroup,
		*ast.BlockStmt, *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.ReturnStmt, *ast.EmptyStmt,
		*ast.DeclStmt, *ast.GenDecl, *ast.ValueSpec, *ast.TypeSpec,
		*ast.Ident, *ast.BasicLit, *ast.CompositeLit, *ast.FuncLit, *ast.KeyValueExpr, *ast.ParenExpr, *ast.BinaryExpr, *ast.IndexExpr, *ast.IndexListExpr:
	case *ast.CallExpr:
		if b := r.builtin(n); b != "" && !slices.Contains([]string{"append", "cap", "clear", "copy", "delete", "len", "make", "max", "min", "new", "panic"}, b) {
			r.refuse(n, "functions without effects", "the builtin "+b)
		}
		r.callees = append(r.callees, n)
	case *ast.AssignStmt:
		for _, l := range n.Lhs {
			r.placed(l)
		}
		r.places(n)
		r.inOrder(n)
	case *ast.RangeStmt:
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if _, variable := x.(*ast.Ident); x != nil && !variable {
				r.refuse(x, "variables", "a range that sets a place which is no variable")
			}
		}
	case *ast.ExprStmt:
		if _, call := ast.Unparen(n.X).(*ast.CallExpr); !call {
			r.refuse(n, "calls", "a statement that is not of the subset")
		}
	case *ast.BranchStmt:
		if n.Label != nil || n.Tok != token.BREAK && n.Tok != token.CONTINUE {
			r.refuse(n, "break and continue of the innermost loop", "a jump to elsewhere")
		}
	case *ast.IncDecStmt:
		r.placed(n.X)
	case *ast.SliceExpr:
		if array(r.pkg.Info.TypeOf(n.X)) {
			r.refuse(n, "a slice from the start", "a slice of an array")
		}
		if n.Max != nil {
			r.refuse(n, "x[i:j]", "a slice of three indices")
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			if _, literal := ast.Unparen(n.X).(*ast.CompositeLit); !literal {
				r.refuse(n, "values, and results, instead of pointers", "the address of a variable")
			}
		}
		if n.Op == token.ARROW {
			r.refuse(n, "slices", "a channel")
		}
	case *ast.StarExpr:
		if !r.pkg.Info.Types[n].IsType() && !r.receiver(n.X) {
			r.refuse(n, "values instead of pointers", "what a pointer leads to")
		}
	case *ast.SelectorExpr:
		if sel := r.pkg.Info.Selections[n]; sel != nil && sel.Kind() != types.FieldVal {
			call, ok := r.parent[n].(*ast.CallExpr)
			_, pointer := sel.Obj().(*types.Func).Signature().Recv().Type().Underlying().(*types.Pointer)
			if sel.Kind() != types.MethodVal || (!ok || call.Fun != n) && (pointer || leads(sel.Recv())) {
				r.refuse(n, "a function literal that calls it", "a method as a value")
			}
		}
	default:
		r.refuse(n, "straight code, conditionals and loops", "a statement or an expression that is not of the subset")
	}
}

// places refuses assignments to several places of which one is found by what another
// sets, or changes a length: Go finds all places first, and sets them then.
func (r *discipline) places(s *ast.AssignStmt) {
	if len(s.Lhs) == 1 {
		return
	}
	set := map[types.Object]bool{}
	element := false
	for i, l := range s.Lhs {
		l = ast.Unparen(l)
		if len(s.Lhs) == len(s.Rhs) {
			if _, grows := r.grows(l, s.Rhs[i]); grows {
				r.refuse(s, "one assignment after another", "an append among other assignments")
			}
		}
		if _, variable := l.(*ast.Ident); !variable {
			ast.Inspect(l, func(n ast.Node) bool {
				_, index := n.(*ast.IndexExpr)
				id, ok := n.(*ast.Ident)
				if index && n != l && element || ok && set[r.pkg.Info.Uses[id]] {
					r.refuse(l, "one assignment after another", "an assignment to a place that another in the same statement may move")
				}
				return true
			})
		}
		switch l := l.(type) {
		case *ast.IndexExpr:
			element = true
		default:
			if id := root(r.pkg.Info, l); id != nil && id.Name != "_" {
				set[r.pkg.Info.ObjectOf(id)] = true
			}
		}
	}
}

// inOrder refuses calls among places where another is called for the value, or something
// else is set too: Go finds the places first, and calls in order.
func (r *discipline) inOrder(s *ast.AssignStmt) {
	calls := func(list []ast.Expr) (found *ast.CallExpr) {
		for _, x := range list {
			ast.Inspect(x, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && !r.pkg.Info.Types[call.Fun].IsType() && r.builtin(call) == "" {
					found = call
				}
				return true
			})
		}
		return found
	}
	if l := calls(s.Lhs); l != nil && (len(s.Lhs) > 1 || calls(s.Rhs) != nil) {
		r.refuse(l, "a variable for the index", "a call finds a place that is set by another call, or beside another")
	}
}

// placed refuses places that are in no variable.
func (r *discipline) placed(x ast.Expr) {
	if root(r.pkg.Info, x) == nil {
		r.refuse(x, "variables, and elements and fields of them", "an assignment to what is no variable")
	}
}

// root is the variable that a place is in.
func root(info *types.Info, x ast.Expr) *ast.Ident {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return root(info, x.X)
	case *ast.StarExpr:
		return root(info, x.X)
	case *ast.IndexExpr:
		return root(info, x.X)
	case *ast.SliceExpr:
		return root(info, x.X)
	case *ast.SelectorExpr:
		if sel := info.Selections[x]; sel != nil && sel.Kind() == types.FieldVal {
			return root(info, x.X)
		}
	case *ast.Ident:
		if _, ok := info.ObjectOf(x).(*types.Var); ok || x.Name == "_" {
			return x
		}
	}
	return nil
}

// receiver reports whether x is the receiver itself, which is not written to.
func (r *discipline) receiver(x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok || r.decl.Recv == nil {
		return false
	}
	return r.pkg.Info.Uses[id] == types.Object(r.fn.Signature().Recv())
}

// level is the function or literal that a node stands in.
func (r *discipline) level(n ast.Node) ast.Node {
	for n = r.parent[n]; n != nil; n = r.parent[n] {
		switch n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return n
		}
	}
	return r.decl
}

// statement is the innermost one around a node.
func (r *discipline) statement(n ast.Node) ast.Node {
	for {
		if _, ok := n.(ast.Stmt); ok {
			return n
		}
		up := r.parent[n]
		if up == nil {
			return n
		}
		n = up
	}
}
