//go:build cgo

package render_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// At both ends of 64 bits, for keys of two types, and for more groups than a vector of DuckDB's has rows, forms by numbers of groups say what ranking all
// rows says; rows without a unit or with another key are none's. One unit has a third of the rows.
func TestRangesReachTheEndsOfTheirTypes(t *testing.T) {
	db := openDuck(t)
	db.SetMaxOpenConns(1)
	bigint, smallint, boolean := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Smallint), sqltype.Of(sqltype.Boolean)
	if _, err := db.Exec(`SET threads = 4; CREATE TABLE t AS SELECT CASE WHEN i % 29 > 0 THEN CASE WHEN i % 3 = 0 THEN 9223372036854775807 ELSE CAST(hash(5 * i) % 200 AS BIGINT) END END AS u,
		CASE WHEN i % 11 > 0 THEN CAST(-32768 + 720 * CAST(hash(i) % 91 AS BIGINT) AS SMALLINT) END AS s,
		CASE WHEN i % 11 = 1 THEN NULL WHEN i % 7 = 0 THEN 9223372036854775807 ELSE -9223372036854775808 + CAST(hash(i) % 4 AS BIGINT) * 2305843009213693952 END AS k,
		9223372036854775807 - CAST(hash(i + 1) % 91 AS BIGINT) AS m, CASE WHEN i % 5 = 0 THEN 9223372036854775807 WHEN i % 5 = 1 THEN -9223372036854775808 WHEN i % 5 > 2 THEN i END AS y FROM range(30000) AS r(i);
		CREATE TABLE laid AS SELECT *, dense_rank() OVER (ORDER BY u) AS discreet_unit, count(*) OVER (PARTITION BY u) AS discreet_unit_rows FROM t WHERE u IS NOT NULL ORDER BY hash(t)`); err != nil {
		t.Fatal(err)
	}
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "s", Type: smallint}, {Name: "k", Type: bigint}, {Name: "m", Type: bigint}, {Name: "y", Type: bigint}}}
	table.Unit = catalog.Unit{Kind: catalog.UnitColumn, Column: table.Columns[0]}
	ref := func(i int) plan.Expr {
		return &plan.Ref{Index: i, Name: table.Columns[i].Name, T: table.Columns[i].Type}
	}
	is := func(f plan.Function, args ...plan.Expr) plan.Expr {
		return &plan.Call{Function: f, Args: args, T: boolean}
	}
	s, k, m := &plan.Range{First: -32768, Step: 720, Count: 90}, &plan.Range{First: math.MinInt64, Step: 1 << 61, Count: 4}, &plan.Range{First: math.MaxInt64 - 89, Step: 1, Count: 90}
	count, sum := plan.Contribution{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: bigint}}, plan.Contribution{Kind: plan.Added, Value: ref(4)}
	for name, b := range map[string]plan.Bounded{
		"from the least": {Keys: []plan.Expr{ref(2)}, Ranges: []*plan.Range{k}},
		"to the most":    {Keys: []plan.Expr{ref(3)}, Ranges: []*plan.Range{m}},
		"of two types":   {Keys: []plan.Expr{ref(1), ref(3)}, Ranges: []*plan.Range{s, m}},
	} {
		b.Input, b.Names = &plan.Filter{Input: &plan.Scan{Table: table}, Condition: is(plan.Not, is(plan.IsNull, ref(0)))}, make([]string, len(b.Keys))
		for i, of := range b.Ranges { // as package rewrite leaves out others
			among := []plan.Expr{b.Keys[i]}
			for j := range of.Count {
				among = append(among, &plan.Literal{Value: of.First + j*of.Step, T: b.Keys[i].Type()})
			}
			b.Input = &plan.Filter{Input: b.Input, Condition: is(plan.In, among...)}
		}
		for _, b.Contributions = range [][]plan.Contribution{{count}, {sum, count}} {
			for _, bounds := range [][2]int64{{1, 1}, {3, 2}, {30, 20}} {
				b.MaxGroups, b.MaxRows = bounds[0], bounds[1]
				q := released(t, &b)
				forms := []string{q.SQL}
				register(t, db, q.Least, q.Totals)
				if of := q.Least; of != nil {
					forms = append(forms, of.SQL)
				}
				if of := q.Totals; of != nil {
					forms = append(forms, strings.ReplaceAll(of.SQL, `"discreet_laid_t"`, "laid"))
				}
				if bounds[0] < 30 && len(forms) < 3 {
					t.Fatalf("%s, bounds %v: there are %d forms", name, bounds, len(forms))
				}
				ranked := b
				ranked.Contributions = append(b.Contributions[:len(b.Contributions):len(b.Contributions)], plan.Contribution{Kind: plan.DistinctValues, Value: ref(4)})
				want := sortedRows(t, db, released(t, &ranked).SQL, 7)
				for i, row := range want {
					want[i] = row[:strings.LastIndexByte(row, ' ')]
				}
				for _, form := range forms {
					if got := sortedRows(t, db, form, 7); len(want) == 0 || !reflect.DeepEqual(got, want) {
						t.Errorf("%s, bounds %v: %d groups %.300s, where all rows are ranked %d, %.300s in %.900s", name, bounds, len(got), got, len(want), want, form)
					}
				}
			}
		}
	}
}
