package render

import (
	"fmt"
	"math"
	"strconv"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

func (d postgres) arithmetic(s scope, e *plan.Call) (string, bool) {
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

// integers computes in a type in which nothing overflows: bigint for the smaller types,
// numeric for bigint.
func (d postgres) integers(s scope, e *plan.Call) (string, bool) {
	wide, narrow, quotient := "BIGINT", d.integer, "%s / %s"
	if e.T.Kind == sqltype.Bigint {
		wide, narrow, quotient = "NUMERIC", d.narrow, "div(%s, %s)"
	}
	arg := func(i int) string { return fmt.Sprintf("CAST(%s AS %s)", s.expr(e.Args[i]), wide) }
	switch e.Function {
	case plan.Add, plan.Subtract, plan.Multiply:
		return narrow(s, fmt.Sprintf("%s %s %s", arg(0), e.Function, arg(1)), e.T), true
	case plan.Divide, plan.Modulo:
		if e.Function == plan.Modulo {
			quotient = "mod(%s, %s)"
		}
		return s.once(arg(1), func(y string) string {
			return narrow(s, fmt.Sprintf("CASE WHEN %s <> 0 THEN "+quotient+" END", y, arg(0), y), e.T)
		}), true
	case plan.Negate:
		return narrow(s, fmt.Sprintf("-(%s)", arg(0)), e.T), true
	case plan.Abs:
		return narrow(s, fmt.Sprintf("abs(%s)", arg(0)), e.T), true
	}
	return "", false
}

// decimals computes in numeric, where nothing overflows.
func (d postgres) decimals(s scope, e *plan.Call) (string, bool) {
	var out string
	x := func() string { return s.expr(e.Args[0]) }
	switch e.Function {
	case plan.Add, plan.Subtract, plan.Multiply:
		out = fmt.Sprintf("%s %s %s", x(), e.Function, s.expr(e.Args[1]))
	case plan.Modulo:
		out = s.once(s.expr(e.Args[1]), func(y string) string { return fmt.Sprintf("CASE WHEN %s <> 0 THEN mod(%s, %s) END", y, x(), y) })
	case plan.Negate:
		out = fmt.Sprintf("-(%s)", x())
	case plan.Abs, plan.Sign, plan.Floor, plan.Ceil:
		out = fmt.Sprintf("%s(%s)", e.Function, x())
	case plan.Round, plan.Trunc:
		digits := int64(0)
		if len(e.Args) == 2 {
			digits = max(-100, min(100, e.Args[1].(*plan.Literal).Value.(int64)))
		}
		out = fmt.Sprintf("%s(%s, %d)", e.Function, x(), digits)
	default:
		return "", false
	}
	return d.narrow(s, out, e.T), true
}

// double prints a constant.
func double(f float64) string {
	return fmt.Sprintf("CAST('%s' AS DOUBLE PRECISION)", strconv.FormatFloat(f, 'g', -1, 64))
}

// floats computes in double precision, of which PostgreSQL raises where a result overflows,
// and where one that is not zero becomes zero. Overflow is NULL here, underflow zero. Results
// of type real are rounded from double, which gives what single precision would: 53 bits are
// more than twice 24 and two (S. A. Figueroa, When is double rounding innocuous?, 1995).
func (d postgres) floats(s scope, e *plan.Call) (string, bool) {
	arg := func(i int) string {
		x, _ := s.raw(e.Args[i])
		if e.Args[i].Type().Kind != sqltype.Double {
			return s.double(x)
		}
		return x
	}
	out := ""
	switch e.Function {
	case plan.Add, plan.Subtract:
		out = s.plus(arg(0), string(e.Function), arg(1))
	case plan.Multiply:
		out = s.times(arg(0), arg(1))
	case plan.Divide:
		out = s.quotient(arg(0), arg(1))
	case plan.Negate:
		out = fmt.Sprintf("(-(%s))", arg(0))
	case plan.Abs, plan.Trunc, plan.Floor, plan.Ceil, plan.Sign, plan.Round: // round is half to even
		out = fmt.Sprintf("%s(%s)", e.Function, arg(0))
	case plan.Ln, plan.Log10, plan.Sqrt:
		domain := "> 0"
		if e.Function == plan.Sqrt {
			domain = ">= 0"
		}
		out = s.once(arg(0), func(x string) string { return fmt.Sprintf("CASE WHEN %s %s THEN %s(%s) END", x, domain, e.Function, x) })
	case plan.Exp:
		out = s.once(arg(0), func(x string) string {
			return fmt.Sprintf("CASE WHEN %s < -745 THEN %s WHEN %s < 709.78 THEN exp(%s) END", x, double(0), x, x)
		})
	case plan.Power:
		out = s.once2(arg(0), arg(1), power)
	default:
		return "", false
	}
	if e.T.Kind == sqltype.Real {
		out = s.single(out)
	}
	return out, true
}

// single rounds a double to single precision.
func (s scope) single(x string) string {
	const beyond, least = 3.4028235677973366e38, 0x1p-150 // what rounds to infinity, and to zero
	return s.once(x, func(x string) string {
		return fmt.Sprintf("CASE WHEN abs(%s) <= %s THEN CAST(0 AS REAL) WHEN abs(%s) < %s THEN CAST(%s AS REAL) END", x, double(least), x, double(beyond), x)
	})
}

// plus adds or subtracts. Below 2^1023 nothing overflows; nor where one is too small to move
// the greatest double. Else the sum of the halves, which is exactly half the sum, tells.
func (s scope) plus(x, op, y string) string {
	return s.once2(x, y, func(x, y string) string {
		top, small := double(0x1p1023), double(1e290)
		return fmt.Sprintf("CASE WHEN abs(%[1]s) < %[4]s AND abs(%[2]s) < %[4]s THEN %[1]s %[3]s %[2]s WHEN abs(%[1]s) < %[5]s OR abs(%[2]s) < %[5]s THEN %[1]s %[3]s %[2]s "+
			"WHEN abs(%[1]s * 0.5 %[3]s %[2]s * 0.5) < %[4]s THEN %[1]s %[3]s %[2]s END", x, y, op, top, small)
	})
}

// times multiplies. Of two factors below 1, of which one is below 2^-500, the product becomes
// zero unless it is above 2^-1075, which is seen at the product times 2^1075. Of two factors
// above 1 it overflows unless one is below the quotient of the greatest double by the other;
// "below" leaves room for the quotient's rounding.
func (s scope) times(x, y string) string {
	return s.once2(x, y, func(x, y string) string {
		return fmt.Sprintf("CASE WHEN abs(%[1]s) < 1 AND abs(%[2]s) < 1 THEN CASE WHEN abs(%[1]s) >= %[3]s AND abs(%[2]s) >= %[3]s THEN %[1]s * %[2]s "+
			"WHEN (abs(%[1]s) * %[4]s) * (abs(%[2]s) * %[5]s) > 1 THEN %[1]s * %[2]s ELSE %[7]s END "+
			"WHEN abs(%[1]s) <= 1 OR abs(%[2]s) <= 1 THEN %[1]s * %[2]s WHEN abs(%[2]s) < %[6]s / abs(%[1]s) THEN %[1]s * %[2]s END",
			x, y, double(0x1p-500), double(0x1p537), double(0x1p538), double(math.MaxFloat64), double(0))
	})
}

// quotient divides, likewise.
func (s scope) quotient(x, y string) string {
	return s.once2(x, y, func(x, y string) string {
		return fmt.Sprintf("CASE WHEN %[2]s = 0 THEN NULL WHEN abs(%[2]s) < 1 THEN CASE WHEN abs(%[1]s) < %[3]s * abs(%[2]s) THEN %[1]s / %[2]s END "+
			"WHEN abs(%[1]s) >= 1 OR %[1]s = 0 THEN %[1]s / %[2]s WHEN abs(%[1]s) * %[4]s > abs(%[2]s) * %[5]s THEN %[1]s / %[2]s "+
			"WHEN abs(%[1]s) < 1 AND abs(%[2]s) >= 1 THEN %[6]s END",
			x, y, double(math.MaxFloat64), double(0x1p537), double(0x1p-538), double(0))
	})
}

// power tells by y·ln|x| whether the result is in range. Where PostgreSQL raises it is NULL.
func power(x, y string) string {
	t := fmt.Sprintf("%s * ln(abs(%s))", y, x)
	return fmt.Sprintf("CASE WHEN %[1]s IS NULL OR %[2]s IS NULL THEN NULL WHEN %[2]s = 0 THEN %[4]s WHEN %[1]s = 0 THEN CASE WHEN %[2]s > 0 THEN %[5]s END WHEN %[1]s < 0 AND %[2]s <> floor(%[2]s) THEN NULL "+
		"WHEN abs(%[2]s) < %[6]s OR %[1]s = 1 THEN %[4]s WHEN abs(%[2]s) > %[7]s THEN CASE WHEN abs(%[1]s) = 1 THEN %[4]s WHEN (abs(%[1]s) < 1) = (%[2]s > 0) THEN %[5]s END "+
		"WHEN %[3]s < -745 THEN %[5]s WHEN %[3]s < 709.78 THEN power(%[1]s, %[2]s) END",
		x, y, t, double(1), double(0), double(1e-290), double(1e290))
}

// widthBucket numbers the buckets 1 to count, 0 below and count+1 above.
func (d postgres) widthBucket(s scope, e *plan.Call) string {
	low, high := e.Args[1].(*plan.Literal), e.Args[2].(*plan.Literal)
	count := e.Args[3].(*plan.Literal).Value.(int64)
	if low.T.Kind == sqltype.DecimalKind { // PostgreSQL's is exact
		return fmt.Sprintf("width_bucket(%s, %s, %s, %d)", s.expr(e.Args[0]), s.expr(low), s.expr(high), count)
	}
	less, atLeast := "<", ">="
	lo, hi := low.Value.(float64), high.Value.(float64)
	if lo > hi { // the buckets descend
		less, atLeast = ">", "<="
	}
	return s.once(s.expr(e.Args[0]), func(x string) string {
		above, width := s.plus(x, "-", double(lo)), hi-lo
		if math.IsInf(width, 0) {
			above, width = s.plus(s.times(x, double(0.5)), "-", double(lo/2)), hi/2-lo/2
		}
		return fmt.Sprintf("CASE WHEN %s %s %s THEN 0 WHEN %s %s %s THEN %d WHEN %s IS NOT NULL THEN CAST(1 + least(CAST(floor(%d * %s) AS BIGINT), %d) AS INTEGER) END",
			x, less, double(lo), x, atLeast, double(hi), count+1, x, count, s.quotient(above, double(width)), count-1)
	})
}

// fixed prints plan.Fixed, rounded half away from zero. The product cannot overflow, since
// the clamped value's does not; where the grid is coarser than 1, what is below 1 is zero.
func (d postgres) fixed(s scope, e *plan.Call) string {
	if product, round, ok := d.scaled(s, e); ok {
		return s.once(product, round)
	}
	clamped := s.clamped(e)
	if e.Args[0].Type().IsInteger() {
		return fmt.Sprintf("CAST(%s AS BIGINT)", clamped)
	}
	return fmt.Sprintf("CAST((%s) * %d AS BIGINT)", clamped, e.Args[3].(*plan.Literal).Value)
}

// scaled prints the product of plan.Fixed, and what rounds it, where they are doubles.
func (d postgres) scaled(s scope, e *plan.Call) (product string, round func(x string) string, ok bool) {
	if !e.Args[0].Type().IsFloat() {
		return "", nil, false
	}
	grid := e.Args[3].(*plan.Literal).Value.(float64)
	product = fmt.Sprintf("(%s * %s)", s.double(s.clamped(e)), double(grid))
	if grid < 1 {
		product = s.once(s.double(s.clamped(e)), func(x string) string {
			return fmt.Sprintf("CASE WHEN abs(%s) < 1 THEN %s ELSE %s * %s END", x, double(0), x, double(grid))
		})
	}
	return product, func(x string) string { return fmt.Sprintf("CAST(%s AS BIGINT)", awayFromZero(x)) }, true
}
