package stability_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

const narrowCatalog = `[domains.d]
measure = "zcdp"
epsilon = 1.0
delta = 1e-7
[tables.t]
source = "t.csv"
domain = "d"
unit = "who"
max_groups_per_unit = 5
max_rows_per_group = 2
columns.who = { type = "bigint" }
columns.k = { type = "text", domain = ["a", "b", "c", "d", "e", "f"] }
columns.n = { type = "integer", lower = -6, upper = 9, step = 3 }
columns.m = { type = "decimal(6,2)", lower = 0, upper = 2, step = 0.25 }
columns.y = { type = "date", domain = ["2025-01-01", "2025-02-01", "2025-03-01"] }
columns.g = { type = "bigint", domain = [-1, 9007199254740992, 9007199254740993] }
columns.e = { type = "real", domain = [-1.0, 0.0, 0.1, 0.3] }
columns.w = { type = "boolean" }
columns.i = { type = "integer", lower = -5, upper = 20 }
columns.c = { type = "decimal(8,2)", lower = -5, upper = 20 }
columns.f = { type = "double", lower = -5, upper = 20 }
`

// Conditions that all rows meet leave out groups that can have none, and narrow what values are clamped to.
func TestConditionsNarrow(t *testing.T) {
	t.Parallel()
	c, err := catalog.Parse("catalog.toml", narrowCatalog)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ key, from, groups string }{
		{"k", "t WHERE k = 'b'", "b"},
		{"k", "t WHERE k IN ('b', 'e', 'x') AND i > 3", "b e"},
		{"k", "t WHERE k <> 'b' AND k NOT IN ('c', 'x', 'e')", "a d f"},
		{"k", "t WHERE k = 'b' OR k >= 'e'", "b e f"},
		{"k", "t WHERE k = 'b' OR i > 3", "a b c d e f"},
		{"k", "t WHERE k = 'x'", "a b c d e f"}, // there are no such groups, and some are shown
		{"k", "t WHERE NOT (k = 'b')", "a b c d e f"},
		{"q", "(SELECT who, k AS q FROM t WHERE k < 'd') AS v WHERE q > 'a'", "b c"},
		{"k", "(SELECT who, k FROM t WHERE k = 'a' UNION ALL SELECT who, k FROM t WHERE k = 'f') AS v", "a f"},
		{"t.k", "t JOIN t AS u ON t.who = u.who WHERE u.k = 'a' AND t.k < 'c'", "a b"},
		{"n", "t WHERE n BETWEEN -1 AND 5", "0 3"},
		{"n", "t WHERE n > 3 AND n < 9.5", "6 9"},
		{"n", "t WHERE n IN (3, 4, 6)", "3 6"},
		{"n", "t WHERE n = 4", "-6 -3 0 3 6 9"},
		{"n", "t WHERE 6 < n OR n < -3", "-6 -3 0 3 6 9"},
		{"m", "t WHERE m >= 1.3 AND m < 2", "1.50 1.75"},
		{"m", "t WHERE m > 1.5 AND m <= 1.755", "1.75"},
		{"y", "t WHERE y > DATE '2025-01-01'", "2025-02-01 2025-03-01"},
		{"g", "t WHERE g::double precision > 9007199254740991", "-1 9007199254740992 9007199254740993"},
		{"g", "t WHERE g >= 9007199254740993", "9007199254740993"},
		{"e", "t WHERE e = 0 OR e > 0.2", "-1 0 0.10000000149011612 0.30000001192092896"}, // which value of single precision a constant equals is not known
		{"e", "t WHERE e > 0.2", "0.30000001192092896"},
		{"w", "t WHERE w", "true"},
		{"w", "t WHERE NOT w", "false"},
	} {
		certificate, err := analyze(c, "SELECT "+test.key+", count(*) FROM "+test.from+" GROUP BY 1")
		if err != nil {
			t.Errorf("%s: %v", test.from, err)
			continue
		}
		r := certificate.Releases[0]
		groups := domainOf(r.Keys[0])
		if got := strings.Join(groups, " "); got != test.groups {
			t.Errorf("%s of %s has the groups %s, not %s", test.key, test.from, got, test.groups)
		}
		if want := min(5, int64(len(groups))); r.MaxGroups != want {
			t.Errorf("%s of %s: a unit is in %d groups, not %d", test.key, test.from, r.MaxGroups, want)
		}
	}
	for _, test := range []struct{ of, from, clamped string }{
		{"i", "t WHERE i BETWEEN 3 AND 7", "[3 7]"},
		{"i", "t WHERE i > 3 AND i < 7.5", "[4 7]"},
		{"i", "t WHERE i = 3", "[3 3]"},
		{"i", "t WHERE i IN (3, 30, 5)", "[3 5]"},
		{"i", "t WHERE i < 3 OR i = 9", "[-5 20]"},
		{"i", "t WHERE i > 3 OR i > 5", "[4 20]"},
		{"i", "t WHERE i > 30", "[-5 20]"}, // all that there are lie beyond the bounds
		{"i + 1", "t WHERE i > 3", "[5 21]"},
		{"c", "t WHERE c > 3 AND c <= 7.005", "[3.01 7.00]"},
		{"f", "t WHERE f > 3 AND f < 7.5", "[3 7.5]"},
		{"v", "(SELECT who, i * 2 AS v FROM t WHERE i < 3) AS s WHERE v > 0", "[1 4]"},
		{"CASE WHEN i > 3 THEN i ELSE 0 END", "t", "[0 20]"},
		{"CASE WHEN i < 3 THEN i WHEN c > 5 THEN 4 END", "t", "[-5 4]"},
		{"CASE WHEN i BETWEEN 0 AND 5 THEN CASE WHEN i > 2 THEN i ELSE 1 END ELSE 2 END", "t", "[1 5]"},
		{"extract(day FROM y)", "t WHERE y = DATE '2025-02-01'", "[1 31]"},
	} {
		for _, form := range []string{"SELECT sum(%s) FROM %s", "SELECT sum(%s) FILTER (WHERE %s"} {
			sql := fmt.Sprintf(form, test.of, test.from)
			if strings.Contains(form, "FILTER") {
				if !strings.HasPrefix(test.from, "t WHERE ") {
					continue
				}
				sql = fmt.Sprintf(form, test.of, strings.TrimPrefix(test.from, "t WHERE ")) + ") FROM t"
			}
			certificate, err := analyze(c, sql)
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				continue
			}
			of := certificate.Releases[0].Components[0]
			if got := fmt.Sprintf("[%s %s]", end(of.Lower), end(of.Upper)); got != test.clamped {
				t.Errorf("%s is clamped to %s, not to %s", sql, got, test.clamped)
			}
		}
	}
}

// domainOf are the values of a key's domain, as text.
func domainOf(k stability.Key) (all []string) {
	var values []sqltype.Value
	for _, d := range k.Domain {
		values = slices.AppendSeq(values, d.All(k.Expr.Type()))
	}
	slices.SortFunc(values, sqltype.Compare)
	for _, v := range values {
		all = append(all, sqltype.Format(v))
	}
	return all
}

// A drawn condition on a column of whole numbers, in words and as it is.
type drawnCondition struct {
	sql   string
	holds func(int64) bool
}

func drawCondition(t *rapid.T, column string, depth int) drawnCondition {
	constant := func() int64 { return rapid.Int64Range(-9, 24).Draw(t, "constant") }
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case kind < 3 && depth > 0:
		a, b := drawCondition(t, column, depth-1), drawCondition(t, column, depth-1)
		if kind == 0 {
			return drawnCondition{"(" + a.sql + " OR " + b.sql + ")", func(v int64) bool { return a.holds(v) || b.holds(v) }}
		}
		return drawnCondition{"(" + a.sql + " AND " + b.sql + ")", func(v int64) bool { return a.holds(v) && b.holds(v) }}
	case kind == 3:
		a := drawCondition(t, column, 0)
		return drawnCondition{"NOT (" + a.sql + ")", func(v int64) bool { return !a.holds(v) }}
	case kind == 4:
		a, b, c := constant(), constant(), constant()
		return drawnCondition{fmt.Sprintf("%s IN (%d, %d, %d)", column, a, b, c), func(v int64) bool { return v == a || v == b || v == c }}
	case kind == 5:
		a, b := constant(), constant()
		return drawnCondition{fmt.Sprintf("%s NOT IN (%d, %d)", column, a, b), func(v int64) bool { return v != a && v != b }}
	case kind == 6:
		a, b := constant(), constant()
		return drawnCondition{fmt.Sprintf("%s BETWEEN %d AND %d", column, a, b), func(v int64) bool { return a <= v && v <= b }}
	}
	a, half := constant(), rapid.SampledFrom([]string{"", ".5"}).Draw(t, "half")
	at := float64(a)
	if half != "" {
		at += map[bool]float64{true: 0.5, false: -0.5}[a >= 0]
		if a == 0 {
			at = 0.5
		}
	}
	of := rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="}).Draw(t, "comparison")
	compares := func(x, y float64) bool {
		switch of {
		case "=":
			return x == y
		case "<>":
			return x != y
		case "<":
			return x < y
		case "<=":
			return x <= y
		case ">":
			return x > y
		}
		return x >= y
	}
	if rapid.Bool().Draw(t, "mirrored") {
		return drawnCondition{fmt.Sprintf("%d%s %s %s", a, half, of, column), func(v int64) bool { return compares(at, float64(v)) }}
	}
	return drawnCondition{fmt.Sprintf("%s %s %d%s", column, of, a, half), func(v int64) bool { return compares(float64(v), at) }}
}

// A condition leaves out no group that can have rows, and none of what it leaves is outside of the domain. What it narrows values to holds those that meet it.
func TestConditionsLeaveWhatMeetsThem(t *testing.T) {
	t.Parallel()
	c, err := catalog.Parse("catalog.toml", narrowCatalog+`columns.l = { type = "integer", domain = [-7, -1, 0, 2, 3, 11, 19] }
`)
	if err != nil {
		t.Fatal(err)
	}
	domains := map[string][]int64{"n": {-6, -3, 0, 3, 6, 9}, "l": {-7, -1, 0, 2, 3, 11, 19}}
	fewer := 0
	rapid.Check(t, func(t *rapid.T) {
		column := rapid.SampledFrom([]string{"n", "l"}).Draw(t, "column")
		drawn := drawCondition(t, column, 3)
		certificate, err := analyze(c, "SELECT "+column+", count(*) FROM t WHERE "+drawn.sql+" GROUP BY 1")
		if err != nil {
			t.Fatal(err)
		}
		groups := domainOf(certificate.Releases[0].Keys[0])
		for _, v := range domains[column] {
			if drawn.holds(v) && !slices.Contains(groups, fmt.Sprint(v)) {
				t.Fatalf("%s leaves out %d: %v", drawn.sql, v, groups)
			}
		}
		for _, g := range groups {
			if !slices.ContainsFunc(domains[column], func(v int64) bool { return fmt.Sprint(v) == g }) {
				t.Fatalf("%s has a group %s, which is not in the domain", drawn.sql, g)
			}
		}
		if len(groups) < len(domains[column]) {
			fewer++
		}
		drawn = drawCondition(t, "i", 3)
		certificate, err = analyze(c, "SELECT sum(i) FROM t WHERE "+drawn.sql)
		if err != nil {
			t.Fatal(err)
		}
		lower, upper := certificate.Releases[0].Components[0].Lower.(int64), certificate.Releases[0].Components[0].Upper.(int64)
		for v := int64(-5); v <= 20; v++ {
			if drawn.holds(v) && (v < lower || v > upper) {
				t.Fatalf("%s clamps %d to [%d, %d]", drawn.sql, v, lower, upper)
			}
		}
	})
	if fewer == 0 {
		t.Error("no condition leaves out a group")
	}
}

// Conditions that would be compared with too many values narrow nothing: a statement's text decides nothing about resources.
func TestNarrowingIsBounded(t *testing.T) {
	t.Parallel()
	var values, few, many []string
	for i := range 1500 {
		values = append(values, fmt.Sprintf("\"v%d\"", i))
	}
	for i := range 3400 {
		many = append(many, fmt.Sprintf("v<>'v%d'", i%900))
	}
	few = many[:900]
	c, err := catalog.Parse("catalog.toml", narrowCatalog+"columns.v = { type = \"text\", domain = ["+strings.Join(values, ", ")+"] }\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"v", "upper(v)"} {
		for _, test := range []struct {
			conditions []string
			groups     int
		}{{few, 600}, {many, 1500}} {
			certificate, err := analyze(c, "SELECT "+key+", count(*) FROM t WHERE "+strings.Join(test.conditions, " AND ")+" GROUP BY 1")
			if err != nil {
				t.Fatal(err)
			}
			if got := len(domainOf(certificate.Releases[0].Keys[0])); got != test.groups {
				t.Errorf("%d conditions leave %d groups of %s, not %d", len(test.conditions), got, key, test.groups)
			}
		}
	}
}
