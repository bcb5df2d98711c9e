package render

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// arithmetic prints numeric operators and functions. Results of a floating
// type may be infinite, NaN or −0: see raw.
func (duckDB) arithmetic(s scope, e *plan.Call) (string, bool) {
	switch {
	case e.Function == plan.WidthBucket:
		return s.widthBucket(e), true
	case e.T.IsInteger():
		return s.integers(e)
	case e.T.Kind == sqltype.DecimalKind:
		return s.decimals(e)
	case e.T.IsFloat():
		return s.floats(e)
	}
	return "", false
}

// wider returns the type in which arithmetic on t cannot overflow.
func wider(t sqltype.Type) string {
	if t.Kind == sqltype.Bigint {
		return "HUGEINT"
	}
	return "BIGINT"
}

// narrow casts an integer or a decimal to one of either kind that may not hold
// it, NULL for what doesn't fit. The | 0 and the TRY hide the cast from an
// optimization of DuckDB's, which compares TRY_CAST(x AS t) with a constant by
// comparing x itself, where the result should be NULL.
func narrow(x string, t sqltype.Type) string {
	if t.Kind == sqltype.DecimalKind {
		return fmt.Sprintf("TRY(TRY_CAST(%s AS %s))", x, typeName(t))
	}
	return fmt.Sprintf("(TRY_CAST(%s AS %s) | CAST(0 AS %s))", x, typeName(t), typeName(t))
}

// integers computes in a wider type, where no operation overflows, and casts
// back: that is as fast as a checked operation, whatever the values. // and %
// truncate as PostgreSQL's do, and give NULL for a zero divisor. By a constant other than 0 and −1 no quotient overflows:
// it is computed in its own type, as DuckDB divides wide integers a hundred times slower.
func (s scope) integers(e *plan.Call) (string, bool) {
	wide := func(i int) string { return fmt.Sprintf("CAST(%s AS %s)", s.expr(e.Args[i]), wider(e.T)) }
	narrow := func(x string) (string, bool) { return narrow(x, e.T), true }
	if e.Function == plan.Divide || e.Function == plan.Modulo {
		if l, ok := e.Args[1].(*plan.Literal); ok && l.Value != nil && l.Value != int64(0) && l.Value != int64(-1) { // no quotient is larger than what is divided
			own := func(i int) string { return fmt.Sprintf("CAST(%s AS %s)", s.expr(e.Args[i]), typeName(e.T)) }
			return fmt.Sprintf("(%s %s %s)", own(0), map[plan.Function]string{plan.Divide: "//", plan.Modulo: "%"}[e.Function], own(1)), true
		}
	}
	if centred(e) {
		return fmt.Sprintf("(%s - %s)", s.expr(e.Args[0]), s.expr(e.Args[1])), true
	}
	switch e.Function {
	case plan.Add, plan.Subtract, plan.Multiply:
		return narrow(fmt.Sprintf("%s %s %s", wide(0), e.Function, wide(1)))
	case plan.Divide:
		return narrow(fmt.Sprintf("%s // %s", wide(0), wide(1)))
	case plan.Modulo:
		return narrow(fmt.Sprintf("%s %% %s", wide(0), wide(1)))
	case plan.Negate:
		return narrow(fmt.Sprintf("-(%s)", wide(0)))
	case plan.Abs:
		return narrow(fmt.Sprintf("abs(%s)", wide(0)))
	}
	return "", false
}

// centred reports whether a constant is taken from plan.Fixed. That has 62 bits, so that there is no overflow where the constant has no more.
func centred(e *plan.Call) bool {
	if e.Function != plan.Subtract {
		return false
	}
	x, isCall := e.Args[0].(*plan.Call)
	l, isLiteral := e.Args[1].(*plan.Literal)
	if !isCall || !isLiteral || x.Function != plan.Fixed {
		return false
	}
	n, ok := l.Value.(int64)
	return ok && -1<<62 <= n && n <= 1<<62
}

// decimals computes exactly. The result's type holds every result unless 38
// digits do not: only then can an operation fail, and TRY makes that NULL.
func (s scope) decimals(e *plan.Call) (string, bool) {
	switch e.Function {
	case plan.Add, plan.Subtract, plan.Multiply, plan.Modulo, plan.Negate, plan.Abs, plan.Sign,
		plan.Round, plan.Trunc, plan.Floor, plan.Ceil:
	default:
		return "", false
	}
	t := typeName(e.T)
	from := e.Args[0].Type()
	x := s.expr(e.Args[0])
	try := func(x string) string {
		if e.T.Precision == 38 {
			return narrow(fmt.Sprintf("TRY(%s)", x), e.T)
		}
		return fmt.Sprintf("TRY_CAST(%s AS %s)", x, t)
	}
	switch e.Function {
	case plan.Add, plan.Subtract:
		return try(fmt.Sprintf("%s %s %s", x, e.Function, s.expr(e.Args[1]))), true
	case plan.Multiply:
		if e.T.Precision > 18 && from.Precision <= 18 { // or DuckDB would keep to 64 bits
			x = fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", x, e.T.Precision, from.Scale)
		}
		return try(fmt.Sprintf("%s * %s", x, s.expr(e.Args[1]))), true
	case plan.Modulo:
		return fmt.Sprintf("TRY_CAST(%s %% %s AS %s)", x, s.expr(e.Args[1]), t), true
	case plan.Negate:
		return fmt.Sprintf("CAST(-(%s) AS %s)", x, t), true
	case plan.Abs, plan.Sign:
		return fmt.Sprintf("CAST(%s(%s) AS %s)", e.Function, x, t), true
	case plan.Floor, plan.Ceil:
		return fmt.Sprintf("TRY_CAST(%s(%s) AS %s)", e.Function, x, t), true
	}
	digits := 0
	if len(e.Args) == 2 {
		digits = int(e.Args[1].(*plan.Literal).Value.(int64))
	}
	if e.Function == plan.Round && digits >= 0 || digits >= int(from.Scale) { // the cast rounds half away from zero
		return fmt.Sprintf("TRY_CAST(%s AS %s)", x, t), true
	}
	// With a unit of 10^-digits, truncating drops the remainder, and rounding
	// adds half a unit, away from zero, before that.
	if digits < 0 && -digits >= int(from.Digits()) {
		if e.Function == plan.Trunc || -digits > int(from.Digits()) || -digits >= 38 {
			return s.once(x, func(x string) string { return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN CAST(0 AS %s) END", x, t) }), true
		}
	}
	unit := Literal(sqltype.Decimal{Unscaled: pow10(max(0, -digits)), Scale: uint8(max(0, digits))}, sqltype.DecimalOf(uint8(max(1-digits, digits, 1)), uint8(max(0, digits))))
	return s.once(x, func(x string) string {
		if e.Function == plan.Round {
			half := Literal(sqltype.Decimal{Unscaled: new(big.Int).Div(pow10(-digits), big.NewInt(2)), Scale: 0}, sqltype.DecimalOf(uint8(-digits), 0))
			x = fmt.Sprintf("TRY(%s + CASE WHEN %s < 0 THEN -(%s) ELSE %s END)", x, x, half, half)
		}
		return s.once(x, func(x string) string { return fmt.Sprintf("TRY_CAST(%s - %s %% %s AS %s)", x, x, unit, t) })
	}), true
}

// floats computes in IEEE arithmetic, which never fails.
func (s scope) floats(e *plan.Call) (string, bool) {
	raw := func(i int) string { x, _ := s.raw(e.Args[i]); return x }
	switch e.Function {
	case plan.Add, plan.Subtract, plan.Multiply:
		return fmt.Sprintf("(%s %s %s)", raw(0), e.Function, raw(1)), true
	case plan.Negate:
		return fmt.Sprintf("-(%s)", raw(0)), true
	case plan.Abs, plan.Trunc, plan.Floor, plan.Ceil, plan.Ln, plan.Log10, plan.Sqrt:
		f := map[plan.Function]string{plan.Ln: "ln", plan.Log10: "log10"}[e.Function]
		if f == "" {
			f = string(e.Function)
		}
		domain := map[plan.Function]string{plan.Ln: "> 0", plan.Log10: "> 0", plan.Sqrt: ">= 0"}[e.Function]
		if domain == "" {
			return fmt.Sprintf("%s(%s)", f, raw(0)), true
		}
		return s.once(raw(0), func(x string) string { return fmt.Sprintf("CASE WHEN %s %s THEN %s(%s) END", x, domain, f, x) }), true
	case plan.Round: // half to even
		return s.once(raw(0), func(x string) string {
			// Above 2^52 a double is whole. DuckDB's round_even multiplies by ten
			// first, which rounds.
			return fmt.Sprintf("CASE WHEN abs(%s) < 4503599627370496e0 THEN CAST(TRY_CAST(%s AS BIGINT) AS DOUBLE) ELSE %s END", x, x, x)
		}), true
	case plan.Sign:
		return fmt.Sprintf("CAST(sign(%s) AS DOUBLE)", s.expr(e.Args[0])), true
	case plan.Exp:
		return fmt.Sprintf("exp(%s)", s.expr(e.Args[0])), true
	case plan.Power: // infinite or NaN exactly where PostgreSQL fails
		return fmt.Sprintf("power(%s, %s)", s.expr(e.Args[0]), s.expr(e.Args[1])), true
	case plan.Divide:
		x := raw(0)
		return s.once(s.expr(e.Args[1]), func(y string) string { return fmt.Sprintf("CASE WHEN %s <> 0 THEN %s / %s END", y, x, y) }), true
	}
	return "", false
}

// widthBucket numbers the buckets 1 to count, 0 below and count+1 above.
func (s scope) widthBucket(e *plan.Call) string {
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
		return fmt.Sprintf("least(TRY_CAST(floor(%d * ((%s%s - %s%s) / (%s%s - %s%s))) AS BIGINT), %d)", count, x, half, lo, half, hi, half, lo, half, count-1)
	}
	if t := low.T; t.Kind == sqltype.DecimalKind {
		// Exactly, in units of the last digit: (x−low)·count ÷ (high−low).
		unit := func(v sqltype.Value) *big.Int { return v.(sqltype.Decimal).Unscaled }
		width := new(big.Int).Sub(unit(high.Value), unit(low.Value))
		bucket = func(x string) string {
			return fmt.Sprintf("TRY((%s - %s) * %s // %s)", unscaled(x), hugeint(unit(low.Value)), hugeint(big.NewInt(count)), hugeint(width))
		}
	}
	return s.once(s.expr(e.Args[0]), func(x string) string {
		return fmt.Sprintf("CASE WHEN %s %s %s THEN 0 WHEN %s %s %s THEN CAST(%d AS INTEGER) WHEN %s IS NOT NULL THEN CAST(1 + %s AS INTEGER) END",
			x, less, lo, x, atLeast, hi, count+1, x, bucket(x))
	})
}

func hugeint(n *big.Int) string { return fmt.Sprintf("CAST('%s' AS HUGEINT)", n) }

// unscaled prints a decimal in units of its last digit.
func unscaled(x string) string {
	return fmt.Sprintf("CAST(replace(CAST(%s AS VARCHAR), '.', '') AS HUGEINT)", x)
}

// fixed prints plan.Fixed: the clamp comes before the scaling. Rounding is half away from zero, monotone,
// and fixes every multiple of the grid, so that the result lies between the
// rounded bounds.
func (duckDB) fixed(s scope, e *plan.Call) string {
	lo, hi, scale := e.Args[1].(*plan.Literal), e.Args[2].(*plan.Literal), e.Args[3].(*plan.Literal)
	t, clamped := e.Args[0].Type(), s.clamped(e)
	switch {
	case t.IsInteger():
		return fmt.Sprintf("CAST(%s AS BIGINT)", clamped)
	case t.Kind == sqltype.DecimalKind:
		// The bounds fit the grid's 62 bits, so that the clamped value needs
		// no more digits than they: no overflow in the product.
		wide := int(max(digits(lo.Value), digits(hi.Value), t.Scale))
		places := len(fmt.Sprint(scale.Value)) - 1
		if wide > 16 && wide+places+1 > 18 {
			wide = max(wide, 19) // or DuckDB would keep to 64 bits
		}
		x := fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", clamped, wide, t.Scale)
		// DuckDB divides decimals of more than 18 digits a hundred times slower. So x is multiplied by so few tens at a time that 18 digits
		// hold the product. The last digits behind the point are 0 then, and are dropped.
		for fraction := int(t.Scale); wide <= 16 && wide+places+1 > 18; {
			tens := min(17-wide, places-1)
			places, fraction = places-tens, fraction-tens
			x = fmt.Sprintf("CAST(%s * CAST(%s AS DECIMAL(%d,0)) AS DECIMAL(%d,%d))", x, pow10(tens), tens+1, wide, fraction)
		}
		return fmt.Sprintf("CAST(%s * CAST(%s AS DECIMAL(%d,0)) AS BIGINT)", x, pow10(places), places+1)
	}
	return fmt.Sprintf("CAST(round((%s) * %s) AS BIGINT)", clamped, s.expr(scale))
}

// clamped prints the argument of plan.Fixed within its bounds. CASE, unlike least and
// greatest, keeps NULL.
func (s scope) clamped(e *plan.Call) string {
	lo, hi := s.expr(e.Args[1]), s.expr(e.Args[2])
	return s.once(s.expr(e.Args[0]), func(x string) string {
		return fmt.Sprintf("CASE WHEN %s > %s THEN %s WHEN %s < %s THEN %s ELSE %s END", x, hi, hi, x, lo, lo, x)
	})
}

// digits counts a decimal's digits, at least 1.
func digits(v sqltype.Value) uint8 {
	return uint8(len(new(big.Int).Abs(v.(sqltype.Decimal).Unscaled).String()))
}
