package prove

import (
	"fmt"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A measured expression is one in units, with its degree; of a constant, which is of
// any degree, the degree is 0.
type measured struct {
	x        p.Expression
	degree   int
	constant bool
}

// to is x in units, of the degree.
func (k *scaling) to(x p.Expression, degree int) p.Expression {
	m := k.of(x)
	return k.lift(m, degree)
}

// exactly is x in units, without a constant that the function does not have.
func (k *scaling) exactly(x p.Expression, degree int) p.Expression {
	n := len(k.constants)
	y := k.to(x, degree)
	if len(k.constants) > n {
		k.failed("a constant of a degree of its own in %s", x)
	}
	return y
}

// lift is a constant as one of another degree: divided by c it may be anything, if it
// is not 0.
func (k *scaling) lift(m measured, degree int) p.Expression {
	switch n, number := m.x.(p.Number); {
	case m.degree == degree && !m.constant, degree == 0 && m.constant:
	case number && n.Value.Sign() == 0:
	case m.constant:
		name := fmt.Sprintf("(%s)/%s^%d", m.x, k.unit.Name, degree)
		for _, v := range k.constants {
			if v.Name == name {
				return p.Ref{Var: v}
			}
		}
		v := &p.Variable{Name: name, Sort: p.Real, Input: true}
		k.constants, k.partial = append(k.constants, v), true
		k.originals[v] = m.x
		k.degrees[v] = degree
		return p.Ref{Var: v}
	default:
		k.failed("%s is of degree %d in %s, where %d is needed", m.x, m.degree, k.unit.Name, degree)
	}
	return m.x
}

// same are two expressions that meet, of one degree.
func (k *scaling) same(x, y p.Expression) (a, b p.Expression, degree int, constant bool) {
	m := k.of(x)
	n := k.of(y)
	degree = m.degree
	if m.constant {
		degree = n.degree
	}
	return k.lift(m, degree), k.lift(n, degree), degree, m.constant && n.constant
}

// of is x in units, and its degree.
func (k *scaling) of(x p.Expression) measured {
	switch x := x.(type) {
	case p.Number:
		return measured{x, 0, true}
	case p.Ref:
		if x.Var == k.unit {
			return measured{p.Number{Value: rational(1), Sort: x.Var.Sort}, 1, false}
		}
		return measured{p.Ref{Var: k.variable(x.Var)}, k.degrees[x.Var], false}
	case p.Element:
		return measured{p.Element{Slice: k.variable(x.Slice), Index: k.to(x.Index, 0)}, k.degrees[x.Slice], false}
	case p.Length:
		return measured{p.Length{Slice: k.variable(x.Slice)}, 0, false}
	case p.Unary:
		m := k.of(x.X)
		m.x = p.Unary{Op: x.Op, X: m.x}
		return m
	case p.Diff:
		m := k.of(x.X)
		m.x = p.Diff{X: m.x}
		return m
	case p.If3:
		a, b, d, constant := k.same(x.Then, x.Else)
		return measured{p.If3{Cond: k.to(x.Cond, 0), Then: a, Else: b}, d, constant}
	case p.Binary:
		return k.binary(x)
	case p.Call:
		return k.call(x)
	}
	return measured{x, 0, false}
}

func (k *scaling) binary(x p.Binary) measured {
	switch x.Op {
	case p.Mul, p.Quo:
		m := k.of(x.X)
		n := k.of(x.Y)
		sign := 1
		if x.Op == p.Quo {
			sign = -1
			if p.SortOf(x) == p.Int && (m.degree != 0 || n.degree != 0) {
				k.failed("%s is rounded", x)
			}
		}
		return measured{p.Binary{Op: x.Op, X: m.x, Y: n.x}, m.degree + sign*n.degree, m.constant && n.constant}
	case p.Rem, p.And, p.Or:
		return measured{p.Binary{Op: x.Op, X: k.to(x.X, 0), Y: k.to(x.Y, 0)}, 0, false}
	}
	a, b, d, constant := k.same(x.X, x.Y)
	y := measured{p.Binary{Op: x.Op, X: a, Y: b}, d, constant}
	switch x.Op {
	case p.Eq, p.Ne, p.Lt, p.Le, p.Gt, p.Ge:
		y.degree, y.constant = 0, false
	}
	return y
}

func (k *scaling) call(x p.Call) measured {
	if sameDegree(x) {
		m := k.of(x.Args[0])
		if n, ok := m.x.(p.Number); ok && x.Func == "real" {
			m.x = p.Number{Value: n.Value, Sort: p.Real}
			return m
		}
		m.x = p.Call{Func: x.Func, Args: []p.Expression{m.x}}
		return m
	}
	y := p.Call{Func: x.Func}
	for _, a := range x.Args {
		y.Args = append(y.Args, k.to(a, 0))
	}
	return measured{y, 0, false}
}

// isWhole reports whether an expression is a whole number by its form.
func isWhole(x p.Expression) bool {
	switch x := x.(type) {
	case p.Number:
		return x.Value.IsInt()
	case p.Ref, p.Element:
		return p.SortOf(x) == p.Int
	case p.Length:
		return true
	case p.Unary:
		return isWhole(x.X)
	case p.Diff:
		return isWhole(x.X)
	case p.If3:
		return isWhole(x.Then) && isWhole(x.Else)
	case p.Binary:
		switch x.Op {
		case p.Add, p.Sub, p.Mul, p.Min, p.Max:
			return isWhole(x.X) && isWhole(x.Y)
		}
	case p.Call:
		return sameDegree(x) && isWhole(x.Args[0])
	}
	return false
}

// degreeOf is the degree of an expression in units: the greatest of its parts that
// meet.
func (k *scaling) degreeOf(x p.Expression) int {
	switch x := x.(type) {
	case p.Ref:
		return k.degrees[x.Var]
	case p.Element:
		return k.degrees[x.Slice]
	case p.Unary:
		return k.degreeOf(x.X)
	case p.Diff:
		return k.degreeOf(x.X)
	case p.If3:
		return max(k.degreeOf(x.Then), k.degreeOf(x.Else))
	case p.Call:
		if sameDegree(x) {
			return k.degreeOf(x.Args[0])
		}
	case p.Binary:
		switch x.Op {
		case p.Add, p.Sub, p.Min, p.Max:
			return max(k.degreeOf(x.X), k.degreeOf(x.Y))
		case p.Mul:
			return k.degreeOf(x.X) + k.degreeOf(x.Y)
		case p.Quo:
			return k.degreeOf(x.X) - k.degreeOf(x.Y)
		}
	}
	return 0
}
