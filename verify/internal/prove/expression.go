package prove

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"strings"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// maxText bounds the texts of certificates.
const maxText = 1 << 14

// dot is a letter in the place of the dot that makes names unique, which Go's
// identifiers have not.
const dot = "\u01c3"

// parseExpression reads an alignment as String writes it: a Go expression of the
// contract's directives over the given variables.
func parseExpression(text string, vars map[string]*p.Variable) (p.Expression, error) {
	if len(text) > maxText {
		return nil, errors.New("parse alignment: it is too long")
	}
	e, err := parser.ParseExpr(strings.ReplaceAll(text, "·", dot))
	if err != nil {
		return nil, fmt.Errorf("parse alignment: %w", err)
	}
	return reader(vars).read(e, 0)
}

type reader map[string]*p.Variable

var binaries = map[token.Token]p.Op{
	token.ADD: p.Add, token.SUB: p.Sub, token.MUL: p.Mul, token.QUO: p.Quo, token.REM: p.Rem,
	token.EQL: p.Eq, token.NEQ: p.Ne, token.LSS: p.Lt, token.LEQ: p.Le, token.GTR: p.Gt, token.GEQ: p.Ge,
	token.LAND: p.And, token.LOR: p.Or,
}

func (r reader) read(e ast.Expr, depth int) (p.Expression, error) {
	if depth > 100 {
		return nil, errors.New("parse alignment: it is too deep")
	}
	depth++
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.read(e.X, depth)
	case *ast.BasicLit:
		n, ok := new(big.Rat).SetString(e.Value)
		if !ok || e.Kind != token.INT || len(e.Value) > 40 {
			return nil, fmt.Errorf("parse alignment: the number %s", e.Value)
		}
		return p.Number{Value: n, Sort: p.Int}, nil
	case *ast.Ident, *ast.SelectorExpr:
		name := path(e)
		switch name {
		case "true":
			return p.Truth(true), nil
		case "false":
			return p.Truth(false), nil
		}
		if v, ok := r[name]; ok && !v.Slice {
			return p.Ref{Var: v}, nil
		}
		return nil, fmt.Errorf("parse alignment: %q is no variable", name)
	case *ast.IndexExpr:
		v, ok := r[path(e.X)]
		if !ok || !v.Slice {
			return nil, fmt.Errorf("parse alignment: %q is no slice", path(e.X))
		}
		i, err := r.read(e.Index, depth)
		return p.Element{Slice: v, Index: i}, err
	case *ast.UnaryExpr:
		x, err := r.read(e.X, depth)
		switch n, ok := x.(p.Number); {
		case err != nil:
			return nil, err
		case e.Op == token.SUB && ok:
			return p.Number{Value: new(big.Rat).Neg(n.Value), Sort: n.Sort}, nil
		case e.Op == token.SUB:
			return p.Unary{Op: p.Sub, X: x}, nil
		case e.Op == token.NOT:
			return p.Unary{Op: p.Not, X: x}, nil
		}
	case *ast.BinaryExpr:
		op, ok := binaries[e.Op]
		if !ok {
			break
		}
		x, err := r.read(e.X, depth)
		if err != nil {
			return nil, err
		}
		y, err := r.read(e.Y, depth)
		if err != nil {
			return nil, err
		}
		m, okX := x.(p.Number)
		n, okY := y.(p.Number)
		if op == p.Quo && okX && okY && n.Value.Sign() != 0 { // a fraction
			return p.Number{Value: new(big.Rat).Quo(m.Value, n.Value), Sort: p.Real}, nil
		}
		return p.Binary{Op: op, X: x, Y: y}, nil
	case *ast.CallExpr:
		return r.call(e, depth)
	}
	return nil, errors.New("parse alignment: it is not of the contract's form")
}

func (r reader) call(e *ast.CallExpr, depth int) (p.Expression, error) {
	name := path(e.Fun)
	if name == "len" && len(e.Args) == 1 {
		if v, ok := r[path(e.Args[0])]; ok && v.Slice {
			return p.Length{Slice: v}, nil
		}
	}
	args := make([]p.Expression, len(e.Args))
	for i, a := range e.Args {
		x, err := r.read(a, depth)
		if err != nil {
			return nil, err
		}
		args[i] = x
	}
	switch {
	case name == "diff" && len(args) == 1:
		return p.Diff{X: args[0]}, nil
	case name == "cond" && len(args) == 3:
		return p.If3{Cond: args[0], Then: args[1], Else: args[2]}, nil
	case (name == "min" || name == "max") && len(args) == 2:
		return p.Binary{Op: p.Op(name), X: args[0], Y: args[1]}, nil
	case (name == "pow" || name == "grid") && len(args) == 2:
		return p.Call{Func: name, Args: args}, nil
	case len(args) == 1:
		switch name {
		case "abs", "exp", "log", "sqrt", "floor", "ceil", "round", "real", "int":
			return p.Call{Func: name, Args: args}, nil
		}
	}
	return nil, fmt.Errorf("parse alignment: %q of %d arguments", name, len(args))
}

// path is a name with the fields it goes through.
func path(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.ReplaceAll(e.Name, dot, "·")
	case *ast.SelectorExpr:
		return path(e.X) + "." + strings.ReplaceAll(e.Sel.Name, dot, "·")
	}
	return ""
}

// variables are those of a function, by name.
func variables(f *p.Function, outcomes []*p.Variable) map[string]*p.Variable {
	vars := map[string]*p.Variable{}
	for _, v := range f.Inputs {
		vars[v.Name] = v
	}
	for _, v := range changed(f.Body) {
		vars[v.Name] = v
	}
	for _, v := range outcomes {
		if v != nil {
			vars[v.Name] = v
		}
	}
	return vars
}
