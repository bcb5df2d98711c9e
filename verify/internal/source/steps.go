package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// WholeSteps reports that a shift, the expression of a proof, moves a draw of real noise by
// whole steps of its grid: it is a sum of whole numbers, which are on all grids, and of
// distances of whole numbers or of what is on the grid of that draw. Other shifts are of
// real noise alone: noise on the grid moves by the next step, and costs more.
func WholeSteps(f *program.Function, c *claim.Claim, d *program.Draw, shift string) bool {
	switch d.Law {
	case program.Laplace, program.Exponential, program.Gaussian:
	default:
		return true
	}
	x, err := parser.ParseExpr(shift)
	if err != nil {
		return false
	}
	e := explore(f, c)
	key, ok := e.key(d.Parameter)
	return ok && e.wholeSteps(x, key)
}

func (e *exactness) wholeSteps(x ast.Expr, key string) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.wholeSteps(x.X, key)
	case *ast.BasicLit:
		n, ok := new(big.Rat).SetString(x.Value)
		return ok && n.IsInt()
	case *ast.UnaryExpr:
		return x.Op == token.SUB && e.wholeSteps(x.X, key)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.ADD, token.SUB:
		case token.MUL:
			if !literal(x.X) && !literal(x.Y) {
				return false
			}
		default:
			return false
		}
		return e.wholeSteps(x.X, key) && e.wholeSteps(x.Y, key)
	case *ast.CallExpr:
		name, ok := x.Fun.(*ast.Ident)
		if !ok {
			return false
		}
		args := x.Args
		switch {
		case name.Name == "cond" && len(args) == 3:
			args = args[1:]
		case name.Name == "diff" && len(args) == 1:
			return e.onGrid(args[0], key)
		case name.Name == "min", name.Name == "max", name.Name == "abs":
		default:
			return false
		}
		for _, a := range args {
			if !e.wholeSteps(a, key) {
				return false
			}
		}
		return true
	}
	return false
}

// literal reports a literal.
func literal(x ast.Expr) bool { _, ok := x.(*ast.BasicLit); return ok }

// onGrid reports that an expression of a proof has values on a grid.
func (e *exactness) onGrid(x ast.Expr, key string) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.onGrid(x.X, key)
	case *ast.Ident, *ast.IndexExpr:
		name := types.ExprString(x)
		if i, ok := x.(*ast.IndexExpr); ok {
			name = types.ExprString(i.X)
		}
		found, on := false, true
		for v, f := range e.forms {
			if v.Name == name {
				found = true
				on = on && (v.Sort == program.Int || f.steps != nil && f.grid == key)
			}
		}
		return found && on
	case *ast.CallExpr:
		name, ok := x.Fun.(*ast.Ident)
		scale, err := parser.ParseExpr(key)
		return ok && err == nil && name.Name == "grid" && len(x.Args) == 2 && types.ExprString(x.Args[1]) == types.ExprString(scale)
	}
	return false
}
