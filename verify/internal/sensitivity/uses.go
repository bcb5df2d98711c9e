package sensitivity

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

func (r *discipline) variable(o *types.Var, at ast.Node) *variable {
	v, ok := r.vars[o]
	if !ok {
		v = &variable{object: o, at: at}
		if o.Parent() == nil || o.Parent() != o.Pkg().Scope() {
			v.level = r.level(at)
		}
		r.vars[o] = v
	}
	return v
}

// occurrence notes what is done with a variable in one place.
func (r *discipline) occurrence(id *ast.Ident, o *types.Var) {
	v := r.variable(o, id)
	v.uses = append(v.uses, id)
	var x ast.Expr = id
	through := 0
climb:
	for {
		switch p := r.parent[x].(type) {
		case *ast.ParenExpr:
			x = p
		case *ast.StarExpr:
			through++
			x = p
		case *ast.IndexExpr:
			if p.X != x {
				break climb
			}
			through++
			x = p
		case *ast.SliceExpr:
			if p.X != x {
				break climb
			}
			through++
			x = p
		case *ast.SelectorExpr:
			sel := r.pkg.Info.Selections[p]
			if sel == nil || sel.Kind() != types.FieldVal {
				break climb
			}
			if sel.Indirect() {
				through++
			}
			x = p
		default:
			break climb
		}
	}
	assigned := func(at ast.Node, s set) {
		switch {
		case v.level == nil:
			r.refuse(at, "a result", "a variable of the package is written to")
		case r.level(at) != v.level:
			lit, ok := r.level(at).(*ast.FuncLit)
			if !ok || through > 0 || leads(o.Type()) || !r.acts(lit, o) {
				r.refuse(at, "what the function returns", "a function literal writes to "+o.Name()+", which is a variable outside of it")
			}
		}
		s.level = through
		v.sets = append(v.sets, s)
		if through > 0 {
			r.written(v, at, through)
		}
	}
	switch p := r.parent[x].(type) {
	case *ast.AssignStmt:
		if i := slices.Index(p.Lhs, x); i >= 0 {
			if len(p.Lhs) != len(p.Rhs) {
				assigned(p, set{at: p, value: p.Rhs[0], index: i, alien: len(p.Rhs) != 1})
				return
			}
			if call, ok := r.grows(p.Lhs[i], p.Rhs[i]); ok {
				// Its elements are set, by what is appended.
				through++
				if len(call.Args) == 1 {
					assigned(p, set{at: p})
				}
				for _, y := range call.Args[1:] {
					assigned(p, set{at: p, value: y, index: -1})
				}
				return
			}
			assigned(p, set{at: p, value: p.Rhs[i], index: -1})
			return
		}
		if i := slices.Index(p.Rhs, x); i >= 0 && len(p.Lhs) == len(p.Rhs) {
			if id, ok := p.Lhs[i].(*ast.Ident); ok && id.Name == "_" {
				return
			}
		}
	case *ast.ValueSpec:
		if i := slices.Index(p.Names, id); i >= 0 {
			switch {
			case len(p.Values) == 0:
				assigned(r.statement(p), set{at: p})
			case len(p.Values) == len(p.Names):
				assigned(r.statement(p), set{at: p, value: p.Values[i], index: -1})
			default:
				assigned(r.statement(p), set{at: p, value: p.Values[0], index: i})
			}
			return
		}
	case *ast.IncDecStmt:
		assigned(p, set{at: p})
		return
	case *ast.RangeStmt:
		if x == p.Key || x == p.Value {
			assigned(p, set{at: p, alien: true})
			return
		}
	case *ast.Field:
		return // a parameter, or a named result
	}
	if o.Pkg() != nil && r.pkg.Info.Defs[id] != nil {
		return
	}
	t := r.pkg.Info.TypeOf(x)
	if list, ok := t.(*types.Tuple); ok {
		t = list.At(0).Type() // v, ok := m[k]
	}
	if t == nil || !leads(t) {
		if p, ok := r.parent[x].(*ast.SelectorExpr); ok {
			r.method(v, x, p, through)
		}
		return
	}
	if !r.reads(v, x, through) {
		v.kept = append(v.kept, x)
	}
}

// acts allows a literal that sets a number outside of itself, where it is called for that
// alone: no call of it stands in a statement that else reads the number, and no loop is
// over it.
func (r *discipline) acts(lit *ast.FuncLit, o *types.Var) bool {
	switch p := r.parent[lit].(type) {
	case *ast.CallExpr:
		if p.Fun == lit || !r.alone(p) || r.keeps(p) {
			return false
		}
	case *ast.AssignStmt:
		if p.Tok != token.DEFINE || len(p.Lhs) != 1 {
			return false
		}
		f := r.pkg.Info.Defs[p.Lhs[0].(*ast.Ident)]
		ok := true
		ast.Inspect(r.decl.Body, func(n ast.Node) bool {
			if id, is := n.(*ast.Ident); is && f != nil && r.pkg.Info.Uses[id] == f {
				call, called := r.parent[id].(*ast.CallExpr)
				ok = ok && called && call.Fun == ast.Expr(id) && r.level(call) == r.level(p) && r.alone(call) && !r.names(r.statement(call), o, nil)
			}
			return ok
		})
		if !ok || f == nil {
			return false
		}
	default:
		return false
	}
	if r.level(lit) != r.vars[o].level || r.names(r.statement(lit), o, lit) {
		return false
	}
	clauses := true
	ast.Inspect(r.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			for _, c := range []ast.Node{n.Init, n.Cond, n.Post} {
				clauses = clauses && !r.names(c, o, nil)
			}
		case *ast.RangeStmt:
			for _, c := range []ast.Node{n.Key, n.Value, n.X} {
				clauses = clauses && !r.names(c, o, nil)
			}
		}
		return clauses
	})
	return clauses
}

// keeps reports whether a call may keep a function that it is given: in what it returns.
func (r *discipline) keeps(call *ast.CallExpr) bool {
	tv := r.pkg.Info.Types[call]
	if list, ok := tv.Type.(*types.Tuple); ok {
		for v := range list.Variables() {
			if leads(v.Type()) && !isError(v.Type()) {
				return true
			}
		}
		return false
	}
	return !tv.IsVoid() && leads(tv.Type) && !isError(tv.Type)
}

// names reports whether a variable is named in a node, but for a part of it.
func (r *discipline) names(n ast.Node, o *types.Var, but ast.Node) (found bool) {
	if n == nil {
		return false
	}
	ast.Inspect(n, func(m ast.Node) bool {
		if m == nil || m == but {
			return false
		}
		id, ok := m.(*ast.Ident)
		found = found || ok && r.pkg.Info.ObjectOf(id) == types.Object(o)
		return !found
	})
	return found
}

// alone reports whether a call is a statement, or all that is assigned by one.
func (r *discipline) alone(call *ast.CallExpr) bool {
	switch s := r.statement(call).(type) {
	case *ast.ExprStmt:
		return ast.Unparen(s.X) == ast.Expr(call)
	case *ast.AssignStmt:
		return len(s.Rhs) == 1 && ast.Unparen(s.Rhs[0]) == ast.Expr(call)
	}
	return false
}

func (r *discipline) written(v *variable, at ast.Node, through int) {
	if v.level == nil {
		r.refuse(at, "a result", "what a variable of the package leads to is written to")
	}
	if r.level(at) != v.level {
		r.refuse(at, "what the function returns", "a function literal writes to what a variable outside of it leads to")
	}
	v.writes = append(v.writes, at)
	v.depth = max(v.depth, through)
}

// grows reports whether x = append(x, ...).
func (r *discipline) grows(lhs, rhs ast.Expr) (*ast.CallExpr, bool) {
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || r.builtin(call) != "append" || !simple(lhs) {
		return nil, false
	}
	x, y := root(r.pkg.Info, lhs), root(r.pkg.Info, call.Args[0])
	same := x != nil && y != nil && r.pkg.Info.ObjectOf(x) == r.pkg.Info.ObjectOf(y) // and not x := append(x, ...)
	return call, same && types.ExprString(ast.Unparen(lhs)) == types.ExprString(ast.Unparen(call.Args[0]))
}

func (r *discipline) builtin(call *ast.CallExpr) string {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := r.pkg.Info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

// method is a call of a method of a number, or of a struct of numbers.
func (r *discipline) method(v *variable, x ast.Expr, p *ast.SelectorExpr, through int) {
	if call, ok := r.parent[p].(*ast.CallExpr); ok && call.Fun == p {
		r.receives(v, x, call, through)
	}
}

// receives is given of a receiver. Where Go takes its address, that must not live on.
func (r *discipline) receives(v *variable, x ast.Expr, call *ast.CallExpr, through int) bool {
	reads := r.given(v, x, call, -1, through)
	fn := r.called(call)
	if reads || fn == nil || fn.Signature().Recv() == nil || trusted(fn) {
		return reads
	}
	_, pointer := fn.Signature().Recv().Type().Underlying().(*types.Pointer)
	if _, was := r.pkg.Info.TypeOf(x).Underlying().(*types.Pointer); pointer && !was {
		r.refuse(call, "a method of a value", "the method "+fn.Name()+" may keep the address of "+types.ExprString(x))
	}
	return false
}

// reads reports whether what a variable leads to is only read in this place, and not kept.
func (r *discipline) reads(v *variable, x ast.Expr, through int) bool {
	switch p := r.parent[x].(type) {
	case *ast.RangeStmt:
		return p.Value == nil || isBlank(p.Value) || !leads(r.pkg.Info.TypeOf(p.Value))
	case *ast.BinaryExpr, *ast.SwitchStmt, *ast.CaseClause:
		return true
	case *ast.IndexExpr: // the key of a map
		return false
	case *ast.SelectorExpr:
		if call, ok := r.parent[p].(*ast.CallExpr); ok && call.Fun == p {
			return r.receives(v, x, call, through)
		}
	case *ast.CallExpr:
		if p.Fun == x {
			return true
		}
		i := slices.Index(p.Args, x)
		if tv := r.pkg.Info.Types[p.Fun]; tv.IsType() {
			return !leads(tv.Type)
		}
		switch r.builtin(p) {
		case "":
			return r.given(v, x, p, i, through)
		case "len", "min", "max", "panic":
			return true
		case "append":
			if i > 0 {
				return p.Ellipsis.IsValid() && !leads(elementType(r.pkg.Info.TypeOf(x)))
			}
			if s, ok := r.parent[p].(*ast.AssignStmt); ok {
				for k, y := range s.Rhs {
					if _, grows := r.grows(s.Lhs[min(k, len(s.Lhs)-1)], y); grows && y == ast.Expr(p) && len(s.Lhs) == len(s.Rhs) {
						return true // noted where it is set
					}
				}
			}
			// It may be written to behind its end.
			if _, part := ast.Unparen(x).(*ast.SliceExpr); part {
				r.refuse(p, "slices.Clone", "an append to a part of a slice, which writes to the rest")
			}
			r.written(v, p, through+1)
			return false
		case "copy":
			if i == 1 {
				return !leads(elementType(r.pkg.Info.TypeOf(x)))
			}
			v.sets = append(v.sets, set{at: p, value: p.Args[1], index: -1, level: through + 1})
			r.wholly(v, p, through)
			return true
		case "clear", "delete":
			if i == 0 {
				r.wholly(v, p, through)
			}
			return true
		}
		r.refuse(p, "the builtins of the subset", "the builtin "+r.builtin(p))
	}
	return false
}
