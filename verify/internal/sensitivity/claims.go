package sensitivity

import (
	"fmt"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A reader reads what claims are made of.
type reader struct {
	*facts
	// symbol gives the meaning of names that are not parameters of the function analysed.
	symbol func(string) (Expr, bool)
	// given says that what is read is a condition that holds. Else it has to be shown to be a
	// number: of one that is none, as 0/0 and the root of -1, anything could be proved.
	given bool
}

// reading reads what is claimed where facts hold.
func (f *facts) reading(symbol func(string) (Expr, bool)) reader {
	return reader{facts: f, symbol: symbol}
}

// expression reads an expression of a claim.
func (f reader) expression(e program.Expression) (Expr, error) {
	two := func(x, y program.Expression) (Expr, Expr, error) {
		u, err := f.expression(x)
		if err != nil {
			return Expr{}, Expr{}, err
		}
		v, err := f.expression(y)
		return u, v, err
	}
	switch e := e.(type) {
	case nil:
		return Expr{}, nil
	case program.Number:
		return rat(e.Value), nil
	case program.Ref:
		return name(e.Var.Name, f.symbol)
	case program.Length:
		return name("len("+e.Slice.Name+")", f.symbol)
	case program.Unary:
		x, err := f.expression(e.X)
		if e.Op != program.Sub {
			return Expr{}, fmt.Errorf("the operator %s in %s", e.Op, e)
		}
		return x.neg(), err
	case program.Binary:
		x, y, err := two(e.X, e.Y)
		if err != nil {
			return Expr{}, err
		}
		switch e.Op {
		case program.Add:
			return x.add(y), nil
		case program.Sub:
			return x.sub(y), nil
		case program.Mul:
			return x.mul(y), nil
		case program.Quo:
			inverse, ok := y.inverse()
			if !ok {
				return Expr{}, fmt.Errorf("a division by zero in %s", e)
			}
			if !f.given && !f.isPositive(y) && !f.isPositive(y.neg()) {
				return Expr{}, fmt.Errorf("a division by what may be zero in %s", e)
			}
			if whole(e.X) && whole(e.Y) {
				return Expr{}, fmt.Errorf("a division of integers in %s", e)
			}
			return x.mul(inverse), nil
		case program.Min:
			return f.min(x, y), nil
		case program.Max:
			return f.max(x, y), nil
		}
		return Expr{}, fmt.Errorf("the operator %s in %s", e.Op, e)
	case program.Call:
		var args []Expr
		for _, arg := range e.Args {
			x, err := f.expression(arg)
			if err != nil {
				return Expr{}, err
			}
			args = append(args, x)
		}
		switch e.Func {
		case "abs":
			return f.abs(args[0]), nil
		case "exp":
			return args[0].exp(), nil
		case "log":
			if !f.given && !f.isPositive(args[0]) {
				return Expr{}, fmt.Errorf("the logarithm of what may not be positive in %s", e)
			}
			return args[0].log(), nil
		case "sqrt":
			if !f.given && !f.isNonneg(args[0]) {
				return Expr{}, fmt.Errorf("the root of what may be negative in %s", e)
			}
			return f.root(args[0]), nil
		case "real":
			return args[0], nil
		case "pow":
			if n, ok := args[1].number(); ok && n.IsInt() && n.Num().IsInt64() && n.Num().Int64() >= 0 && n.Num().Int64() < 16 {
				product := one()
				for range n.Num().Int64() {
					product = product.mul(args[0])
				}
				return product, nil
			}
		}
		return Expr{}, fmt.Errorf("the function %s in %s", e.Func, e)
	}
	return Expr{}, fmt.Errorf("%s in a claim", e)
}

func name(n string, symbol func(string) (Expr, bool)) (Expr, error) {
	if symbol == nil {
		return named(n), nil
	}
	x, ok := symbol(n)
	if !ok {
		return Expr{}, fmt.Errorf("%s is not public", n)
	}
	return x, nil
}

// whole reports whether Go would divide the expression as an integer.
func whole(e program.Expression) bool {
	switch e := e.(type) {
	case program.Number:
		return e.Sort == program.Int
	case program.Ref:
		return e.Var.Sort == program.Int
	case program.Length:
		return true
	case program.Unary:
		return whole(e.X)
	case program.Binary:
		return whole(e.X) && whole(e.Y)
	}
	return false
}

// A condition is e >= 0, or e > 0.
type condition struct {
	e      Expr
	strict bool
}

// conditions reads what a claim requires.
func (f reader) conditions(e program.Expression) ([]condition, error) {
	b, ok := e.(program.Binary)
	if !ok {
		return nil, fmt.Errorf("%s is no comparison", e)
	}
	if b.Op == program.And {
		x, err := f.conditions(b.X)
		if err != nil {
			return nil, err
		}
		y, err := f.conditions(b.Y)
		return append(x, y...), err
	}
	x, err := f.expression(b.X)
	if err != nil {
		return nil, err
	}
	y, err := f.expression(b.Y)
	if err != nil {
		return nil, err
	}
	switch b.Op {
	case program.Lt:
		return []condition{{y.sub(x), true}}, nil
	case program.Le:
		return []condition{{y.sub(x), false}}, nil
	case program.Gt:
		return []condition{{x.sub(y), true}}, nil
	case program.Ge:
		return []condition{{x.sub(y), false}}, nil
	case program.Eq:
		return []condition{{x.sub(y), false}, {y.sub(x), false}}, nil
	}
	return nil, fmt.Errorf("the operator %s in %s", b.Op, e)
}

// understood are the parts of a condition that are read; what is not is not used.
func (f *facts) understood(e program.Expression) []condition {
	if b, ok := e.(program.Binary); ok && b.Op == program.And {
		return append(f.understood(b.X), f.understood(b.Y)...)
	}
	all, err := reader{facts: f, given: true}.conditions(e)
	if err != nil {
		return nil
	}
	return all
}

// require adds conditions to what is known. Integers above a number are at least the
// next one.
func (f *facts) require(cs []condition, whole func(Expr) bool) {
	for _, c := range cs {
		if c.strict && whole(c.e) {
			c = condition{c.e.sub(one()), false}
			f.positive = append(f.positive, c.e.add(one()))
		}
		if c.strict {
			f.positive = append(f.positive, c.e)
		} else {
			f.nonneg = append(f.nonneg, c.e)
		}
	}
}
