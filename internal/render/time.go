package render

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// The calendar is that of the years 1 to 9999, in which all engines agree. What
// leaves it is NULL.
const (
	firstDay  = "DATE '0001-01-01'"
	lastDay   = "DATE '9999-12-31'"
	firstTime = "TIMESTAMP '0001-01-01 00:00:00'"
	lastTime  = "TIMESTAMP '9999-12-31 23:59:59.999999'"
)

// inCalendar makes a date or timestamp outside the calendar NULL.
func (s scope) inCalendar(x string, t sqltype.Type) string {
	first, last := calendar(t)
	return s.once(x, func(x string) string {
		return fmt.Sprintf("CASE WHEN %s BETWEEN %s AND %s THEN %s END", x, first, last, x)
	})
}

// ofCalendar prints a function of a date or timestamp, NULL outside of the
// calendar. The function sees a clamped value even so: DuckDB evaluates some on
// the extremes that a column's statistics give, and fails there, in planning.
func (s scope) ofCalendar(x string, t sqltype.Type, f func(x string) string) string {
	first, last := calendar(t)
	return s.once(x, func(x string) string {
		clamped := fmt.Sprintf("greatest(%s, least(%s, %s))", first, x, last)
		return fmt.Sprintf("CASE WHEN %s BETWEEN %s AND %s THEN %s END", x, first, last, f(clamped))
	})
}

func calendar(t sqltype.Type) (first, last string) {
	if t.Kind == sqltype.DateKind {
		return firstDay, lastDay
	}
	return firstTime, lastTime
}

// temporal prints date and time arithmetic.
func (duckDB) temporal(s scope, e *plan.Call, a []string) (string, bool) {
	switch e.Function {
	case plan.Negate: // the negative of an interval: the least int64 has none
		return fmt.Sprintf("TRY(-(%s))", a[0]), true
	case plan.AddInterval:
		return s.inCalendar(fmt.Sprintf("TRY(%s + %s)", a[0], a[1]), e.T), true
	case plan.AddDays:
		return s.once(a[1], func(n string) string {
			return fmt.Sprintf("CASE WHEN %s BETWEEN -4000000 AND 4000000 THEN %s END", n, s.inCalendar(fmt.Sprintf("TRY(%s + %s)", a[0], n), e.T))
		}), true
	case plan.SubtractDays:
		return fmt.Sprintf("TRY_CAST(%s - %s AS INTEGER)", a[0], a[1]), true
	case plan.Elapsed:
		return fmt.Sprintf("TRY(%s - %s)", a[0], a[1]), true
	case plan.DateTrunc:
		return s.inCalendar(s.ofCalendar(a[1], e.T, func(x string) string { return fmt.Sprintf("date_trunc(%s, %s)", a[0], x) }), e.T), true
	case plan.Extract:
		field := e.Args[0].(*plan.Literal).Value.(string)
		from := e.Args[1].Type()
		if isDay(from) {
			return s.ofCalendar(a[1], from, func(x string) string { return extract(field, x, from, e.T) }), true
		}
		return s.once(a[1], func(x string) string { return extract(field, x, from, e.T) }), true
	}
	return "", false
}

// micros prints the part of an interval below a day in microseconds.
func micros(x string) string {
	return fmt.Sprintf("datepart('hour', %[1]s) * 3600000000 + datepart('minute', %[1]s) * 60000000 + datepart('microseconds', %[1]s)", x)
}

// comparable prints what x is compared by: itself, or an interval's length with
// months of 30 days. DuckDB compares the parts of an interval in turn, which is
// something else where their signs differ: -2 days -23:00 and -3 days +01:00.
func (duckDB) comparable(s scope, x string, t sqltype.Type) string {
	if t.Kind != sqltype.IntervalKind {
		return x
	}
	return s.once(x, func(x string) string {
		part := func(unit string) string { return fmt.Sprintf("CAST(datepart('%s', %s) AS HUGEINT)", unit, x) }
		return fmt.Sprintf("((%s * 12 + %s) * 30 + %s) * 86400000000 + %s", part("year"), part("month"), part("day"), micros(x))
	})
}

// extract prints a field as an exact decimal.
func extract(field, x string, from, t sqltype.Type) string {
	part := func(unit string) string { return fmt.Sprintf("datepart('%s', %s)", unit, x) }
	// shifted is n·10^−scale.
	shifted := func(n string) string {
		unit := sqltype.Decimal{Unscaled: pow10(0), Scale: t.Scale}
		return fmt.Sprintf("TRY_CAST(CAST(%s AS DECIMAL(%d,0)) * %s AS %s)", n, max(19, t.Precision), Literal(unit, sqltype.DecimalOf(t.Scale, t.Scale)), typeName(t))
	}
	switch {
	case field == "second":
		return shifted(part("microseconds"))
	case field == "milliseconds":
		return fmt.Sprintf("CAST(CAST(%s AS DECIMAL(18,0)) * CAST('0.001' AS DECIMAL(3,3)) AS %s)", part("microseconds"), typeName(t))
	case field != "epoch":
		return fmt.Sprintf("CAST(%s AS %s)", part(field), typeName(t))
	case from.Kind == sqltype.DateKind:
		return fmt.Sprintf("CAST((%s - DATE '1970-01-01') * 86400 AS %s)", x, typeName(t))
	case from.Kind == sqltype.IntervalKind: // PostgreSQL's year has 365.25 days, its month 30
		return shifted(fmt.Sprintf("CAST(%s AS HUGEINT) * 31557600000000 + %s * 2592000000000 + CAST(%s AS HUGEINT) * 86400000000 + %s",
			part("year"), part("month"), part("day"), micros(x)))
	case from.Kind == sqltype.TimeKind:
		return shifted(micros(x))
	}
	return shifted(fmt.Sprintf("epoch_us(%s)", x))
}
