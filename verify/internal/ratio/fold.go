package ratio

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// fold computes an operator on constants, and leaves other operands alone.
func fold(e program.Expression) program.Expression {
	switch e := e.(type) {
	case program.Unary:
		switch x := e.X.(type) {
		case program.Number:
			return program.Number{Value: new(big.Rat).Neg(x.Value), Sort: x.Sort}
		case program.Truth:
			return !x
		}
	case program.Binary:
		if x, ok := e.X.(program.Number); ok {
			if y, ok := e.Y.(program.Number); ok {
				return foldNumbers(e, x.Value, y.Value)
			}
		}
		if x, ok := e.X.(program.Truth); ok {
			if y, ok := e.Y.(program.Truth); ok && (e.Op == program.Eq || e.Op == program.Ne) {
				return program.Truth((x == y) == (e.Op == program.Eq))
			}
		}
	case program.Call:
		if len(e.Args) != 1 {
			return e
		}
		if x, ok := e.Args[0].(program.Number); ok {
			return foldCall(e, x)
		}
	}
	return e
}

func foldNumbers(e program.Binary, x, y *big.Rat) program.Expression {
	result := func(r *big.Rat) program.Expression { return program.Number{Value: r, Sort: program.SortOf(e)} }
	order := x.Cmp(y)
	switch e.Op {
	case program.Add:
		return result(new(big.Rat).Add(x, y))
	case program.Sub:
		return result(new(big.Rat).Sub(x, y))
	case program.Mul:
		return result(new(big.Rat).Mul(x, y))
	case program.Quo:
		if y.Sign() == 0 {
			return e
		}
		q := new(big.Rat).Quo(x, y)
		if program.SortOf(e) == program.Int {
			q.SetInt(new(big.Int).Quo(q.Num(), q.Denom()))
		}
		return result(q)
	case program.Rem:
		if y.Sign() == 0 || !x.IsInt() || !y.IsInt() {
			return e
		}
		return result(new(big.Rat).SetInt(new(big.Int).Rem(x.Num(), y.Num())))
	case program.Min:
		if order <= 0 {
			return result(x)
		}
		return result(y)
	case program.Max:
		if order >= 0 {
			return result(x)
		}
		return result(y)
	case program.Eq:
		return program.Truth(order == 0)
	case program.Ne:
		return program.Truth(order != 0)
	case program.Lt:
		return program.Truth(order < 0)
	case program.Le:
		return program.Truth(order <= 0)
	case program.Gt:
		return program.Truth(order > 0)
	case program.Ge:
		return program.Truth(order >= 0)
	}
	return e
}

func foldCall(e program.Call, x program.Number) program.Expression {
	switch e.Func {
	case "abs":
		return program.Number{Value: new(big.Rat).Abs(x.Value), Sort: x.Sort}
	case "real":
		return program.Number{Value: x.Value, Sort: program.Real}
	case "int":
		return program.Number{Value: new(big.Rat).SetInt(new(big.Int).Quo(x.Value.Num(), x.Value.Denom())), Sort: program.Int}
	case "floor":
		return program.Number{Value: new(big.Rat).SetInt(numeric.Floor(x.Value)), Sort: program.Real}
	case "ceil":
		return program.Number{Value: new(big.Rat).SetInt(numeric.Ceil(x.Value)), Sort: program.Real}
	}
	return e
}

// parts returns what an expression is made of.
func parts(e program.Expression) []program.Expression {
	switch e := e.(type) {
	case program.Element:
		return []program.Expression{program.Ref{Var: e.Slice}, e.Index}
	case program.Length:
		return []program.Expression{program.Ref{Var: e.Slice}}
	case program.Unary:
		return []program.Expression{e.X}
	case program.Binary:
		return []program.Expression{e.X, e.Y}
	case program.Call:
		return e.Args
	case program.If3:
		return []program.Expression{e.Cond, e.Then, e.Else}
	case program.Diff:
		return []program.Expression{e.X}
	}
	return nil
}

// mentions counts how often an expression reads a variable.
func mentions(e program.Expression, v *program.Variable) int {
	if r, ok := e.(program.Ref); ok && r.Var == v {
		return 1
	}
	n := 0
	for _, p := range parts(e) {
		n += mentions(p, v)
	}
	return n
}
