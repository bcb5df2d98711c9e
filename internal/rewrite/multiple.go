package rewrite

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// multiple is how often an expression counts the noisy number that it is made of, beside what is exact: 0 of what is exact alone, nil where it is made in another way.
// Of several noisy numbers it means nothing.
func multiple(e plan.Expr, cols []carried) *big.Rat {
	exact := true
	plan.Walk(e, func(e plan.Expr) bool {
		if ref, ok := e.(*plan.Ref); ok {
			exact = exact && !cols[ref.Index].dependsOnNoise()
		}
		return exact
	})
	if exact {
		return new(big.Rat)
	}
	switch e := e.(type) {
	case *plan.Ref:
		return cols[e.Index].times
	case *plan.Cast:
		if widens(e) {
			return multiple(e.Arg, cols)
		}
	case *plan.Call:
		switch e.Function {
		case plan.Negate:
			return product(multiple(e.Args[0], cols), big.NewRat(-1, 1))
		case plan.Add, plan.Subtract:
			a, b := multiple(e.Args[0], cols), multiple(e.Args[1], cols)
			if e.Function == plan.Subtract {
				b = product(b, big.NewRat(-1, 1))
			}
			if a != nil && b != nil {
				return new(big.Rat).Add(a, b)
			}
		case plan.Multiply:
			if by := number(e.Args[0]); by != nil {
				return product(multiple(e.Args[1], cols), by)
			}
			return product(multiple(e.Args[0], cols), number(e.Args[1]))
		case plan.Divide:
			if by := number(e.Args[1]); by != nil && by.Sign() != 0 && !e.T.IsInteger() {
				return product(multiple(e.Args[0], cols), new(big.Rat).Inv(by))
			}
		}
	}
	return nil
}

func product(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	return new(big.Rat).Mul(a, b)
}

// widens reports whether a conversion leaves numbers as they are, but for the last digits of doubles.
func widens(c *plan.Cast) bool {
	from := c.Arg.Type()
	return c.T.IsFloat() || c.T.IsNumeric() && (from.IsInteger() || from.Kind == sqltype.DecimalKind && c.T.Kind == sqltype.DecimalKind && from.Scale <= c.T.Scale)
}

// number is a constant, or nil.
func number(e plan.Expr) *big.Rat {
	if c, ok := e.(*plan.Cast); ok && widens(c) {
		e = c.Arg
	}
	if l, ok := e.(*plan.Literal); ok {
		if x, ok := sqltype.Rat(l.Value); ok {
			return x
		}
	}
	return nil
}
