package rewrite

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// An enclosure is an interval expression; exact ones have equal ends.
type enclosure struct {
	ends
	exact bool
}

// An encloser encloses expressions, given enclosures of their columns. step puts ends where they are read several times.
type encloser struct {
	column func(*plan.Ref) (ends, bool)
	step   func(ends) ends
}

// endsOf encloses e: interval arithmetic as expressions. ok is false where no rule applies. Ends that the arithmetic
// makes unknown (division by an interval around zero) are NULL.
func (x encloser) endsOf(e plan.Expr) (enclosure, bool) {
	switch e := e.(type) {
	case *plan.Ref:
		at, exact := x.column(e)
		return enclosure{at, exact}, true
	case *plan.Literal:
		return enclosure{ends{e, e}, true}, true
	case *plan.Cast:
		a, ok := x.endsOf(e.Arg)
		if !ok || !a.exact && !(e.T.IsNumeric() && e.Arg.Type().IsNumeric()) {
			return enclosure{}, ok && a.exact
		}
		return monotone(a, func(x plan.Expr) plan.Expr { return &plan.Cast{Arg: x, T: e.T} }), true
	case *plan.Call:
		args := make([]enclosure, len(e.Args))
		exact := true
		for i, arg := range e.Args {
			var ok bool
			if args[i], ok = x.endsOf(arg); !ok {
				return enclosure{}, false
			}
			exact = exact && args[i].exact
		}
		if exact {
			return enclosure{ends{e, e}, true}, true
		}
		if repeats(e.Function, args) {
			for i, a := range args {
				if !a.exact && (longer(a.lower, maxStep) || longer(a.upper, maxStep)) {
					args[i].ends = x.step(a.ends)
				}
			}
		}
		at, ok := callEnds(e, args)
		if !ok || longer(at.lower, maxEnd) || longer(at.upper, maxEnd) {
			return enclosure{}, false
		}
		return at, true
	case *plan.Case:
		exact := true
		plan.Walk(e, func(part plan.Expr) bool {
			if ref, ok := part.(*plan.Ref); ok {
				_, same := x.column(ref)
				exact = exact && same
			}
			return true
		})
		if exact {
			return enclosure{ends{e, e}, true}, true
		}
		return x.caseEnds(e)
	}
	return enclosure{}, false
}

// caseEnds encloses a CASE whose conditions no noise decides: without noise the same branch is taken.
func (x encloser) caseEnds(e *plan.Case) (enclosure, bool) {
	lower, upper := *e, *e
	lower.Whens, upper.Whens = nil, nil
	for _, w := range e.Whens {
		if c, ok := x.endsOf(w.Condition); !ok || !c.exact {
			return enclosure{}, false
		}
		at, ok := x.endsOf(w.Result)
		if !ok {
			return enclosure{}, false
		}
		lower.Whens = append(lower.Whens, plan.When{Condition: w.Condition, Result: at.lower})
		upper.Whens = append(upper.Whens, plan.When{Condition: w.Condition, Result: at.upper})
	}
	if e.Else != nil {
		at, ok := x.endsOf(e.Else)
		if !ok {
			return enclosure{}, false
		}
		lower.Else, upper.Else = at.lower, at.upper
	}
	if longer(&lower, maxEnd) || longer(&upper, maxEnd) {
		return enclosure{}, false
	}
	return enclosure{ends: ends{&lower, &upper}}, true
}

// maxEnd bounds the size of an end. A rule may use the ends of its arguments
// several times, so that ends can grow exponentially in the length of the
// statement: those of a product of ten factors would fill the memory, where they have no columns of their own (steps).
const maxEnd = 10_000

// longer reports whether e has more than so many nodes, looking at few more.
func longer(e plan.Expr, most int) bool {
	n := 0
	plan.Walk(e, func(plan.Expr) bool {
		n++
		return n <= most
	})
	return n > most
}

// repeats reports whether the rule of a function uses the ends of its arguments several times.
func repeats(f plan.Function, args []enclosure) bool {
	switch f {
	case plan.Multiply, plan.Divide:
		sign, ok := constantSign(args[1])
		return !ok || sign == 0
	case plan.Abs, plan.Greatest, plan.Least:
		return true
	}
	return false
}

func monotone(a enclosure, f func(plan.Expr) plan.Expr) enclosure {
	return enclosure{ends{f(a.lower), f(a.upper)}, a.exact}
}

func callEnds(e *plan.Call, args []enclosure) (enclosure, bool) {
	binary := func(x, y plan.Expr) plan.Expr { return call(e.Function, e.T, x, y) }
	switch e.Function {
	case plan.Add:
		return enclosure{ends: ends{binary(args[0].lower, args[1].lower), binary(args[0].upper, args[1].upper)}}, true
	case plan.Subtract:
		return enclosure{ends: ends{binary(args[0].lower, args[1].upper), binary(args[0].upper, args[1].lower)}}, true
	case plan.Negate:
		return enclosure{ends: ends{call(plan.Negate, e.T, args[0].upper), call(plan.Negate, e.T, args[0].lower)}}, true
	case plan.Multiply:
		return corners(e.T, args, binary), true
	case plan.Divide:
		quotient := corners(e.T, args, binary)
		if sign, ok := constantSign(args[1]); ok && sign != 0 {
			return quotient, true
		}
		zero := zeroOf(args[1].lower.Type())
		apart := call(plan.Or, boolean,
			call(plan.Greater, boolean, args[1].lower, zero),
			call(plan.Less, boolean, args[1].upper, zero))
		return enclosure{ends: ends{when(apart, quotient.lower), when(apart, quotient.upper)}}, true
	case plan.Round, plan.Trunc:
		if len(args) == 2 && !args[1].exact {
			return enclosure{}, false
		}
		fallthrough
	case plan.Floor, plan.Ceil, plan.Sqrt, plan.Exp, plan.Ln, plan.Log10:
		rest := e.Args[1:]
		return monotone(args[0], func(x plan.Expr) plan.Expr {
			return call(e.Function, e.T, append([]plan.Expr{x}, rest...)...)
		}), true
	case plan.Greatest, plan.Least:
		var lower, upper []plan.Expr
		for _, a := range args {
			lower, upper = append(lower, a.lower), append(upper, a.upper)
		}
		return enclosure{ends: ends{strict(e.Function, e.T, lower...), strict(e.Function, e.T, upper...)}}, true
	case plan.Coalesce:
		// Where both ends of a value are known, neither it nor what it is without noise is NULL.
		at := args[len(args)-1]
		for i := len(args) - 2; i >= 0; i-- {
			if a := args[i]; a.exact {
				lower, upper := at.lower, at.upper
				at = enclosure{ends: ends{call(plan.Coalesce, e.T, a.lower, lower), call(plan.Coalesce, e.T, a.lower, upper)}}
			} else {
				at = a
			}
		}
		return at, true
	case plan.Abs:
		// |[l,u]| = [max(l, −u, 0), max(−l, u)]
		neg := func(x plan.Expr) plan.Expr { return call(plan.Negate, e.T, x) }
		a := args[0]
		return enclosure{ends: ends{
			strict(plan.Greatest, e.T, a.lower, neg(a.upper), zeroOf(e.T)),
			strict(plan.Greatest, e.T, neg(a.lower), a.upper)}}, true
	}
	return enclosure{}, false
}

// corners encloses a monotone-in-each-argument operation by its values at the
// corners, fewer where a constant's sign is known.
func corners(t sqltype.Type, args []enclosure, f func(x, y plan.Expr) plan.Expr) enclosure {
	a, b := args[0], args[1]
	if sign, ok := constantSign(b); ok && sign != 0 {
		if sign > 0 {
			return enclosure{ends: ends{f(a.lower, b.lower), f(a.upper, b.lower)}}
		}
		return enclosure{ends: ends{f(a.upper, b.lower), f(a.lower, b.lower)}}
	}
	at := []plan.Expr{f(a.lower, b.lower)}
	if !b.exact {
		at = append(at, f(a.lower, b.upper))
	}
	if !a.exact {
		at = append(at, f(a.upper, b.lower))
	}
	if !a.exact && !b.exact {
		at = append(at, f(a.upper, b.upper))
	}
	return enclosure{ends: ends{strict(plan.Least, t, at...), strict(plan.Greatest, t, at...)}}
}

// strict is least or greatest that is NULL if any argument is: an unknown end
// must not be passed over, as SQL's functions do.
func strict(f plan.Function, t sqltype.Type, args ...plan.Expr) plan.Expr {
	var missing []plan.Expr
	for _, a := range args {
		if _, constant := a.(*plan.Literal); !constant {
			missing = append(missing, call(plan.IsNull, boolean, a))
		}
	}
	return when(call(plan.Not, boolean, anyOf(missing)), call(f, t, args...))
}

func constantSign(e enclosure) (int, bool) {
	expr := e.lower
	for {
		c, ok := expr.(*plan.Cast)
		if !ok {
			break
		}
		expr = c.Arg
	}
	l, ok := expr.(*plan.Literal)
	if !ok {
		return 0, false
	}
	switch v := l.Value.(type) {
	case int64:
		return big.NewInt(v).Sign(), true
	case float64:
		return big.NewFloat(v).Sign(), true
	case sqltype.Decimal:
		return v.Unscaled.Sign(), true
	}
	return 0, false
}

func zeroOf(t sqltype.Type) plan.Expr {
	v, err := sqltype.ParseValue(t, "0")
	if err != nil {
		panic("rewrite: no zero of type " + t.String())
	}
	return &plan.Literal{Value: v, T: t}
}
