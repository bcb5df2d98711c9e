package source

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// globalError is a global error, var ErrX = errors.New("..."): one that is made where it is
// declared and is set nowhere else. Of any other nobody knows that it is not nil.
func (l *lowerer) globalError(v *types.Var, pos token.Pos) term {
	in := l.frame.in
	for _, b := range l.known {
		if b.in.types.Path() == v.Pkg().Path() {
			in = b.in
			break
		}
	}
	if in.types.Path() != v.Pkg().Path() {
		l.missing = append(l.missing, v.Pkg().Path())
		l.refuse(pos, "the error "+v.Name(), "where it is made is not at hand", "take an error of this module")
	}
	if !in.makes(in.types.Scope().Lookup(v.Name())) {
		l.refuse(pos, "the error "+v.Name(), "it may be nil, or set anew", "declare it with errors.New, and set it nowhere else")
	}
	return term{l.errorCode(v.Pkg().Path() + "." + v.Name()), program.Int}
}

// makes reports whether a package makes an error where it declares it, and nowhere else
// sets it or takes its address.
func (c *checked) makes(obj types.Object) bool {
	made, set := false, false
	is := func(e ast.Expr) bool {
		id := identOf(e)
		return id != nil && c.info.Uses[id] == obj
	}
	for _, file := range c.files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					made = made || c.info.Defs[name] == obj && len(n.Values) == len(n.Names) && c.isNew(n.Values[i])
				}
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					set = set || is(e)
				}
			case *ast.RangeStmt:
				set = set || is(n.Key) || is(n.Value)
			case *ast.UnaryExpr:
				set = set || n.Op == token.AND && is(n.X)
			}
			return true
		})
	}
	return made && !set
}

// isNew reports whether an expression is a call of errors.New or fmt.Errorf.
func (c *checked) isNew(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := genericFunc(c.info, call.Fun)
	return fn != nil && (fn.FullName() == "errors.New" || fn.FullName() == "fmt.Errorf")
}
