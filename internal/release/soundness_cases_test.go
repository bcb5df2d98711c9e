//go:build cgo

package release_test

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestSoundnessCases holds the certificate against databases that once broke
// it, each the smallest of its kind.
func TestSoundnessCases(t *testing.T) {
	byName := map[string]template{}
	for _, c := range templates {
		byName[c.name] = c
	}
	columns := func(names ...string) (out []column) {
		for _, n := range names {
			c := byName[n]
			if n == "u" || n == "id" || n == "ref" {
				c = template{name: n, typ: "bigint", kind: whole}
			}
			out = append(out, column{template: c})
		}
		return out
	}
	public := &table{name: "p0", public: true, columns: columns("i", "s")}
	rows := func(name string) *table {
		return &table{name: name, domain: "one", unit: unitRow, columns: columns("i", "s")}
	}
	visits := &table{name: "t0", domain: "one", bounds: "max_groups_per_unit = 1\nmax_rows_per_group = 1\n", columns: columns("u", "i", "s")}
	broad := &table{name: "t0", domain: "one", bounds: "max_groups_per_unit = 5\nmax_rows_per_group = 1\n", columns: columns("u", "i", "s")}
	doubled := []row{{"1", "a"}, {"1", "b"}, {"2", "A"}, {"2", "ä"}}
	many := []row{{"1", "a"}, {"2", "b"}, {"2", "c"}, {"1", "d"}, {"2", "e"}, {"1", "f"}, {"1", "g"}, {"2", "h"}}
	cases := []struct {
		name      string
		statement string
		tables    []*table
		d, e      database
	}{
		{
			// The unmatched rows of both sides are rows of the unit.
			"a FULL JOIN of one row a unit with one row a unit",
			"SELECT count(*) FROM (SELECT u, count(*) AS n FROM t0 GROUP BY u) AS a FULL JOIN (SELECT u, count(*) AS n FROM t0 GROUP BY u) AS b ON a.u = b.u AND a.n < b.n",
			[]*table{public, visits},
			database{"t0": {{"1", "1", "a"}}}, database{},
		},
		{
			// A row is told from others by its number, which depends on them: it
			// must have no say in which of the row's copies are kept.
			"copies of rows that are units",
			"SELECT p.s, count(*) FROM t1 AS t JOIN p0 AS p ON t.i = p.i GROUP BY p.s",
			[]*table{public, rows("t1")},
			database{"p0": doubled, "t1": many},
			database{"p0": doubled, "t1": many[1:]},
		},
		{
			"rows of two tables that are units each",
			"SELECT p.s, count(*) FROM (SELECT i, s FROM t1 UNION ALL SELECT i, s FROM t2) AS t JOIN p0 AS p ON t.i = p.i GROUP BY p.s",
			[]*table{public, rows("t1"), rows("t2")},
			database{"p0": doubled, "t1": many, "t2": many},
			database{"p0": doubled, "t1": many[1:], "t2": many},
		},
		{
			// The statement's bound holds, not the five groups that the owner allows.
			"a bound that the statement tightens",
			"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, max_groups_contributed = 2) i, count(*) FROM t0 GROUP BY i",
			[]*table{public, broad},
			database{"t0": {{"1", "1", "a"}, {"1", "2", "a"}, {"1", "3", "a"}, {"1", "4", "b"}, {"2", "2", "a"}}}, database{"t0": {{"2", "2", "a"}}},
		},
	}
	for _, op := range []string{"INTERSECT", "EXCEPT"} { // a unit's rows are compared with its own alone, NULL with NULL
		cases = append(cases, struct {
			name      string
			statement string
			tables    []*table
			d, e      database
		}{op, "SELECT count(*), count(DISTINCT u) FROM (SELECT u, s FROM t0 " + op + " SELECT u, s FROM t0 WHERE i > 1) AS a", []*table{public, broad},
			database{"t0": {{"1", "1", "a"}, {"1", "2", "a"}, {"1", "3", nil}, {"1", "1", "b"}, {"2", "1", "a"}, {"2", "0", nil}, {"3", "1", "a"}, {"4", "0", "a"}}},
			database{"t0": {{"2", "1", "a"}, {"2", "0", nil}, {"3", "1", "a"}, {"4", "0", "a"}}}})
	}
	m := newMachines(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			x := &example{tables: c.tables, d: c.d, e: c.e, changed: "one", statements: []string{c.statement}}
			x.text = x.catalog()
			var seen coverage
			if err := m.check(x, pipeline{}, &seen); err != nil {
				t.Errorf("%v\n%s", err, x)
			}
			if seen.accepted == 0 {
				t.Errorf("the statement is refused: %v", seen.refused)
			}
			if c.name != "INTERSECT" && c.name != "EXCEPT" {
				return
			}
			offUnit := eachNode(func(n plan.Node) plan.Node { // the condition compares the other column alone
				if j, ok := n.(*plan.Join); ok {
					if and, ok := j.On.(*plan.Call); ok && and.Function == plan.And {
						return &plan.Join{Kind: j.Kind, Left: j.Left, Right: j.Right, On: &plan.Literal{Value: true, T: sqltype.Of(sqltype.Boolean)}}
					}
				}
				return n
			})
			if err := m.check(x, pipeline{planted: true, plan: offUnit}, &seen); err == nil {
				t.Error("rows of other units decide which rows there are, and it is not caught")
			}
		})
	}
}

// A form over copies is found wrong where it bounds too little: of a unit with more rows, in more groups, than it may have, with a greater sum.
func TestFaultsOverCopiesAreCaught(t *testing.T) {
	laidTable := &table{name: "t0", domain: "one", bounds: "max_groups_per_unit = 2\nmax_rows_per_group = 2\n", columns: []column{
		{template: template{name: "u", typ: "bigint", kind: whole}},
		{template: template{name: "s", typ: "text", kind: textual}, declared: `, domain = ["a", "b", "c"]`},
		{template: template{name: "i", typ: "bigint", kind: whole}, declared: ", lower = 0, upper = 10"},
		{template: template{name: "n", typ: "bigint", kind: whole}, declared: ", lower = 0, upper = 10, sum_lower = 0, sum_upper = 12"},
	}}
	rest := []row{{"2", "a", "3", "4"}, {"2", nil, "3", "4"}, {"3", "other", "3", "4"}, {"4", "c", nil, nil}}
	all := rest[:len(rest):len(rest)]
	for i := range 15 {
		all = append(all, row{"1", "abc"[i%3 : i%3+1], "10", "10"})
	}
	m := newMachines(t)
	for fault, of := range map[string]struct {
		statement string
		pipeline  pipeline
	}{
		"none of counts":          {"SELECT s, count(*) FROM t0 GROUP BY s", pipeline{}},
		"none of sums":            {"SELECT s, sum(i) FROM t0 WHERE u < 9 GROUP BY s", pipeline{}},
		"none of partial sums":    {"SELECT s, sum(n) FROM t0 GROUP BY s", pipeline{}},
		"more groups":             {"SELECT s, count(*) FROM t0 GROUP BY s", pipeline{totals: replaceTotals(`(discreet_totals_\d_\d\(')\d+ `, "${1}900 ")}},
		"more rows":               {"SELECT s, count(*) FROM t0 GROUP BY s", pipeline{totals: replaceTotals(`(discreet_totals_\d_\d\('\d+) \d+ `, "${1} 900 ")}},
		"more rows of values":     {"SELECT s, sum(i) FROM t0 WHERE u < 9 GROUP BY s", pipeline{totals: replaceTotals(`(discreet_totals_\d_\d\('\d+) \d+ `, "${1} 900 ")}},
		"no clamp":                {"SELECT s, sum(n) FROM t0 GROUP BY s", pipeline{totals: replaceTotals(`c(\d):-?\d+:-?\d+`, "c$1:-999999999999999:999999999999999")}},
		"a unit is cut into rows": {"SELECT s, count(*) FROM t0 GROUP BY s", pipeline{totals: replaceTotals(`"?discreet_unit"? AS n, "?discreet_unit_rows"? AS m`, "row_number() OVER () AS n, CAST(1 AS BIGINT) AS m")}},
	} {
		t.Run(fault, func(t *testing.T) {
			x := &example{tables: []*table{laidTable}, d: database{"t0": all}, e: database{"t0": rest}, changed: "one", statements: []string{of.statement}}
			x.text = x.catalog()
			var seen coverage
			planted := of.pipeline.totals != nil
			of.pipeline.planted = planted
			err := m.check(x, of.pipeline, &seen)
			if v, ok := errors.AsType[*violation](err); planted != ok || err != nil && !ok || seen.queries == 0 {
				t.Errorf("%v, %v, %d queries: %v", err, v, seen.queries, seen.refused)
			}
		})
	}
}
