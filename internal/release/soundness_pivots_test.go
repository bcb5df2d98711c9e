//go:build cgo

package release_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
)

// pivotColumns are columns of several types with values at which conditions differ, expressions over each, and constants.
var pivotColumns = []struct {
	template
	over, constants []string
}{
	{template{name: "i", typ: "integer", kind: whole, values: []string{"-1", "0", "1", "2", "3", "2147483647"}},
		[]string{"i", "i::bigint", "i::smallint", "i::double precision", "i::decimal(12,1)", "i::real", "abs(i)", "i % 2", "coalesce(i, 1)", "i + 1"}, []string{"0", "1", "2", "3", "1.5", "1e0", "2147483648"}},
	{template{name: "b", typ: "bigint", kind: whole, values: []string{"5", "6", "9007199254740992", "9007199254740993", "9223372036854775807"}},
		[]string{"b", "b::integer", "b::double precision", "b::real", "b::decimal(20,0)"}, []string{"5", "6", "9007199254740992", "9007199254740993", "9223372036854775807", "9007199254740992::double precision"}},
	{template{name: "s", typ: "text", kind: textual, values: []string{"", "a", "A", "b", "a ", " a", "ä", "a\u0308", "B", "1", "true"}},
		[]string{"s", "lower(s)", "upper(s)", "trim(s)", "s::varchar(1)", "coalesce(s, 'a')", "left(s, 1)"}, []string{"'a'", "'A'", "'b'", "'a '", "'ä'", "''", "'B'", "'1'"}},
	{template{name: "q", typ: "boolean", kind: boolean, values: []string{"false", "true"}},
		[]string{"q", "(NOT q)", "(q IS TRUE)", "(q IS NOT FALSE)", "(q IS NULL)", "coalesce(q, true)"}, []string{"true", "false"}},
	{template{name: "t", typ: "date", kind: date, values: []string{"2024-01-01", "2024-01-02", "2024-02-29", "0001-01-01"}},
		[]string{"t", "t::timestamp", "date_trunc('month', t)", "(t + 1)", "t::text::date"}, []string{"DATE '2024-01-01'", "DATE '2024-01-02'", "TIMESTAMP '2024-01-01 12:00:00'", "TIMESTAMP '2024-01-02 00:00:00'", "DATE '2024-02-01'"}},
	{template{name: "d", typ: "decimal(7,2)", kind: exact, values: []string{"0.00", "0.50", "0.51", "1.00", "1.49"}},
		[]string{"d", "d::integer", "d::double precision", "round(d)", "d::decimal(5,1)"}, []string{"0", "0.5", "0.51", "1", "0.505"}},
	{template{name: "f", typ: "double", kind: floating, values: []string{"0", "-0.0", "nan", "inf", "0.1", "0.30000000000000004", "1", "0.5"}},
		[]string{"f", "f::integer", "f::real", "f::decimal(5,1)", "f + 0.2", "f::text"}, []string{"0", "0.3", "0.1", "1", "'NaN'::double precision", "0.5"}},
}

// pivotCondition draws a condition on one column.
func pivotCondition(g *rand.Rand, of, depth int) string {
	c := pivotColumns[of]
	pick := func(from []string) string { return from[g.IntN(len(from))] }
	e := c.over[0]
	if g.IntN(3) == 0 {
		e = pick(c.over)
	}
	if depth > 0 && g.IntN(3) == 0 {
		return fmt.Sprintf("(%s %s %s)", pivotCondition(g, of, depth-1), pick([]string{"AND", "OR"}), pivotCondition(g, of, depth-1))
	}
	switch g.IntN(12) {
	case 0:
		return e + pick([]string{" IS NULL", " IS NOT NULL"})
	case 1:
		return fmt.Sprintf("%s %sIN (%s, %s)", e, pick([]string{"", "NOT "}), pick(c.constants), pick(append([]string{"NULL"}, c.constants...)))
	case 2:
		return fmt.Sprintf("%s %sBETWEEN %s AND %s", e, pick([]string{"", "NOT "}), pick(c.constants), pick(c.constants))
	case 3:
		return "NOT (" + pivotCondition(g, of, 0) + ")"
	case 4:
		if c.kind == boolean {
			return e
		}
		return fmt.Sprintf("%s %s %s", e, pick([]string{"IS DISTINCT FROM", "IS NOT DISTINCT FROM"}), pick(c.constants))
	case 5:
		return fmt.Sprintf("%s %s %s", pick(c.constants), pick([]string{"=", "<", ">="}), e)
	}
	return fmt.Sprintf("%s %s %s", e, pick([]string{"=", "=", "=", "<>", "<", "<=", ">", ">="}), pick(c.constants))
}

// pivot draws a statement with two or three columns by conditions, of which several are often of one expression, or of one another.
func pivot(g *rand.Rand) string {
	of := g.IntN(len(pivotColumns))
	form := g.IntN(4) // mostly whatever there is; or each an expression that equals a constant, or a range of the column
	var conditions, columns []string
	for range 2 + g.IntN(2) {
		next := pivotCondition(g, of, 1)
		switch c := pivotColumns[of]; form {
		case 0:
			next = c.over[g.IntN(len(c.over))] + " = " + c.constants[g.IntN(len(c.constants))]
		case 1:
			next = c.over[0] + []string{" < ", " <= ", " > ", " >= "}[g.IntN(4)] + c.constants[g.IntN(len(c.constants))]
		}
		switch last := len(conditions) - 1; {
		case last < 0:
		case g.IntN(6) == 0:
			next = "NOT (" + conditions[last] + ")"
		case g.IntN(6) == 0:
			next = "(" + conditions[last] + ") IS NOT TRUE"
		case g.IntN(6) == 0:
			next += " AND " + pivotCondition(g, g.IntN(len(pivotColumns)), 0)
		}
		conditions = append(conditions, next)
	}
	for _, c := range conditions {
		columns = append(columns, fmt.Sprintf([]string{"count(*) FILTER (WHERE %s)", "countif(%s)", "sum(CASE WHEN %s THEN 1 ELSE 0 END)", "sum((%s)::int)", "count(CASE WHEN %s THEN n END)",
			"sum(CASE WHEN %s THEN 0.1 + 0.9 ELSE 0 END)", "sum(CASE WHEN %s THEN 1 END)", "sum((CASE WHEN %s THEN 1 ELSE 0 END)::double precision)"}[g.IntN(8)], c))
	}
	return "SELECT n, " + strings.Join(columns, ", ") + " FROM t0 GROUP BY n"
}

// pivotExample has statements of which columns are said to exclude each other, so many, and rows with the values of several types at which engines could differ.
// Each row of a unit is a group of its own, so that one row that adds to two columns shows.
func pivotExample(t *testing.T, statements int) *example {
	t.Helper()
	const rows = 120
	g := rand.New(rand.NewPCG(7, 11))
	t0 := &table{name: "t0", domain: "one", bounds: fmt.Sprintf("max_groups_per_unit = %d\nmax_rows_per_group = 1\n", rows), columns: []column{
		{template: template{name: "u", typ: "integer", kind: whole}},
		{template: template{name: "n", typ: "integer", kind: whole}, declared: fmt.Sprintf(", lower = 0, upper = %d", rows-1), bounded: true},
	}}
	for _, c := range pivotColumns {
		t0.columns = append(t0.columns, column{template: c.template})
	}
	x := &example{changed: "one", tables: []*table{t0}}
	var gone []row
	for n := range rows {
		r := row{"1", fmt.Sprint(n)}
		for _, c := range pivotColumns {
			var v any
			if at := g.IntN(len(c.values) + 1); at < len(c.values) {
				v = c.values[at]
			}
			r = append(r, v)
		}
		gone = append(gone, r)
	}
	stays := slices.Replace(slices.Clone(gone[0]), 0, 1, any("2"))
	x.d, x.e = database{"t0": append(gone, stays)}, database{"t0": {stays}}
	x.text = x.catalog()
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		t.Fatal(err)
	}
	drawn, refused := 0, 0
	for len(x.statements) < statements {
		drawn++
		sql := pivot(g)
		c, err := certify(sql, cat)
		if err != nil {
			refused++
		} else if len(c.Releases[0].Exclusive) > 0 {
			x.statements = append(x.statements, sql)
		}
		if drawn == 100*statements {
			t.Fatalf("of %d statements %d are refused, and %d have columns that exclude each other", drawn, refused, len(x.statements))
		}
	}
	return x
}

// TestExclusiveOverTypes holds columns that are said to exclude each other against values of several types.
func TestExclusiveOverTypes(t *testing.T) {
	t.Parallel()
	const statements = 300
	var seen coverage
	if err := newMachines(t).check(pivotExample(t, statements), pipeline{}, &seen); err != nil {
		t.Fatal(err)
	}
	if seen.accepted < statements || seen.moved < statements*9/10 {
		t.Errorf("of %d statements %d are accepted, and %d move: the test is weak", statements, seen.accepted, seen.moved)
	}
}
