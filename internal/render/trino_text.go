package render

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

func (d trino) textual(s scope, e *plan.Call, a []string) (string, bool) {
	plain := func() string { return fmt.Sprintf("%s(%s)", e.Function, strings.Join(a, ", ")) }
	for i, x := range e.Args { // of NULL comes NULL
		if l, ok := x.(*plan.Literal); ok && l.Value == nil && i > 0 {
			return "CAST(NULL AS " + d.typeName(e.T) + ")", true
		}
	}
	constant := func(i int) string {
		l, _ := e.Args[i].(*plan.Literal)
		if l == nil {
			return s.lacks(e.Place(), string(e.Function)+" of a pattern that is not constant")
		}
		text, _ := l.Value.(string)
		return text
	}
	switch e.Function {
	case plan.Lower, plan.Upper, plan.StartsAt, plan.Reverse:
		return plain(), true
	case plan.Length, plan.Position:
		return "CAST(" + plain() + " AS INTEGER)", true
	case plan.LeftPart, plan.RightPart: // a negative number leaves out so many at the other end
		return s.once2(a[0], a[1], func(x, n string) string {
			wide := "CAST(" + n + " AS BIGINT)"
			if e.Function == plan.LeftPart {
				return fmt.Sprintf("substr(%s, 1, CASE WHEN %s >= 0 THEN %s ELSE greatest(length(%s) + %s, 0) END)", x, n, wide, x, wide)
			}
			return fmt.Sprintf("substr(%s, CASE WHEN %s >= 0 THEN greatest(length(%s) - %s, 0) ELSE least(-(%s), length(%s)) END + 1)", x, n, x, wide, wide, x)
		}), true
	case plan.Trim, plan.TrimLeft, plan.TrimRight:
		return d.trim(e.Function, a[0], constant(1)), true
	case plan.Substring:
		return d.substring(s, a), true
	case plan.SplitPart:
		return s.once(a[0], func(x string) string {
			return s.once2(a[1], a[2], func(delimiter, n string) string {
				return fmt.Sprintf("CASE WHEN %[1]s IS NULL OR %[2]s IS NULL OR %[3]s IS NULL OR %[3]s = 0 THEN NULL WHEN %[2]s = '' THEN CASE WHEN %[3]s IN (1, -1) THEN %[1]s ELSE VARCHAR '' END "+
					"ELSE coalesce(element_at(split(%[1]s, %[2]s), CAST(%[3]s AS BIGINT)), VARCHAR '') END", x, delimiter, n)
			})
		}), true
	case plan.Replace:
		from, to := constant(1), constant(2)
		if from == "" {
			return a[0], true
		}
		if len(to) <= len(from) {
			return plain(), true
		}
		return s.once(a[0], func(x string) string {
			return fmt.Sprintf("CASE WHEN length(to_utf8(%s)) <= %d THEN replace(%s, %s, %s) END", x, maxText/((len(to)+len(from)-1)/len(from)), x, a[1], a[2])
		}), true
	case plan.Like:
		return fmt.Sprintf(`(%s LIKE %s ESCAPE '\')`, a[0], trinoText(likePattern(constant(1)))), true
	case plan.Matches:
		pattern, ok := s.joni(e.Place(), constant(1))
		if !ok {
			return "NULL", true
		}
		return fmt.Sprintf("regexp_like(%s, %s)", a[0], trinoText(pattern)), true
	case plan.CodePoint: // of one character alone
		return s.once(a[0], func(x string) string {
			return fmt.Sprintf("CASE WHEN %[1]s = '' THEN 0 ELSE codepoint(CAST(substr(%[1]s, 1, 1) AS VARCHAR(1))) END", x)
		}), true
	case plan.MatchCount, plan.MatchText, plan.MatchFirst, plan.MatchEach:
		pattern, ok := s.joni(e.Place(), constant(1))
		if !ok {
			return "NULL", true
		}
		return d.matched(s, e, a, pattern), true
	}
	return "", false
}

// matched prints what tells where a pattern matches. All matches are replaced there: where the first is to be, what is before
// it is read too, as little as leads to one.
func (trino) matched(s scope, e *plan.Call, a []string, pattern string) string {
	switch e.Function {
	case plan.MatchCount:
		return fmt.Sprintf("CAST(regexp_count(%s, %s) AS INTEGER)", a[0], trinoText(pattern))
	case plan.MatchText:
		return fmt.Sprintf("regexp_extract(%s, %s, %s)", a[0], trinoText(pattern), a[2])
	}
	before, shift := "", 0
	if e.Function == plan.MatchFirst {
		pattern = `(?s)\A(.*?)((?:` + pattern + `))`
		before, shift = "$1", 2
	}
	to := before + replacement(e, func(text string) string { return strings.NewReplacer(`\`, `\\`, "$", `\$`).Replace(text) }, func(group int) string {
		if group > 0 || shift > 0 {
			group += shift
		}
		return fmt.Sprintf("$%d", group)
	})
	return s.replaced(e, a[0], "length(to_utf8(%s))", func(x string) string {
		return fmt.Sprintf("regexp_replace(%s, %s, %s)", x, trinoText(pattern), trinoText(to))
	})
}

// likePattern escapes nothing but what has a meaning: another escape raises.
func likePattern(p string) string {
	var b strings.Builder
	escaped := false
	for _, r := range p {
		switch {
		case escaped && r != '%' && r != '_' && r != '\\':
			b.WriteRune(r)
			escaped = false
		case escaped:
			b.WriteRune('\\')
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// joni writes a pattern for Trino, or refuses it.
func (s scope) joni(at diagnostic.Span, p string) (string, bool) {
	out, ok := joni(p)
	switch {
	case !ok:
		s.lacks(at, "this pattern")
	case backtracks(p):
		ok = false
		if s.err == nil {
			s.err = diagnostic.New("D106", at, "this pattern cannot be matched in %s", s.dialect.name()).
				Because("a text of 40 letters can be read in so many ways that matching it would never end").
				Try("repeat parts of which each can be read in one way: '[a-z]+( [a-z]+)*' in place of '([a-z]+ ?)+'")
		}
	}
	return out, ok
}

// joni writes a pattern of the language for the library that Trino matches with: a dot is any
// character, ^ and $ are the ends of the text alone, and in brackets nothing but a range, a
// negation and an escape means anything. Its second result is false of an escape that the library
// may read otherwise.
func joni(p string) (string, bool) {
	var b strings.Builder
	b.WriteString("(?s)")
	class, first := false, false
	runes := []rune(p)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\':
			if i++; i == len(runes) {
				return "", false
			}
			switch c := runes[i]; {
			case c == 'd' && class:
				b.WriteString("0-9")
			case c == 'd':
				b.WriteString("[0-9]")
			case c == 'n' || c == 't' || c < 0x80 && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'):
				b.WriteString(`\` + string(c))
			default:
				return "", false
			}
		case class && r == ']' && !first:
			class = false
			b.WriteRune(r)
		case class && (r == '[' || r == '&' || r == ']' || r == '^' && !first):
			b.WriteString(`\` + string(r))
		case class:
			b.WriteRune(r)
			first = first && r == '^' // of a negated class the next is the first
			continue
		case r == '[':
			class, first = true, true
			b.WriteRune(r)
			continue
		case r == '^':
			b.WriteString(`\A`)
		case r == '$':
			b.WriteString(`\z`)
		default:
			b.WriteRune(r)
		}
		first = false
	}
	return b.String(), !class
}

// trim drops the characters of a constant set from the ends.
func (trino) trim(f plan.Function, x, set string) string {
	if set == "" {
		return x
	}
	var class strings.Builder
	for _, r := range set {
		fmt.Fprintf(&class, `\x{%x}`, r)
	}
	if f != plan.TrimRight {
		x = fmt.Sprintf(`regexp_replace(%s, '\A[%s]+')`, x, &class)
	}
	if f != plan.TrimLeft {
		// Joni would look for the end from each of many blanks in turn.
		x = fmt.Sprintf(`reverse(regexp_replace(reverse(%s), '\A[%s]+'))`, x, &class)
	}
	return x
}

// substring counts from a start that may lie before the text; a negative length is an error.
func (trino) substring(s scope, a []string) string {
	wide := func(n string) string { return "CAST(" + n + " AS BIGINT)" }
	if len(a) == 2 {
		return s.once(a[1], func(start string) string { return fmt.Sprintf("substr(%s, greatest(%s, 1))", a[0], wide(start)) })
	}
	return s.once2(a[1], a[2], func(start, n string) string {
		return fmt.Sprintf("CASE WHEN %[3]s >= 0 THEN substr(%[1]s, greatest(%[2]s, 1), greatest(0, %[2]s + %[4]s - greatest(%[2]s, 1))) END", a[0], wide(start), n, wide(n))
	})
}

func (trino) concat(s scope, parts []string) string {
	return s.bounded(parts, "length(to_utf8(%s))", func(chain string) string { return chain })
}

// convert prints the conversion of x, a canonical value of type from.
func (d trino) convert(s scope, x string, from, to sqltype.Type) string {
	plain := fmt.Sprintf("CAST(%s AS %s)", x, d.typeName(to))
	kinds := [2]sqltype.Kind{from.Kind, to.Kind}
	switch {
	case from == to:
		return x
	case from.Kind == sqltype.Null && to.Kind != sqltype.IntervalKind:
		return plain
	case from.Kind == sqltype.IntervalKind || to.Kind == sqltype.IntervalKind:
		return s.lacks(nowhere, fmt.Sprintf("the conversion from %s to %s", from, to))
	case to.Kind == sqltype.Text && from.Kind != sqltype.Real: // whose text has seven digits
		return d.toText(s, x, from)
	case from.Kind == sqltype.Text:
		return d.fromText(s, x, to)
	case to.Kind == sqltype.Boolean:
		return fmt.Sprintf("(%s <> %s)", x, "CAST(0 AS "+d.typeName(from)+")")
	case from.Kind == sqltype.Boolean:
		return fmt.Sprintf("CAST(CAST(%s AS INTEGER) AS %s)", x, d.typeName(to))
	case from.IsFloat() && to.IsFloat():
		return plain
	case from.IsFloat() && to.IsInteger():
		// Half to even; Trino's cast rounds half away from zero. Beyond bigint it raises.
		whole := s.once(fmt.Sprintf("CAST(%s AS DOUBLE)", x), func(x string) string {
			even := fmt.Sprintf("floor(%[1]s) - 2 * floor(floor(%[1]s) / 2) = 0", x)
			return fmt.Sprintf("TRY_CAST(CASE WHEN %[1]s - floor(%[1]s) < 5e-1 OR %[1]s - floor(%[1]s) = 5e-1 AND %[2]s THEN floor(%[1]s) ELSE floor(%[1]s) + 1 END AS BIGINT)", x, even)
		})
		if to.Kind == sqltype.Bigint {
			return whole
		}
		return d.narrow(s, whole, to)
	case from.Kind == sqltype.DecimalKind && to.IsFloat(): // by its text: a cast rounds twice
		return fmt.Sprintf("CAST(CAST(%s AS VARCHAR) AS %s)", x, d.typeName(to))
	case from.IsInteger() && to.IsFloat():
		return plain
	case isExact(from) && isExact(to):
		return d.narrow(s, x, to)
	case kinds == [2]sqltype.Kind{sqltype.TimestampKind, sqltype.TimeKind}: // by its text: a cast goes wrong before 1970
		return s.once(s.inCalendar(x, from), func(x string) string { return fmt.Sprintf("CAST(substr(CAST(%s AS VARCHAR), 12) AS TIME(6))", x) })
	case kinds == [2]sqltype.Kind{sqltype.DateKind, sqltype.TimestampKind}, kinds == [2]sqltype.Kind{sqltype.TimestampKind, sqltype.DateKind}:
		return plain
	}
	return s.lacks(nowhere, fmt.Sprintf("the conversion from %s to %s", from, to))
}

// toText prints a value as PostgreSQL's output does.
func (d trino) toText(s scope, x string, from sqltype.Type) string {
	switch {
	case from.IsFloat():
		return d.floatText(s, x)
	case from.Kind == sqltype.DateKind:
		return fmt.Sprintf("CAST(%s AS VARCHAR)", s.inCalendar(x, from))
	case from.Kind == sqltype.TimestampKind: // six digits, of which those at the end that are 0 go
		return fmt.Sprintf(`regexp_replace(CAST(%s AS VARCHAR), '\.?0+\z')`, s.inCalendar(x, from))
	case from.Kind == sqltype.TimeKind:
		return fmt.Sprintf(`regexp_replace(CAST(%s AS VARCHAR), '\.?0+\z')`, x)
	}
	return fmt.Sprintf("CAST(%s AS VARCHAR)", x)
}

// floatText is PostgreSQL's text of a double: the shortest one, with an exponent from 10^15 on, and
// below 10^-4. Trino's own text of 2E23 is 1.9999999999999998E23. That of its format is Java's
// Double.toString, which is the shortest one, as 123.5, 0.002 or 1.0E10, but that it has two digits
// where one would do: that makes a difference below 10^-322 alone, where doubles are 4.94E-324
// apart, and each text of a nine after the point is nearer to a whole number than the next double is.
func (trino) floatText(s scope, x string) string {
	const largest = 15
	text := fmt.Sprintf(`regexp_replace(format('%%s', %s), '\A(-?)([0-9])\.9E-32([34])\z', m -> m[1] || CAST(CAST(m[2] AS BIGINT) + 1 AS VARCHAR) || '.0E-32' || m[3])`, x)
	return s.once(text, func(x string) string {
		part := func(pattern string) string { return fmt.Sprintf("regexp_extract(%s, '%s', 1)", x, pattern) }
		digits := fmt.Sprintf("replace(%s, '.')", part(`\A-?[0.]*([0-9.]*?)[0.]*(?:E-?[0-9]+)?\z`))
		exponent := fmt.Sprintf("coalesce(CAST(%s AS BIGINT), 0) + CASE WHEN %s THEN -length(%s) ELSE length(%s) - 1 END",
			part(`E(-?[0-9]+)\z`), fmt.Sprintf(`regexp_like(%s, '\A-?0\.')`, x), part(`\A-?0\.(0*[0-9])`), part(`\A-?([0-9]+)\.`))
		return s.once(digits, func(all string) string {
			return s.once(exponent, func(e string) string {
				lead, rest := fmt.Sprintf("substr(%s, 1, 1)", all), fmt.Sprintf("substr(%s, 2)", all)
				scientific := fmt.Sprintf("%[1]s || CASE WHEN %[2]s = '' THEN '' ELSE '.' || %[2]s END || CASE WHEN %[3]s < 0 THEN 'e-' ELSE 'e+' END || lpad(CAST(abs(%[3]s) AS VARCHAR), greatest(2, length(CAST(abs(%[3]s) AS VARCHAR))), '0')", lead, rest, e)
				small := fmt.Sprintf("'0.' || lpad('', -(%s) - 1, '0') || %s", e, all)
				plain := fmt.Sprintf("%[1]s || rpad(substr(%[2]s, 1, %[3]s), %[3]s, '0') || CASE WHEN length(%[2]s) > %[3]s THEN '.' || substr(%[2]s, %[3]s + 1) ELSE '' END", lead, rest, e)
				return fmt.Sprintf(`CAST(CASE WHEN starts_with(%s, '-') THEN '-' ELSE '' END || CASE WHEN %s = '' THEN '0' WHEN %s >= %d OR %s < -4 THEN %s WHEN %s < 0 THEN %s ELSE %s END AS VARCHAR)`,
					x, all, e, largest, e, scientific, e, small, plain)
			})
		})
	})
}

// fromText reads a value as PostgreSQL's input does; dates and times are ISO. The pattern comes
// first: Trino's own casts take more than PostgreSQL's.
func (d trino) fromText(s scope, x string, to sqltype.Type) string {
	inner := func(x, pattern string) string {
		return fmt.Sprintf(`regexp_extract(%s, '\A[ \t\n\r\f\x0b]*(%s)[ \t\n\r\f\x0b]*\z', 1)`, x, pattern)
	}
	const number = `[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?`
	const day, clock = `[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}`, `[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?`
	cast := func(x string) string { return fmt.Sprintf("TRY_CAST(%s AS %s)", x, d.typeName(to)) }
	switch {
	case to.Kind == sqltype.Boolean:
		return s.once(fmt.Sprintf("lower(%s)", inner(x, "[0-9a-zA-Z]+")), func(x string) string {
			return fmt.Sprintf("CASE WHEN %[1]s IN ('t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1') THEN TRUE "+
				"WHEN %[1]s IN ('f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0') THEN FALSE END", x)
		})
	case to.IsInteger():
		return cast(inner(x, "[+-]?[0-9]+"))
	case to.Kind == sqltype.DecimalKind: // a number of so many digits would be made as it is written
		return s.once(inner(x, number), func(x string) string {
			return fmt.Sprintf(`CASE WHEN length(%[1]s) > 5000 THEN NULL WHEN NOT regexp_like(%[1]s, '[eE]') OR regexp_like(%[1]s, '[eE][+-]?0*[0-9]{1,4}\z') THEN %[2]s `+
				`WHEN regexp_like(%[1]s, '[eE]-0*[0-9]{1,9}\z') OR regexp_like(%[1]s, '\A[+-]?[0.]*[eE][+]?0*[0-9]{1,9}\z') THEN CAST(0 AS %[3]s) END`, x, cast(x), d.typeName(to))
		})
	case to.IsFloat():
		return d.finite(s, cast(inner(x, number)), to)
	case to.Kind == sqltype.DateKind:
		return s.inCalendar(cast(inner(x, day)), to)
	case to.Kind == sqltype.TimeKind:
		return cast(inner(x, clock))
	case to.Kind == sqltype.TimestampKind:
		return s.inCalendar(cast(fmt.Sprintf("replace(%s, 'T', ' ')", inner(x, day+"(?:[ T]"+clock+")?"))), to)
	}
	return s.lacks(nowhere, fmt.Sprintf("the conversion from text to %s", to))
}
