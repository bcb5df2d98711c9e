package render

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// temporal prints date and time arithmetic but for intervals.
func (d trino) temporal(s scope, e *plan.Call, a []string) (string, bool) {
	switch e.Function {
	case plan.AddDays:
		return s.once2(a[0], a[1], func(x, n string) string {
			return s.inCalendar(fmt.Sprintf("CASE WHEN %s BETWEEN -4000000 AND 4000000 THEN date_add('day', %s, %s) END", n, n, x), e.T)
		}), true
	case plan.SubtractDays:
		return fmt.Sprintf("CAST(date_diff('day', %s, %s) AS INTEGER)", a[1], a[0]), true
	case plan.DateTrunc:
		unit, _ := e.Args[0].(*plan.Literal).Value.(string)
		switch unit {
		case "second", "minute", "hour", "day", "week", "month", "quarter", "year":
			return s.inCalendar(fmt.Sprintf("date_trunc('%s', %s)", unit, s.inCalendar(a[1], e.T)), e.T), true
		}
		return s.lacks(e.Place(), "date_trunc to "+unit), true
	case plan.Extract:
		field, _ := e.Args[0].(*plan.Literal).Value.(string)
		from := e.Args[1].Type()
		return s.once(a[1], func(x string) string {
			out, ok := extractTrino(field, x, from)
			if !ok {
				return s.lacks(e.Place(), "extract of "+field)
			}
			return d.narrow(s, out, e.T)
		}), true
	}
	return "", false
}

// extractTrino prints a field as an exact number.
func extractTrino(field, x string, from sqltype.Type) (string, bool) {
	day, clock := isDay(from), from.Kind == sqltype.TimeKind || from.Kind == sqltype.TimestampKind
	functions := map[string]string{"year": "year", "quarter": "quarter", "month": "month", "day": "day", "week": "week", "isodow": "day_of_week", "doy": "day_of_year", "isoyear": "year_of_week"}
	text := 7 // where the seconds begin
	if from.Kind == sqltype.TimestampKind {
		text = 18
	}
	seconds := fmt.Sprintf("CAST(substr(CAST(%s AS VARCHAR), %d) AS DECIMAL(18,6))", x, text)
	switch f, ok := functions[field]; {
	case ok && day:
		return fmt.Sprintf("%s(%s)", f, x), true
	case field == "dow" && day:
		return fmt.Sprintf("(day_of_week(%s) %% 7)", x), true
	case (field == "hour" || field == "minute") && clock:
		return fmt.Sprintf("%s(%s)", field, x), true
	case field == "second" && clock:
		return seconds, true
	case field == "milliseconds" && clock:
		return seconds + " * 1000", true
	case field == "microseconds" && clock:
		return seconds + " * 1000000", true
	case field == "epoch" && from.Kind == sqltype.DateKind:
		return fmt.Sprintf("date_diff('day', DATE '1970-01-01', %s) * 86400", x), true
	case field == "epoch" && from.Kind == sqltype.TimestampKind:
		return fmt.Sprintf("date_diff('minute', TIMESTAMP '1970-01-01 00:00:00.000000', date_trunc('minute', %s)) * CAST(60 AS DECIMAL(18,0)) + %s", x, seconds), true
	}
	return "", false
}

// mostYears bounds each part of an interval that is added: no sum of a day of the calendar and
// three such parts leaves the range of Trino's timestamps, the years up to 292,000.
const mostYears = 20_000

// addInterval adds a constant interval as PostgreSQL does: months first, to the last day of a month
// that is too short, then days, then the time. Trino's own intervals are of months or of
// milliseconds alone. A timestamp has no zone, so that whole days of the time are days. Each step
// adds an int32, since date_add raises beyond that.
func (d trino) addInterval(s scope, e *plan.Call) string {
	i, known := constantInterval(e.Args[1])
	if !known {
		return s.lacks(e.Place(), "an interval that is not constant")
	}
	if i == nil {
		return "CAST(NULL AS " + d.typeName(e.T) + ")"
	}
	x := s.expr(e.Args[0])
	milliseconds, micros := i.Micros/1000, i.Micros%1000
	if micros < 0 {
		milliseconds, micros = milliseconds-1, micros+1000
	}
	for _, step := range []struct {
		unit string
		n    int64
	}{{"month", int64(i.Months)}, {"day", int64(i.Days) + milliseconds/dayMillis}, {"millisecond", milliseconds % dayMillis}} {
		if step.n != 0 {
			x = fmt.Sprintf("date_add('%s', %d, %s)", step.unit, step.n, x)
		}
	}
	if x = s.inCalendar(x, e.T); micros == 0 {
		return x
	}
	// The least unit of date_add is a millisecond: the rest is added to the text's six digits.
	return s.once(x, func(x string) string {
		sum := fmt.Sprintf("(CAST(substr(CAST(%s AS VARCHAR), 21) AS BIGINT) + %d)", x, micros)
		second := fmt.Sprintf("substr(CAST(date_add('second', %s / 1000000, %s) AS VARCHAR), 1, 20)", sum, x)
		return fmt.Sprintf("CASE WHEN %s <= TIMESTAMP '9999-12-31 23:59:59.%06d' THEN CAST(%s || lpad(CAST(%s %% 1000000 AS VARCHAR), 6, '0') AS TIMESTAMP(6)) END", x, 999_999-micros, second, sum)
	})
}

const dayMillis = dayMicros / 1000

// constantInterval is the value of an interval that is a constant, or the negation of one: nil of
// NULL, and of one from which no day of the calendar leads to another.
func constantInterval(e plan.Expr) (i *sqltype.Interval, known bool) {
	switch e := e.(type) {
	case *plan.Cast: // of NULL: no other type becomes an interval
		l, ok := e.Arg.(*plan.Literal)
		return nil, ok && l.Value == nil
	case *plan.Literal:
		v, ok := e.Value.(sqltype.Interval)
		const days = mostYears * 366
		if !ok || v.Months < -mostYears*12 || v.Months > mostYears*12 || v.Days < -days || v.Days > days || v.Micros < -days*dayMicros || v.Micros > days*dayMicros {
			return nil, e.Value == nil || ok
		}
		return &v, true
	case *plan.Call:
		if e.Function != plan.Negate {
			return nil, false
		}
		if i, known = constantInterval(e.Args[0]); i == nil {
			return nil, known
		}
		return &sqltype.Interval{Months: -i.Months, Days: -i.Days, Micros: -i.Micros}, true
	}
	return nil, false
}
