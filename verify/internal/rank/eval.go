package rank

import (
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// eval is what an expression is; it decides no condition that could be either.
func (m *machine) eval(x program.Expression, s *state) value {
	switch x := x.(type) {
	case program.Number, program.Truth:
		return public{x}
	case program.Ref:
		return m.variable(x.Var, s)
	case program.Length:
		return m.length(x, s)
	case program.Element:
		return m.element(x, s)
	case program.Unary:
		v := m.eval(x.X, s)
		if x.Op == program.Not {
			if p, ok := v.(public); ok {
				if t, ok := p.x.(program.Truth); ok {
					return public{!t}
				}
				return public{program.Unary{Op: program.Not, X: p.x}}
			}
			return m.combined("!", s, v)
		}
		return m.binary(program.Sub, public{number(0, program.SortOf(x))}, v, s)
	case program.Binary:
		v := m.eval(x.X, s)
		if x.Op == program.And || x.Op == program.Or {
			if p, ok := v.(public); ok && p.x == program.Expression(program.Truth(x.Op == program.Or)) {
				return v
			} else if ok && p.x == program.Expression(program.Truth(x.Op == program.And)) {
				return m.eval(x.Y, s)
			}
		}
		return m.binary(x.Op, v, m.eval(x.Y, s), s)
	case program.Call:
		var args []value
		var plain []program.Expression
		for _, a := range x.Args {
			v := m.eval(a, s)
			args = append(args, v)
			if p, ok := v.(public); ok {
				plain = append(plain, p.x)
			}
		}
		if len(plain) == len(args) {
			return public{program.Call{Func: x.Func, Args: plain}}
		}
		if v, ok := args[0].(sum); ok && x.Func == "real" {
			return v
		}
		return m.combined(x.Func, s, args...)
	case program.If3:
		if c, ok := m.eval(x.Cond, s).(public); ok {
			switch c.x {
			case program.Expression(program.Truth(true)):
				return m.eval(x.Then, s)
			case program.Expression(program.Truth(false)):
				return m.eval(x.Else, s)
			}
		}
	}
	return unknown{}
}

func (m *machine) variable(v *program.Variable, s *state) value {
	if x := m.held(v, s); x != nil {
		return x
	}
	switch {
	case !v.Input || v.Slice:
		return unknown{}
	case !m.private[v]:
		return public{program.Ref{Var: v}}
	case v.Sort == program.Bool:
		return unknown{}
	}
	return sum{{atom{of: v}, one}}
}

// combined is a function of values: known where all may be told, and after loops over the
// list.
func (m *machine) combined(op string, s *state, args ...value) value {
	if s.now != none {
		return unknown{}
	}
	out := shown{}
	var texts []string
	for _, a := range args {
		t, ok := m.show(a, s)
		if !ok {
			return unknown{}
		}
		texts = append(texts, t.as)
		out.need = max(out.need, t.need)
	}
	out.as = op + "(" + strings.Join(texts, ", ") + ")"
	return out
}

func (m *machine) binary(op program.Op, a, b value, s *state) value {
	x, ok1 := a.(public)
	y, ok2 := b.(public)
	if ok1 && ok2 {
		return public{folded(program.Binary{Op: op, X: x.x, Y: y.x})}
	}
	if t, known := m.compare(op, a, b, s); known {
		return public{program.Truth(t)}
	}
	v, ok1 := sumOf(a)
	w, ok2 := sumOf(b)
	if ok1 && ok2 {
		switch op {
		case program.Add:
			return v.plus(w, one)
		case program.Sub:
			return v.plus(w, minusOne)
		case program.Mul, program.Quo:
			if k, ok := factor(b); ok && op == program.Mul {
				return sum{}.plus(v, k)
			} else if ok && k.Sign() != 0 && y.x.(program.Number).Sort == program.Real {
				return sum{}.plus(v, new(big.Rat).Inv(k))
			}
			if k, ok := factor(a); ok && op == program.Mul {
				return sum{}.plus(w, k)
			}
		case program.Min, program.Max:
			if above, known := m.compare(program.Ge, a, b, s); known {
				if above == (op == program.Max) {
					return a
				}
				return b
			} else if above, known := m.compare(program.Le, a, b, s); known {
				if above == (op == program.Min) {
					return a
				}
				return b
			}
		}
	}
	return m.combined(string(op), s, a, b)
}

func factor(v value) (*big.Rat, bool) {
	p, ok := v.(public)
	if !ok {
		return nil, false
	}
	n, ok := p.x.(program.Number)
	return n.Value, ok
}

// folded computes sums, differences, products and comparisons of constants.
func folded(b program.Binary) program.Expression {
	if x, ok := b.X.(program.Truth); ok {
		if y, ok := b.Y.(program.Truth); ok && (b.Op == program.Eq || b.Op == program.Ne) {
			return program.Truth((x == y) == (b.Op == program.Eq))
		}
		return b
	}
	x, ok1 := b.X.(program.Number)
	y, ok2 := b.Y.(program.Number)
	if !ok1 || !ok2 {
		return b
	}
	as := func(v *big.Rat) program.Expression { return program.Number{Value: v, Sort: program.SortOf(b)} }
	switch b.Op {
	case program.Add:
		return as(new(big.Rat).Add(x.Value, y.Value))
	case program.Sub:
		return as(new(big.Rat).Sub(x.Value, y.Value))
	case program.Mul:
		return as(new(big.Rat).Mul(x.Value, y.Value))
	}
	if t, ok := signOf(x.Value.Cmp(y.Value)).holds(b.Op); ok {
		return program.Truth(t)
	}
	return b
}
