package render

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

func (d postgres) textual(s scope, e *plan.Call, a []string) (string, bool) {
	plain := func() string { return fmt.Sprintf("%s(%s)", e.Function, strings.Join(a, ", ")) }
	switch e.Function {
	case plan.Translate:
		return s.once(a[0], func(x string) string {
			return translated(e, "octet_length("+x+")", fmt.Sprintf("translate(%s, %s, %s)", x, a[1], a[2]))
		}), true
	case plan.Lower, plan.Upper, plan.InitCap:
		return fmt.Sprintf("(%s(%s%s)%s)", e.Function, a[0], local, bytewise), true
	case plan.StartsAt, plan.LeftPart, plan.Length, plan.CodePoint, plan.Position, plan.Trim, plan.TrimLeft, plan.TrimRight, plan.Reverse:
		return plain(), true
	case plan.RightPart: // the least integer has no negative
		return s.once(a[1], func(n string) string {
			return fmt.Sprintf("CASE WHEN %s = -2147483648 THEN left(%s, 0) ELSE right(%s, %s) END", n, a[0], a[0], n)
		}), true
	case plan.Substring:
		if len(a) == 2 {
			return plain(), true
		}
		return s.once(a[2], func(n string) string {
			return fmt.Sprintf("CASE WHEN %s >= 0 THEN substring(%s, %s, %s) END", n, a[0], a[1], n)
		}), true
	case plan.SplitPart:
		return s.once(a[2], func(n string) string {
			return fmt.Sprintf("CASE WHEN %s <> 0 THEN split_part(%s, %s, %s) END", n, a[0], a[1], n)
		}), true
	case plan.Replace:
		from, _ := e.Args[1].(*plan.Literal).Value.(string)
		to, _ := e.Args[2].(*plan.Literal).Value.(string)
		if len(to) <= len(from) || from == "" {
			return plain(), true
		}
		return s.once(a[0], func(x string) string {
			return fmt.Sprintf("CASE WHEN octet_length(%s) <= %d THEN replace(%s, %s, %s) END", x, maxText/((len(to)+len(from)-1)/len(from)), x, a[1], a[2])
		}), true
	case plan.Like:
		return fmt.Sprintf(`(%s LIKE %s)`, a[0], a[1]), true
	case plan.ILike:
		return fmt.Sprintf(`((%s%s) ILIKE (%s%s))`, a[0], local, a[1], local), true
	case plan.Matches:
		return fmt.Sprintf(`(%s ~ %s)`, a[0], a[1]), true
	case plan.MatchCount: // regexp_count is there since 15
		return s.once(a[0], func(x string) string {
			return fmt.Sprintf("CASE WHEN %[1]s IS NOT NULL THEN (SELECT CAST(count(*) AS INTEGER) FROM regexp_matches(%[1]s, %[2]s, 'g')) END", x, a[1])
		}), true
	case plan.MatchText:
		return fmt.Sprintf("substring(%s, %s)", a[0], a[1]), true
	case plan.MatchFirst, plan.MatchEach: // the replacement is written as there
		flags := map[plan.Function]string{plan.MatchFirst: "''", plan.MatchEach: "'g'"}[e.Function]
		return s.replaced(e, a[0], "octet_length(%s)", func(x string) string {
			return fmt.Sprintf("regexp_replace(%s, %s, %s, %s)", x, a[1], a[2], flags)
		}), true
	case plan.IMatches:
		return fmt.Sprintf(`((%s%s) ~* (%s%s))`, a[0], local, a[1], local), true
	}
	return "", false
}

func (postgres) concat(s scope, parts []string) string {
	return s.bounded(parts, "CAST(octet_length(%s) AS BIGINT)", func(chain string) string { return chain })
}

// convert prints the conversion of x, a canonical value of type from.
func (d postgres) convert(s scope, x string, from, to sqltype.Type) string {
	plain := fmt.Sprintf("CAST(%s AS %s)", x, d.typeName(to))
	kinds := [2]sqltype.Kind{from.Kind, to.Kind}
	switch {
	case from == to:
		return x
	case to.Kind == sqltype.Text:
		if isDay(from) {
			x = s.inCalendar(x, from)
		}
		return fmt.Sprintf("(CAST(%s AS TEXT)%s)", x, bytewise)
	case from.Kind == sqltype.Null:
		return plain
	case from.Kind == sqltype.Text:
		return d.fromText(s, x, to)
	case to.Kind == sqltype.Boolean:
		return fmt.Sprintf("(%s <> 0)", x)
	case from.Kind == sqltype.Boolean:
		return fmt.Sprintf("CAST(CAST(%s AS INTEGER) AS %s)", x, d.typeName(to))
	case from.Kind == sqltype.Double && to.Kind == sqltype.Real:
		return s.single(x)
	case from.IsFloat() && to.Kind == sqltype.DecimalKind: // by the 15 (real: 6) digits that are always right
		return d.narrow(s, fmt.Sprintf("CAST(%s AS NUMERIC)", x), to)
	case from.IsFloat() && to.IsInteger():
		whole := s.once(x, func(x string) string {
			return fmt.Sprintf("CASE WHEN %s >= %s AND %s < %s THEN CAST(%s AS BIGINT) END", x, double(-0x1p63), x, double(0x1p63), x)
		})
		if to.Kind == sqltype.Bigint {
			return whole
		}
		return d.integer(s, whole, to)
	case from.IsInteger() && to.IsInteger() && mayNotFit(from, to):
		return d.integer(s, x, to)
	case isExact(from) && isExact(to) && mayNotFit(from, to):
		return d.narrow(s, x, to)
	case from.IsNumeric() && to.IsNumeric():
		return plain
	case kinds == [2]sqltype.Kind{sqltype.DateKind, sqltype.TimestampKind}:
		return s.once(x, func(x string) string {
			return fmt.Sprintf("CASE WHEN %s < DATE '294200-01-01' THEN CAST(%s AS TIMESTAMP) END", x, x)
		})
	case kinds == [2]sqltype.Kind{sqltype.TimestampKind, sqltype.DateKind}, kinds == [2]sqltype.Kind{sqltype.TimestampKind, sqltype.TimeKind},
		kinds == [2]sqltype.Kind{sqltype.TimeKind, sqltype.IntervalKind}, kinds == [2]sqltype.Kind{sqltype.IntervalKind, sqltype.TimeKind}:
		return plain
	}
	return s.lacks(nowhere, fmt.Sprintf("the conversion from %s to %s", from, to))
}

// pgSpace is what PostgreSQL skips around a value in a text, for btrim.
const pgSpace = `E' \t\n\r\f\v'`

// fromText reads a value as PostgreSQL's input does; dates and times are ISO. The pattern
// comes first, and the parts of a date are looked at before it is made.
func (d postgres) fromText(s scope, x string, to sqltype.Type) string {
	return s.once("(btrim("+x+", "+pgSpace+")"+bytewise+")", func(x string) string {
		switch {
		case to.Kind == sqltype.Boolean:
			return fmt.Sprintf("CASE WHEN lower(%[1]s) IN ('t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1') THEN TRUE "+
				"WHEN lower(%[1]s) IN ('f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0') THEN FALSE END", x)
		case to.IsInteger():
			return d.narrow(s, fmt.Sprintf("CASE WHEN %[1]s ~ '^[+-]?[0-9]+$' AND octet_length(%[1]s) <= %[2]d THEN CAST(%[1]s AS NUMERIC) END", x, maxText), to)
		case to.Kind == sqltype.DecimalKind:
			return d.narrow(s, s.number(x), to)
		case to.IsFloat():
			return d.float(s, s.number(x), to)
		case to.Kind == sqltype.DateKind:
			return s.dateOf(x, `^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})$`, 1)
		case to.Kind == sqltype.TimeKind:
			return s.timeOf(x, `^([0-9]{1,2}):([0-9]{2})(:([0-9]{2}(\.[0-9]{1,6})?))?$`, 1)
		case to.Kind == sqltype.TimestampKind:
			const pattern = `^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})([ T]([0-9]{1,2}):([0-9]{2})(:([0-9]{2}(\.[0-9]{1,6})?))?)?$`
			return s.inCalendar(fmt.Sprintf("(%s + CASE WHEN %s ~ '[:]' THEN %s ELSE TIME '00:00' END)", s.dateOf(x, pattern, 1), x, s.timeOf(x, pattern, 5)), to)
		}
		return s.lacks(nowhere, fmt.Sprintf("the conversion from text to %s", to))
	})
}

// number reads a decimal text of any size, exactly. A numeric has at most 131072 digits before
// the point and 16383 after it. An exponent beyond that leaves nothing of a type that we have.
func (s scope) number(x string) string {
	const form = `^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`
	return fmt.Sprintf("CASE WHEN %[1]s !~ '%[2]s' OR octet_length(%[1]s) > 5000 THEN NULL WHEN %[1]s ~ '^[^eE]*$' OR %[1]s ~ '[eE][+-]?0*[0-9]{1,4}$' THEN CAST(%[1]s AS NUMERIC) "+
		"WHEN %[1]s ~ '[eE]-0*[0-9]{1,9}$' OR %[1]s ~ '^[+-]?[0.]*[eE][+]?0*[0-9]{1,9}$' THEN CAST(0 AS NUMERIC) END", x, form)
}

// part is a group of a pattern as an integer.
func part(x, pattern string, group int) string {
	return fmt.Sprintf("CAST((regexp_match(%s, '%s'))[%d] AS INTEGER)", x, pattern, group)
}

// dateOf reads the three groups from the first one on as a day of the calendar.
func (s scope) dateOf(x, pattern string, first int) string {
	return s.once(part(x, pattern, first), func(y string) string {
		return s.once(part(x, pattern, first+1), func(m string) string {
			return s.once(part(x, pattern, first+2), func(day string) string {
				leap := fmt.Sprintf("(%s %% 4 = 0 AND (%s %% 100 <> 0 OR %s %% 400 = 0))", y, y, y)
				last := fmt.Sprintf("CASE WHEN %s IN (4, 6, 9, 11) THEN 30 WHEN %s <> 2 THEN 31 WHEN %s THEN 29 ELSE 28 END", m, m, leap)
				return fmt.Sprintf("CASE WHEN %s >= 1 AND %s BETWEEN 1 AND 12 AND %s BETWEEN 1 AND %s THEN make_date(%s, %s, %s) END", y, m, day, last, y, m, day)
			})
		})
	})
}

// timeOf reads hours, minutes and, in the next group but one, seconds.
func (s scope) timeOf(x, pattern string, first int) string {
	seconds := fmt.Sprintf("coalesce(CAST((regexp_match(%s, '%s'))[%d] AS DOUBLE PRECISION), 0)", x, pattern, first+3)
	return s.once(part(x, pattern, first), func(h string) string {
		return s.once(part(x, pattern, first+1), func(m string) string {
			return s.once(seconds, func(sec string) string {
				return fmt.Sprintf("CASE WHEN %[1]s < 24 AND %[2]s < 60 AND %[3]s < 60 OR %[1]s = 24 AND %[2]s = 0 AND %[3]s = 0 THEN make_time(%[1]s, %[2]s, %[3]s) END", h, m, sec)
			})
		})
	})
}

// temporal prints date and time arithmetic.
func (d postgres) temporal(s scope, e *plan.Call, a []string) (string, bool) {
	switch e.Function {
	case plan.Negate:
		return s.once(a[0], func(x string) string { return fmt.Sprintf("CASE WHEN %s THEN -(%s) END", within(x, 100_000), x) }), true
	case plan.AddInterval: // from the calendar, what is added leads to no place that a timestamp has not
		return s.once2(a[0], a[1], func(x, i string) string {
			in := fmt.Sprintf("%s BETWEEN %s AND %s AND %s", x, firstTime, lastTime, within(i, 20_000))
			// PostgreSQL's time begins in the year -4712, and it adds months, days and hours in turn.
			before := fmt.Sprintf("date_part('year', %[1]s) + least(0, date_part('year', %[2]s) - 1) + least(0, date_part('day', %[2]s) / 365) + least(0, date_part('hour', %[2]s) / 8760) > -4711", x, i)
			return s.inCalendar(fmt.Sprintf("CASE WHEN %s AND %s THEN %s + %s END", in, before, x, i), e.T)
		}), true
	case plan.AddDays:
		return s.once2(a[0], a[1], func(x, n string) string {
			return fmt.Sprintf("CASE WHEN CAST(%[1]s - DATE '0001-01-01' AS BIGINT) + %[2]s BETWEEN 0 AND DATE '9999-12-31' - DATE '0001-01-01' AND %[2]s BETWEEN -4000000 AND 4000000 THEN %[1]s + CAST(%[2]s AS INTEGER) END", x, n)
		}), true
	case plan.SubtractDays:
		return fmt.Sprintf("(%s - %s)", a[0], a[1]), true
	case plan.Elapsed:
		return s.once2(a[0], a[1], func(x, y string) string {
			return fmt.Sprintf("CASE WHEN %s < TIMESTAMP '200000-01-01' AND %s < TIMESTAMP '200000-01-01' THEN %s - %s END", x, y, x, y)
		}), true
	case plan.DateTrunc:
		return s.inCalendar(s.ofCalendar(a[1], e.T, func(x string) string { return fmt.Sprintf("date_trunc(%s, %s)", a[0], x) }), e.T), true
	case plan.Extract:
		field := e.Args[0].(*plan.Literal).Value.(string)
		get := func(x string) string { return d.narrow(s, fmt.Sprintf("extract(%s FROM %s)", field, x), e.T) }
		if from := e.Args[1].Type(); isDay(from) {
			return s.ofCalendar(a[1], from, get), true
		}
		return get(a[1]), true
	}
	return "", false
}

// within is the condition that no part of an interval is beyond so many years.
func within(x string, years int) string {
	return fmt.Sprintf("date_part('year', %[1]s) BETWEEN -%[2]d AND %[2]d AND date_part('day', %[1]s) BETWEEN -%[3]d AND %[3]d AND date_part('hour', %[1]s) BETWEEN -%[4]d AND %[4]d",
		x, years, years*366, years*366*24)
}
