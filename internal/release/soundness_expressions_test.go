//go:build cgo

package release_test

import (
	"fmt"
	"strings"
)

// Expressions. f are the columns in scope, depth bounds the nesting.

// of lists the columns of some kinds, the unit and its like seldom.
func (s *grammar) of(f []field, ok func(kind) bool) []string {
	var out, keys []string
	for _, f := range f {
		switch {
		case !ok(f.kind):
		case strings.HasSuffix(f.sql, ".u") || strings.HasSuffix(f.sql, ".id") || strings.HasSuffix(f.sql, ".ref"):
			keys = append(keys, f.sql)
		default:
			out = append(out, f.sql)
		}
	}
	if len(out) == 0 || s.one(6) {
		return append(keys, out...)
	}
	return out
}

// late picks an element, rather the last: columns that were computed stand at
// the end.
func late[T any](g draws, of []T) T {
	if g.one(2) {
		return of[len(of)-1]
	}
	return pick(g, of)
}

func is(k kind) func(kind) bool { return func(o kind) bool { return o == k } }

func (s *grammar) any(f []field, depth int) string {
	if len(f) > 0 && !s.one(3) {
		return late(s.draws, f).sql
	}
	return pick(s.draws, []func([]field, int) string{s.number, s.text, s.condition, s.day, s.stamp})(f, depth)
}

func (s *grammar) number(f []field, depth int) string {
	columns := s.of(f, kind.number)
	leaf := func() string {
		if len(columns) > 0 && !s.one(6) {
			return late(s.draws, columns)
		}
		return pick(s.draws, []string{"1", "0", "2", "-3", "0.5", "1e10", "7::smallint", "NULL::integer"})
	}
	if depth <= 0 || s.one(2) {
		return leaf()
	}
	x := func() string { return s.number(f, depth-1) }
	switch s.n(16) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", x(), pick(s.draws, []string{"+", "-", "*", "/"}), x())
	case 2:
		return fmt.Sprintf("%s(%s)", pick(s.draws, []string{"abs", "floor", "ceil", "round", "trunc", "sign"}), x())
	case 3:
		return fmt.Sprintf("%s(%s)", pick(s.draws, []string{"sqrt", "ln", "exp", "log10"}), x())
	case 4:
		return fmt.Sprintf("power(%s, %s)", x(), pick(s.draws, []string{"2", "0.5", "-1"}))
	case 5:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", s.condition(f, depth-1), x(), x())
	case 6:
		return fmt.Sprintf("%s(%s, %s)", pick(s.draws, []string{"coalesce", "nullif", "greatest", "least"}), x(), x())
	case 7:
		return fmt.Sprintf("length(%s)", s.text(f, depth-1))
	case 8:
		return fmt.Sprintf("extract(%s FROM %s)", pick(s.draws, []string{"year", "day", "epoch", "second", "week"}), s.stamp(f, depth-1))
	case 9, 10:
		return fmt.Sprintf("(%s)::%s", x(), pick(s.draws, []string{"integer", "bigint", "double precision", "real", "numeric(9,3)", "smallint", "numeric(38,5)"}))
	case 11:
		return fmt.Sprintf("(%s)::%s", s.text(f, depth-1), pick(s.draws, []string{"integer", "double precision", "numeric(6,2)"}))
	case 12:
		return fmt.Sprintf("(%s - %s)", s.day(f, depth-1), s.day(f, depth-1))
	case 13:
		return fmt.Sprintf("((%s)::integer %% (%s)::integer)", x(), x())
	case 14:
		return fmt.Sprintf("round((%s)::numeric(20,6), %d)", x(), s.n(5)-2)
	case 15:
		if spans := s.of(f, is(span)); len(spans) > 0 {
			return fmt.Sprintf("extract(epoch FROM %s)", pick(s.draws, spans))
		}
	}
	return fmt.Sprintf("-(%s)", x())
}

func (s *grammar) text(f []field, depth int) string {
	columns := s.of(f, is(textual))
	if depth <= 0 || s.one(3) {
		if len(columns) > 0 && !s.one(5) {
			return pick(s.draws, columns)
		}
		return pick(s.draws, []string{"'a'", "''", "'ä'", "'1'", "NULL::text"})
	}
	x := func() string { return s.text(f, depth-1) }
	switch s.n(11) {
	case 0:
		return fmt.Sprintf("(%s || %s)", x(), x())
	case 1:
		return fmt.Sprintf("%s(%s)", pick(s.draws, []string{"upper", "lower", "btrim", "ltrim", "reverse"}), x())
	case 2:
		return fmt.Sprintf("%s(%s, (%s)::integer)", pick(s.draws, []string{"left", "right"}), x(), s.number(f, depth-1))
	case 3:
		return fmt.Sprintf("substring(%s, 1, 2)", x())
	case 4:
		return fmt.Sprintf("replace(%s, 'a', 'bb')", x())
	case 5:
		return fmt.Sprintf("split_part(%s, 'a', 1)", x())
	case 6, 7:
		return fmt.Sprintf("(%s)::text", s.number(f, depth-1))
	case 8:
		return fmt.Sprintf("coalesce(%s, %s)", x(), x())
	case 9:
		return fmt.Sprintf("CASE WHEN %s THEN %s END", s.condition(f, depth-1), x())
	}
	return fmt.Sprintf("(%s)::text", s.stamp(f, depth-1))
}

func (s *grammar) day(f []field, depth int) string {
	columns := s.of(f, is(date))
	if depth > 0 && s.one(3) {
		return fmt.Sprintf("(%s + (%s)::integer)", s.day(f, depth-1), s.number(f, depth-1))
	}
	if len(columns) > 0 && !s.one(6) {
		return pick(s.draws, columns)
	}
	return "DATE '2024-02-28'"
}

func (s *grammar) stamp(f []field, depth int) string {
	columns := s.of(f, is(stamp))
	if depth > 0 && s.one(3) {
		switch s.n(3) {
		case 0:
			return fmt.Sprintf("(%s + INTERVAL '1 month')", s.stamp(f, depth-1))
		case 1:
			return fmt.Sprintf("date_trunc('%s', %s)", pick(s.draws, []string{"month", "day", "year"}), s.stamp(f, depth-1))
		case 2:
			if spans := s.of(f, is(span)); len(spans) > 0 {
				return fmt.Sprintf("(%s - %s)", s.stamp(f, depth-1), pick(s.draws, spans))
			}
		}
	}
	if len(columns) > 0 && !s.one(6) {
		return pick(s.draws, columns)
	}
	if days := s.of(f, is(date)); len(days) > 0 {
		return pick(s.draws, days) + "::timestamp"
	}
	return "TIMESTAMP '2024-01-31 12:00:00'"
}

func (s *grammar) condition(f []field, depth int) string {
	columns := s.of(f, is(boolean))
	if depth <= 0 && len(columns) > 0 && s.one(2) {
		return pick(s.draws, columns)
	}
	x := func() string { return s.condition(f, depth-1) }
	switch s.n(12) {
	case 0, 1, 2:
		other := s.number(f, depth-1)
		if s.one(2) {
			other = pick(s.draws, []string{"1", "0", "2.5"})
		}
		return fmt.Sprintf("(%s %s %s)", s.number(f, depth-1), pick(s.draws, []string{"<", "=", ">=", "<>", ">"}), other)
	case 3:
		return fmt.Sprintf("(%s %s %s)", s.text(f, depth-1), pick(s.draws, []string{"=", "<", "<>"}), s.text(f, depth-1))
	case 4:
		return fmt.Sprintf("(%s IS %sNULL)", s.any(f, depth-1), pick(s.draws, []string{"", "NOT "}))
	case 5:
		return fmt.Sprintf("(%s IN (1, 2, NULL))", s.number(f, depth-1))
	case 6:
		return fmt.Sprintf("(%s LIKE '%s')", s.text(f, depth-1), pick(s.draws, []string{"a%", "_", "%"}))
	case 7:
		return fmt.Sprintf("(%s ~ '%s')", s.text(f, depth-1), pick(s.draws, []string{"^a", "[0-9]+", "."}))
	case 8:
		return fmt.Sprintf("(%s < '2024-02-01')", s.stamp(f, depth-1))
	case 9:
		return fmt.Sprintf("(%s BETWEEN 0 AND 5)", s.number(f, depth-1))
	case 10:
		if depth > 0 {
			return fmt.Sprintf("(%s %s %s)", x(), pick(s.draws, []string{"AND", "OR"}), x())
		}
	case 11:
		if depth > 0 {
			return fmt.Sprintf("(NOT %s)", x())
		}
	}
	if len(columns) > 0 {
		return pick(s.draws, columns)
	}
	return fmt.Sprintf("(%s IS DISTINCT FROM 1)", s.number(f, depth-1))
}
