//go:build cgo

package release_test

import (
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
