//go:build unix

package render

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// With the server's own hash a unit alone keeps as many groups as it may, and as many rows of each; and
// what is counted of several units is what is counted of each. What breaks that is found.
func TestUnitsAreCountedAlone(t *testing.T) {
	t.Parallel()
	c := connect(t)
	ask(t, c, `CREATE TABLE t AS SELECT n * n % 31 AS u, 'g' || n * 7 % 13 AS a FROM generate_series(1, 700) AS n; ALTER TABLE t ALTER u TYPE bigint`)
	query := func(groups, rows int64) string { return counting(t, sqltype.Of(sqltype.Bigint), groups, rows) }
	for _, bounds := range [][2]int64{{1, 1}, {1, 3}, {2, 1}, {5, 2}, {11, 1000}} {
		for _, wrong := range countedAlone(t, c, query(bounds[0], bounds[1]), bounds[0], bounds[1]) {
			t.Errorf("bounds %v: %s", bounds, wrong)
		}
	}
	for what, fault := range map[string][2]string{
		"one row more":                    {"x[3:]", "x[4:]"},
		"one group more":                  {")[2] AS most", ")[3] AS most"},
		"rows for groups":                 {"(DISTINCT x", "(x"},
		"groups from the end":             {"(DISTINCT x ORDER BY x)", "(DISTINCT x ORDER BY x DESC)"},
		"rows in no order":                {"array_agg(x ORDER BY x)", "array_agg(x)"},
		"units with few groups, not many": {"most IS NULL", "most IS NOT NULL"},
		"units order groups alike":        {"<< 32", "& 0"},
		"all units are one":               {"GROUP BY u", "GROUP BY u IS NULL"},
	} {
		sql := query(2, 2)
		faulty := strings.ReplaceAll(sql, fault[0], fault[1])
		if faulty == sql {
			t.Fatalf("%s: not planted in %s", what, sql)
		}
		if len(countedAlone(t, c, faulty, 2, 2)) == 0 {
			t.Errorf("%s: not found", what)
		}
	}
}

// counting counts rows of a table t by a, which is listed but for g12, where units are of a type. There are as many groups
// as can be, and those with rows have the greatest numbers.
func counting(t *testing.T, unit sqltype.Type, groups, rows int64) string {
	t.Helper()
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: unit}, {Name: "a", Type: sqltype.Of(sqltype.Text)}}}
	var texts []string
	for i := range mostMasks*maskPlaces - 12 {
		texts = append(texts, fmt.Sprintf("never%d", i))
	}
	for i := range 12 {
		texts = append(texts, fmt.Sprintf("g%d", i))
	}
	q, err := Postgres.Release(&plan.Bounded{Input: &plan.Scan{Table: table}, Names: make([]string, 1), Keys: []plan.Expr{&plan.Ref{Index: 1, T: table.Columns[1].Type}}, Listed: [][]string{texts},
		Contributions: []plan.Contribution{{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: sqltype.Of(sqltype.Bigint)}}}, MaxGroups: groups, MaxRows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return q.SQL
}

// countedAlone says what is wrong with counts of a table's units.
func countedAlone(t *testing.T, c *pgconn.PgConn, sql string, groups, rows int64) (wrong []string) {
	t.Helper()
	counts := func(sql string) map[string]int64 {
		by := map[string]int64{}
		for _, row := range ask(t, c, sql) {
			name, count, _ := strings.Cut(row, "|")
			n, err := strconv.ParseInt(count, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			by[name] = n
		}
		return by
	}
	of := func(units string) map[string]int64 {
		return counts(strings.ReplaceAll(strings.ReplaceAll(sql, "$1", "'42'"), `FROM "t"`, `FROM (SELECT * FROM t WHERE `+units+`) AS "t"`))
	}
	all := of("true")
	if len(all) < 6 {
		wrong = append(wrong, fmt.Sprintf("all units keep the groups %v", all))
	}
	for _, unit := range ask(t, c, "SELECT DISTINCT u FROM t") {
		has, kept := counts("SELECT a, count(*) FROM t WHERE a <> 'g12' AND u = "+unit+" GROUP BY a"), of("u = "+unit)
		if len(kept) != min(len(has), int(groups)) {
			wrong = append(wrong, fmt.Sprintf("unit %s is in %d groups and keeps %d", unit, len(has), len(kept)))
		}
		for name, n := range kept {
			if n != min(has[name], rows) {
				wrong = append(wrong, fmt.Sprintf("of %d rows of unit %s in %s %d count", has[name], unit, name, n))
			}
			all[name] -= n
		}
	}
	for name, n := range all {
		if n != 0 {
			wrong = append(wrong, fmt.Sprintf("%s counts %d more than of each unit alone", name, n))
		}
	}
	return wrong
}

// Units keep any two of their groups as often as any others: if groups of all units were in one
// order, each unit beginning at another, neighbours in it would be kept together. The sum of squares has a mean of
// about 189 and a deviation of 19; its salt is fixed.
func TestGroupsOfUnitsAreInAnyOrder(t *testing.T) {
	t.Parallel()
	c := connect(t)
	for kind, unit := range map[sqltype.Kind]string{sqltype.Bigint: "u", sqltype.Integer: "u::integer", sqltype.Text: "u::text", sqltype.DateKind: "DATE '1970-01-01' + u::integer"} {
		_, hash, _ := strings.Cut(counting(t, sqltype.Of(kind), 3, 1), "(SELECT u, ")
		hash, _, _ = strings.Cut(hash, " AS x FROM")
		rows := ask(t, c, fmt.Sprintf(`WITH kept AS (SELECT u, k0 FROM (SELECT u, k0, row_number() OVER (PARTITION BY u ORDER BY %s) AS r FROM (SELECT %s AS u, k0 FROM generate_series(1::bigint, 20000) AS u, generate_series(0, 19) AS k0) AS t) AS t WHERE r <= 3)
			SELECT a.k0, b.k0, count(*) FROM kept AS a JOIN kept AS b USING (u) WHERE a.k0 < b.k0 GROUP BY 1, 2`, strings.ReplaceAll(hash, "$1", "'42'"), unit))
		squares, want := 0.0, 20000*3.0/190
		for _, row := range rows {
			n, err := strconv.ParseFloat(row[strings.LastIndexByte(row, '|')+1:], 64)
			if err != nil {
				t.Fatal(err)
			}
			squares += (n - want) * (n - want) / want
		}
		if len(rows) != 190 || squares > 290 {
			t.Errorf("units like %s: pairs of groups are kept unequally: %d, %v", unit, len(rows), squares)
		}
	}
}

// All forms of a query keep the same groups of a unit, by the server's own hash: where all rows of a group are kept, or one, as many
// rows, units and values are counted of each group. A form that orders groups by another number is found.
func TestFormsKeepTheSameGroups(t *testing.T) {
	t.Parallel()
	c := connect(t)
	ask(t, c, `CREATE TABLE t AS SELECT n * n % 31 AS u, 'g' || n * 7 % 13 AS a, n, 1::bigint AS one FROM generate_series(1, 700) AS n; ALTER TABLE t ALTER u TYPE bigint, ALTER n TYPE bigint`)
	bigint := sqltype.Of(sqltype.Bigint)
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "a", Type: sqltype.Of(sqltype.Text)}, {Name: "n", Type: bigint}, {Name: "one", Type: bigint}}}
	n, one := &plan.Ref{Index: 2, T: bigint}, &plan.Ref{Index: 3, T: bigint}
	count := plan.Contribution{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: bigint}}
	var texts []string
	for i := range 12 {
		texts = append(texts, fmt.Sprintf("g%d", i))
	}
	differ := func(edit func(sql string) string) (forms []string) {
		for _, rows := range []int64{1, 1000} {
			var want []string
			for _, form := range []struct {
				name string
				plan.Bounded
			}{
				{"rows", plan.Bounded{Contributions: []plan.Contribution{count}}},
				{"a sum", plan.Bounded{Contributions: []plan.Contribution{{Kind: plan.Added, Value: one}}}},
				{"leaves", plan.Bounded{Contributions: []plan.Contribution{count}, Bin: n}},
				{"values", plan.Bounded{Contributions: []plan.Contribution{{Kind: plan.DistinctValues, Value: n}}}},
				{"rows beside a partial sum", plan.Bounded{Contributions: []plan.Contribution{count, {Kind: plan.Clamped, Value: one, Lower: big.NewInt(0), Upper: big.NewInt(1)}}}},
				{"rows beside units", plan.Bounded{Contributions: []plan.Contribution{count, {Kind: plan.UnitCount}}}},
			} {
				b := form.Bounded
				b.Input, b.Names, b.Keys, b.Listed, b.MaxGroups, b.MaxRows = &plan.Scan{Table: table}, make([]string, 1), []plan.Expr{&plan.Ref{Index: 1, T: table.Columns[1].Type}}, [][]string{texts}, 2, rows
				q, err := Postgres.Release(&b)
				if err != nil {
					t.Fatal(err)
				}
				sql := strings.ReplaceAll(q.SQL, "$1", "'42'")
				if form.name != "rows" {
					sql = edit(sql)
				}
				got := ask(t, c, "SELECT k0, sum(x0) FROM ("+sql+") AS q GROUP BY k0 ORDER BY k0")
				if form.name == "rows" {
					want = got
				} else if !reflect.DeepEqual(got, want) {
					forms = append(forms, fmt.Sprintf("%s, R %d: %v, counted %v", form.name, rows, got, want))
				}
			}
		}
		return forms
	}
	if wrong := differ(func(sql string) string { return sql }); wrong != nil {
		t.Errorf("other groups are kept: %s", strings.Join(wrong, "\n"))
	}
	for fault, least := range map[[2]string]int{{"<< 32", "<< 31"}: 10, {"'42'", "'43'"}: 10} {
		if wrong := differ(func(sql string) string { return strings.ReplaceAll(sql, fault[0], fault[1]) }); len(wrong) < least {
			t.Errorf("%s: found in %v alone", fault[1], wrong)
		}
	}
}
