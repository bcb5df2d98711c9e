package render

import (
	"fmt"

	"github.com/discreet-dp/discreet/sqltype"
)

// space is what PostgreSQL skips around a value in a text.
const space = `[ \t\n\r\f\v]*`

// convert prints the conversion of x, a canonical value of type from; of a
// floating x to another floating type the result is as raw's.
func (duckDB) convert(s scope, x string, from, to sqltype.Type) string {
	plain := fmt.Sprintf("CAST(%s AS %s)", x, typeName(to))
	try := fmt.Sprintf("TRY_CAST(%s AS %s)", x, typeName(to))
	switch {
	case from == to:
		return x
	case to.Kind == sqltype.Text:
		return s.toText(x, from)
	case from.Kind == sqltype.Text:
		return s.fromText(x, to)
	case from.Kind == sqltype.Null:
		return plain
	case to.Kind == sqltype.Boolean:
		return fmt.Sprintf("(%s <> 0)", x)
	case from.IsFloat() && to.Kind == sqltype.DecimalKind:
		// PostgreSQL goes by the 15 (real: 6) digits that are always right.
		digits := 15
		if from.Kind == sqltype.Real {
			digits, x = 6, fmt.Sprintf("CAST(%s AS DOUBLE)", x)
		}
		return s.textToDecimal(fmt.Sprintf("format('{:.%dg}', %s)", digits, x), to)
	case isExact(from) && isExact(to) && mayNotFit(from, to):
		return narrow(x, to)
	case from.IsFloat() && to.IsInteger() && to.Kind != sqltype.Bigint:
		// By way of bigint: a direct cast checks the range before it rounds.
		return narrow(fmt.Sprintf("TRY_CAST(%s AS BIGINT)", x), to)
	case from.Kind == sqltype.TimestampKind && to.Kind == sqltype.DateKind, from.Kind == sqltype.TimestampKind && to.Kind == sqltype.TimeKind:
		return plain
	}
	return try // rounds decimals half away from zero, floats half to even
}

// textToDecimal casts the text of a number. DuckDB rounds a text with an
// exponent wrongly (9e-38 to two digits is 0.01 for it) and doesn't check that
// the number fits, so that the point is moved first.
func (s scope) textToDecimal(x string, to sqltype.Type) string {
	cast := func(x string) string { return fmt.Sprintf("TRY_CAST(%s AS %s)", x, typeName(to)) }
	return s.once(x, func(x string) string {
		part := func(group int) string {
			return fmt.Sprintf(`regexp_extract(%s, '^([+-]?)([0-9]*)\.?([0-9]*)[eE]([+-]?[0-9]+)$', %d)`, x, group)
		}
		// With an exponent beyond ±400 the value overflows every decimal, or is 0.
		exponent := s.once(fmt.Sprintf("TRY_CAST(%s AS INTEGER)", part(4)), func(e string) string {
			return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN greatest(-400, least(400, %s)) END", e, e)
		})
		moved := s.once(part(2)+" || "+part(3), func(digits string) string {
			return s.once(fmt.Sprintf("length(%s) + %s", part(2), exponent), func(point string) string {
				return fmt.Sprintf("%s || CASE WHEN %s <= 0 THEN '0.' || repeat('0', -(%s)) || %s ELSE left(rpad(%s, CAST(greatest(%s, length(%s)) AS INTEGER), '0'), %s) || '.' || substring(%s, %s + 1) END",
					part(1), point, point, digits, digits, point, digits, point, digits, point)
			})
		})
		return fmt.Sprintf("CASE WHEN contains(lower(%s), 'e') THEN %s ELSE %s END", x, cast(moved), cast(x))
	})
}

// toText prints a value as PostgreSQL's output does.
func (s scope) toText(x string, from sqltype.Type) string {
	plain := fmt.Sprintf("CAST(%s AS VARCHAR)", x)
	switch {
	case from.IsFloat():
		return s.floatText(plain, from)
	case from.Kind == sqltype.DateKind || from.Kind == sqltype.TimestampKind:
		return fmt.Sprintf("CAST(%s AS VARCHAR)", s.inCalendar(x, from))
	case from.Kind == sqltype.DecimalKind && from.Precision == from.Scale: // DuckDB prints .5 for 0.5
		return fmt.Sprintf(`regexp_replace(%s, '^(-?)\.', '\10.')`, plain)
	}
	return plain
}

// floatText turns DuckDB's shortest text of a float into PostgreSQL's: the
// digits are the same, but whole numbers have no .0, and an exponent stands
// from 10^15 (real: 10^6) on, not 10^16.
func (s scope) floatText(x string, from sqltype.Type) string {
	largest := 15
	if from.Kind == sqltype.Real {
		largest = 6
	}
	return s.once(x, func(x string) string {
		whole := fmt.Sprintf(`regexp_replace(%s, '\.0$', '')`, x)
		digits := fmt.Sprintf(`regexp_replace(%s, '[-.]', '', 'g')`, x)
		exponent := fmt.Sprintf("(strpos(ltrim(%s, '-'), '.') - 2)", x)
		scientific := fmt.Sprintf(`(CASE WHEN starts_with(%s, '-') THEN '-' ELSE '' END) || left(%s, 1) || rtrim('.' || rtrim(substring(%s, 2), '0'), '.') || 'e+' || right('0' || CAST(%s AS VARCHAR), 2)`,
			x, digits, digits, exponent)
		return fmt.Sprintf("CASE WHEN %s >= %d AND NOT contains(%s, 'e') THEN %s ELSE %s END", exponent, largest, x, scientific, whole)
	})
}

// fromText reads a value as PostgreSQL's input does; dates and times are ISO.
// The pattern comes first: DuckDB's own casts take more than PostgreSQL's.
func (s scope) fromText(x string, to sqltype.Type) string {
	pattern := ""
	switch {
	case to.Kind == sqltype.Boolean:
		return fmt.Sprintf("CASE lower(trim(%s, ' \t\n\r\f\v')) "+
			"WHEN 't' THEN TRUE WHEN 'tr' THEN TRUE WHEN 'tru' THEN TRUE WHEN 'true' THEN TRUE "+
			"WHEN 'y' THEN TRUE WHEN 'ye' THEN TRUE WHEN 'yes' THEN TRUE WHEN 'on' THEN TRUE WHEN '1' THEN TRUE "+
			"WHEN 'f' THEN FALSE WHEN 'fa' THEN FALSE WHEN 'fal' THEN FALSE WHEN 'fals' THEN FALSE WHEN 'false' THEN FALSE "+
			"WHEN 'n' THEN FALSE WHEN 'no' THEN FALSE WHEN 'of' THEN FALSE WHEN 'off' THEN FALSE WHEN '0' THEN FALSE END", x)
	case to.IsInteger():
		pattern = `[+-]?[0-9]+`
	case to.IsFloat() || to.Kind == sqltype.DecimalKind:
		pattern = `[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?`
	case to.Kind == sqltype.DateKind:
		pattern = `[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}`
	case to.Kind == sqltype.TimeKind:
		pattern = `[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?`
	case to.Kind == sqltype.TimestampKind:
		pattern = `[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?`
	}
	out := s.once(x, func(x string) string {
		trimmed := fmt.Sprintf("trim(%s, ' %s')", x, "\t\n\r\f\v")
		value := fmt.Sprintf("TRY_CAST(%s AS %s)", trimmed, typeName(to))
		if to.Kind == sqltype.DecimalKind {
			value = s.textToDecimal(trimmed, to)
		}
		return fmt.Sprintf(`CASE WHEN regexp_full_match(%s, '%s%s%s') THEN %s END`, x, space, pattern, space, value)
	})
	switch {
	case to.IsFloat():
		return s.finite(out, to)
	case isDay(to):
		return s.inCalendar(out, to)
	}
	return out
}

func isExact(t sqltype.Type) bool { return t.IsInteger() || t.Kind == sqltype.DecimalKind }

// mayNotFit reports whether a value of an exact type can be too large for
// another. With digits for digits it is so if they are not all used, as in an
// integer, or rounding can carry into one more.
func mayNotFit(from, to sqltype.Type) bool {
	f, t := from.Digits(), to.Digits()
	return f > t || f == t && (to.IsInteger() || from.Scale > to.Scale)
}

func isDay(t sqltype.Type) bool {
	return t.Kind == sqltype.DateKind || t.Kind == sqltype.TimestampKind
}
