package render

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

func (d trino) arithmetic(s scope, e *plan.Call) (string, bool) {
	switch {
	case e.Function == plan.WidthBucket:
		return d.widthBucket(s, e), true
	case e.T.IsInteger():
		return d.integers(s, e)
	case e.T.Kind == sqltype.DecimalKind:
		return d.decimals(s, e)
	case e.T.IsFloat():
		return d.floats(s, e)
	}
	return "", false
}

// integers computes in the result's type, in which an overflow raises; but the least number
// divided by −1 does not.
func (d trino) integers(s scope, e *plan.Call) (string, bool) {
	arg := func(i int) string {
		x := s.expr(e.Args[i])
		if e.Args[i].Type() == e.T {
			return x
		}
		return fmt.Sprintf("CAST(%s AS %s)", x, d.typeName(e.T))
	}
	switch e.Function {
	case plan.Add, plan.Subtract, plan.Multiply:
		return try(fmt.Sprintf("%s %s %s", arg(0), e.Function, arg(1))), true
	case plan.Divide, plan.Modulo:
		return s.once2(arg(0), arg(1), func(x, y string) string {
			if e.Function == plan.Modulo {
				return try(fmt.Sprintf("CASE WHEN %s = -1 THEN %s - %s ELSE %s %% %s END", y, x, x, x, y))
			}
			return try(fmt.Sprintf("CASE WHEN %s = -1 THEN -(%s) ELSE %s / %s END", y, x, x, y))
		}), true
	case plan.Negate:
		return try(fmt.Sprintf("-(%s)", arg(0))), true
	case plan.Abs:
		return try(fmt.Sprintf("abs(%s)", arg(0))), true
	}
	return "", false
}

// decimals computes exactly: what needs more than 38 digits raises.
func (d trino) decimals(s scope, e *plan.Call) (string, bool) {
	x := s.expr(e.Args[0])
	var out string
	switch e.Function {
	case plan.Add, plan.Subtract, plan.Multiply:
		out = fmt.Sprintf("%s %s %s", x, e.Function, s.expr(e.Args[1]))
	case plan.Modulo:
		out = fmt.Sprintf("%s %% %s", x, s.expr(e.Args[1]))
	case plan.Negate:
		out = fmt.Sprintf("-(%s)", x)
	case plan.Abs, plan.Sign:
		out = fmt.Sprintf("%s(%s)", e.Function, x)
	case plan.Floor, plan.Ceil: // they could carry into one more digit
		return d.narrow(s, try(fmt.Sprintf("%s(%s)", e.Function, x)), e.T), true
	case plan.Round, plan.Trunc:
		return d.cut(s, e, x), true
	default:
		return "", false
	}
	return d.narrow(s, try(out), e.T), true
}

// cut rounds half away from zero, or truncates, to digits after the point, or before it.
func (d trino) cut(s scope, e *plan.Call, x string) string {
	from, digits := e.Args[0].Type(), 0
	if len(e.Args) == 2 {
		digits = int(max(-100, min(100, e.Args[1].(*plan.Literal).Value.(int64))))
	}
	t := d.typeName(e.T)
	if e.Function == plan.Round && digits >= 0 || digits >= int(from.Scale) { // the cast rounds
		return d.narrow(s, x, e.T)
	}
	if digits < 0 && (-digits > int(from.Digits()) || -digits >= 38 || e.Function == plan.Trunc && -digits >= int(from.Digits())) {
		return s.once(x, func(x string) string { return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN CAST(0 AS %s) END", x, t) })
	}
	constant := func(unscaled *big.Int, scale int) string {
		v := sqltype.Decimal{Unscaled: unscaled, Scale: uint8(scale)}
		text, _ := d.literal(v, sqltype.DecimalOf(uint8(max(len(unscaled.String()), scale, 1)), uint8(scale))) // a decimal has a form
		return text
	}
	unit := constant(pow10(max(0, -digits)), max(0, digits))
	return s.once(x, func(x string) string {
		if e.Function == plan.Round {
			half := constant(new(big.Int).Div(pow10(-digits), big.NewInt(2)), 0)
			x = try(fmt.Sprintf("%s + CASE WHEN %s < 0 THEN -(%s) ELSE %s END", x, x, half, half))
		}
		return s.once(x, func(x string) string {
			return d.narrow(s, try(fmt.Sprintf("%s - %s %% %s", x, x, unit)), e.T)
		})
	})
}

// floats computes in IEEE arithmetic, which never raises.
func (d trino) floats(s scope, e *plan.Call) (string, bool) {
	raw := func(i int) string { x, _ := s.raw(e.Args[i]); return x }
	switch e.Function {
	case plan.Add, plan.Subtract, plan.Multiply:
		return fmt.Sprintf("(%s %s %s)", raw(0), e.Function, raw(1)), true
	case plan.Negate:
		return fmt.Sprintf("(-(%s))", raw(0)), true
	case plan.Abs, plan.Floor, plan.Ceil, plan.Ln, plan.Log10, plan.Sqrt:
		return fmt.Sprintf("%s(%s)", e.Function, raw(0)), true
	case plan.Trunc:
		return fmt.Sprintf("truncate(%s)", raw(0)), true
	case plan.Round: // half to even, by the part above the floor, which is exact
		return s.once(raw(0), func(x string) string {
			even := fmt.Sprintf("floor(%[1]s) - 2 * floor(floor(%[1]s) / 2) = 0", x)
			return fmt.Sprintf("CASE WHEN NOT is_finite(%[1]s) OR abs(%[1]s) >= 4503599627370496e0 THEN %[1]s WHEN %[1]s - floor(%[1]s) < 5e-1 OR %[1]s - floor(%[1]s) = 5e-1 AND %[2]s THEN floor(%[1]s) ELSE floor(%[1]s) + 1 END", x, even)
		}), true
	case plan.Sign, plan.Exp:
		return fmt.Sprintf("%s(%s)", e.Function, s.expr(e.Args[0])), true
	case plan.Power:
		return fmt.Sprintf("power(%s, %s)", s.expr(e.Args[0]), s.expr(e.Args[1])), true
	case plan.Divide:
		x := raw(0)
		return s.once(s.expr(e.Args[1]), func(y string) string { return fmt.Sprintf("CASE WHEN %s <> 0 THEN %s / %s END", y, x, y) }), true
	}
	return "", false
}

// widthBucket numbers the buckets 1 to count, 0 below and count+1 above: of decimals exactly.
func (d trino) widthBucket(s scope, e *plan.Call) string {
	low, high := e.Args[1].(*plan.Literal), e.Args[2].(*plan.Literal)
	count := e.Args[3].(*plan.Literal).Value.(int64)
	less, atLeast := "<", ">="
	if sqltype.Compare(low.Value, high.Value) > 0 { // the buckets descend
		less, atLeast = ">", "<="
	}
	lo, hi := s.expr(low), s.expr(high)
	bucket := func(x string) string { // PostgreSQL's formula. A quotient that rounds to 1.0 stays in the last bucket.
		half := "" // a factor, for a width that overflows
		if l, ok := low.Value.(float64); ok && math.IsInf(high.Value.(float64)-l, 0) {
			half = " / 2"
		}
		return fmt.Sprintf("least(TRY_CAST(floor(%d * ((%s%s - %s%s) / (%s%s - %s%s))) AS BIGINT), BIGINT '%d')", count, x, half, lo, half, hi, half, lo, half, count-1)
	}
	if low.T.Kind == sqltype.DecimalKind { // a quotient would be rounded
		bucket = func(x string) string {
			product := fmt.Sprintf("(%s - %s) * CAST(%d AS DECIMAL(10,0))", x, lo, count)
			width := fmt.Sprintf("(%s - %s)", hi, lo)
			return fmt.Sprintf("TRY_CAST(%s AS BIGINT)", try(fmt.Sprintf("(%[1]s - (%[1]s) %% %[2]s) / %[2]s", product, width)))
		}
	}
	return s.once(s.expr(e.Args[0]), func(x string) string {
		return fmt.Sprintf("CASE WHEN %s %s %s THEN 0 WHEN %s %s %s THEN %d WHEN %s IS NOT NULL THEN CAST(1 + %s AS INTEGER) END", x, less, lo, x, atLeast, hi, count+1, x, bucket(x))
	})
}

// fixed prints plan.Fixed, rounded half away from zero: the clamp comes before the scaling, and
// the product is below 2^62.
func (d trino) fixed(s scope, e *plan.Call) string {
	lo, hi, scale := e.Args[1].(*plan.Literal), e.Args[2].(*plan.Literal), e.Args[3].(*plan.Literal)
	t, clamped := e.Args[0].Type(), s.clamped(e)
	switch {
	case t.IsInteger():
		return fmt.Sprintf("CAST(%s AS BIGINT)", clamped)
	case t.Kind == sqltype.DecimalKind: // the clamped value needs no more digits than the bounds
		wide := max(digits(lo.Value), digits(hi.Value), t.Scale)
		n := scale.Value.(int64)
		return fmt.Sprintf("CAST(CAST(%s AS DECIMAL(%d,%d)) * CAST(%d AS DECIMAL(%d,0)) AS BIGINT)", clamped, wide, t.Scale, n, len(fmt.Sprint(n)))
	}
	// A cast of a double rounds half away from zero, exactly.
	return fmt.Sprintf("CAST((%s) * %s AS BIGINT)", clamped, s.expr(scale))
}
