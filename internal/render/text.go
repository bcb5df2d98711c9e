package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/plan"
)

// maxText bounds, in bytes, a text that || or replace makes longer: a short
// statement could double one many times over. A longer one is NULL.
const maxText = 1 << 16

// textual prints functions on text. Positions count characters from 1.
func (duckDB) textual(s scope, e *plan.Call, a []string) (string, bool) {
	switch e.Function {
	case plan.Lower, plan.Upper, plan.StartsAt:
		return fmt.Sprintf("%s(%s)", e.Function, strings.Join(a, ", ")), true
	case plan.LeftPart, plan.RightPart:
		return fmt.Sprintf("%s(%s, CAST(%s AS BIGINT))", e.Function, a[0], a[1]), true
	case plan.Length, plan.Position:
		return fmt.Sprintf("CAST(%s(%s) AS INTEGER)", e.Function, strings.Join(a, ", ")), true
	case plan.Trim, plan.TrimLeft, plan.TrimRight:
		set, _ := e.Args[1].(*plan.Literal).Value.(string)
		return trim(e.Function, a[0], set), true
	case plan.Substring:
		return s.substring(a), true
	case plan.SplitPart:
		return s.splitPart(a), true
	case plan.Replace:
		return s.replace(e, a), true
	case plan.Reverse: // by characters: reverse goes by grapheme clusters
		return s.once(a[0], func(x string) string {
			return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN coalesce(list_aggregate(list_reverse(regexp_extract_all(%s, '(?s).')), 'string_agg', ''), '') END", x, x)
		}), true
	case plan.Translate:
		return s.once(a[0], func(x string) string {
			return translated(e, "strlen("+x+")", fmt.Sprintf("translate(%s, %s, %s)", x, a[1], a[2]))
		}), true
	case plan.InitCap:
		return s.once(a[0], func(x string) string {
			words := fmt.Sprintf(`regexp_extract_all(%s, '[\p{L}\p{N}]+|[^\p{L}\p{N}]+')`, x)
			return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN coalesce(list_aggregate(list_transform(%s, lambda w: concat(upper(left(w, 1)), lower(substring(w, 2)))), 'string_agg', ''), '') END", x, words)
		}), true
	case plan.Like, plan.ILike:
		return fmt.Sprintf(`(%s %s %s ESCAPE '\')`, a[0], strings.ToUpper(string(e.Function)), a[1]), true
	case plan.Matches: // . matches a line break, ^ and $ only the ends
		return fmt.Sprintf("regexp_matches(%s, %s, 's')", a[0], a[1]), true
	case plan.IMatches:
		return fmt.Sprintf("regexp_matches(%s, %s, 'si')", a[0], a[1]), true
	case plan.CodePoint:
		return fmt.Sprintf("CAST(ascii(%s) AS INTEGER)", a[0]), true
	case plan.MatchCount:
		return fmt.Sprintf("CAST(len(regexp_extract_all(%s, %s, 0, 's')) AS INTEGER)", a[0], a[1]), true
	case plan.MatchText: // regexp_extract gives the empty text where there is no match
		return s.once(a[0], func(x string) string {
			return fmt.Sprintf("CASE WHEN regexp_matches(%[1]s, %[2]s, 's') THEN regexp_extract(%[1]s, %[2]s, %[3]s, 's') END", x, a[1], a[2])
		}), true
	case plan.MatchFirst, plan.MatchEach:
		flags := map[plan.Function]string{plan.MatchFirst: "'s'", plan.MatchEach: "'gs'"}[e.Function]
		to := replacement(e, func(text string) string { return strings.ReplaceAll(text, `\`, `\\`) }, func(group int) string { return fmt.Sprintf(`\%d`, group) })
		return s.replaced(e, a[0], "strlen(%s)", func(x string) string {
			return fmt.Sprintf("regexp_replace(%s, %s, %s, %s)", x, a[1], Literal(to, e.T), flags)
		}), true
	}
	return "", false
}

func (duckDB) concat(s scope, parts []string) string {
	return s.bounded(parts, "strlen(%s)", func(chain string) string { return "CAST(" + chain + " AS VARCHAR)" })
}

// bounded prints a chain of || with one check of its length, of which the bytes of each part are what length says.
func (s scope) bounded(parts []string, length string, typed func(chain string) string) string {
	var bind func(i int) string
	bind = func(i int) string {
		if i == len(parts) {
			lengths := make([]string, len(parts))
			for j, p := range parts {
				lengths[j] = fmt.Sprintf(length, p)
			}
			return fmt.Sprintf("CASE WHEN %s <= %d THEN %s END", strings.Join(lengths, " + "), maxText, typed(strings.Join(parts, " || ")))
		}
		return s.once(parts[i], func(x string) string {
			parts[i] = x
			return bind(i + 1)
		})
	}
	return bind(0)
}

// trim drops the characters of a constant set from the ends, by a regular
// expression: DuckDB's trim goes wrong on some sets with a space.
func trim(f plan.Function, x, set string) string {
	if set == "" {
		return x
	}
	var class strings.Builder
	for _, r := range set {
		fmt.Fprintf(&class, `\x{%x}`, r)
	}
	if f != plan.TrimRight {
		x = fmt.Sprintf("regexp_replace(%s, '^[%s]+', '')", x, &class)
	}
	if f != plan.TrimLeft {
		x = fmt.Sprintf("regexp_replace(%s, '[%s]+$', '')", x, &class)
	}
	return x
}

// substring counts from a start that may lie before the text; a negative
// length is an error.
func (s scope) substring(a []string) string {
	first := func(start string) string {
		return fmt.Sprintf("CASE WHEN %s < 1 THEN 1 ELSE CAST(%s AS BIGINT) END", start, start)
	}
	if len(a) == 2 {
		return s.once(a[1], func(start string) string { return fmt.Sprintf("substring(%s, %s)", a[0], first(start)) })
	}
	return s.once2(a[1], a[2], func(start, n string) string {
		return fmt.Sprintf("CASE WHEN %s >= 0 THEN substring(%s, %s, greatest(0, CAST(%s AS BIGINT) + CAST(%s AS BIGINT) - %s)) END",
			n, a[0], first(start), start, n, first(start))
	})
}

// splitPart counts fields from the end if n is negative; n = 0 is an error.
// Without a delimiter the text is its only field.
func (s scope) splitPart(a []string) string {
	return s.once(a[0], func(x string) string {
		return s.once2(a[1], a[2], func(delimiter, n string) string {
			return fmt.Sprintf("CASE WHEN %s <> 0 THEN CASE WHEN %s <> '' THEN split_part(%s, %s, CAST(%s AS BIGINT)) WHEN %s IS NULL THEN NULL WHEN %s IN (1, -1) THEN %s ELSE left(%s, 0) END END",
				n, delimiter, x, delimiter, n, delimiter, n, x, x)
		})
	})
}

// replace checks the longest text that may come out. Both texts are constants.
func (s scope) replace(e *plan.Call, a []string) string {
	from, _ := e.Args[1].(*plan.Literal).Value.(string)
	to, _ := e.Args[2].(*plan.Literal).Value.(string)
	out := func(x string) string { return fmt.Sprintf("replace(%s, %s, %s)", x, a[1], a[2]) }
	if len(to) <= len(from) || from == "" {
		return out(a[0])
	}
	growth := (len(to) + len(from) - 1) / len(from)
	return s.once(a[0], func(x string) string {
		return fmt.Sprintf("CASE WHEN strlen(%s) <= %d THEN %s END", x, maxText/growth, out(x))
	})
}

// translated checks the longest text that may come out of a translation: a character may take up to four bytes.
func translated(e *plan.Call, length, out string) string {
	from, _ := e.Args[1].(*plan.Literal).Value.(string)
	to, _ := e.Args[2].(*plan.Literal).Value.(string)
	sources, targets, growth := []rune(from), []rune(to), 1
	for i := range min(len(sources), len(targets)) {
		old, made := utf8.RuneLen(sources[i]), utf8.RuneLen(targets[i])
		growth = max(growth, (made+old-1)/old)
	}
	if growth == 1 {
		return out
	}
	return fmt.Sprintf("CASE WHEN %s <= %d THEN %s END", length, maxText/growth, out)
}
