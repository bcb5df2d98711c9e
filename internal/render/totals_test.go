//go:build cgo

package render_test

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Where a unit may be in every group, or there are no keys, the rows of a copy say what the query's own SQL says, of many values and of a unit that is found by a
// reference; where a condition leaves out rows, they do if groups are cut.
func TestTotalsOfEveryGroup(t *testing.T) {
	db := openDuck(t)
	db.SetMaxOpenConns(1)
	bigint, text, boolean := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Boolean)
	if _, err := db.Exec(`CREATE TABLE t AS SELECT CAST(i % 50 AS BIGINT) AS r, 'w' || hash(5 * i + 2) % 4 AS b, 'd' || hash(7 * i) % 40 AS d, CASE WHEN i % 4 > 0 THEN CAST(hash(5 * i + 3) % 21 AS BIGINT) - 7 END AS x,
		CASE WHEN i % 7 > 0 THEN hash(5 * i + 4) % 2 = 0 END AS c, CASE WHEN i % 5 = 0 THEN 9223372036854775807 WHEN i % 5 = 1 THEN -9223372036854775808 ELSE i END AS y FROM range(3000) AS r(i);
		CREATE TABLE o AS SELECT CAST(i % 45 AS BIGINT) AS k, CASE WHEN i <> 7 THEN CAST(i // 3 AS BIGINT) END AS u FROM range(48) AS r(i);
		CREATE TABLE laid AS SELECT *, dense_rank() OVER (ORDER BY discreet_unit_key) AS discreet_unit, count(*) OVER (PARTITION BY discreet_unit_key) AS discreet_unit_rows
			FROM (SELECT t.*, u AS discreet_unit_key FROM t JOIN o ON r = k WHERE u IS NOT NULL) AS t ORDER BY hash(t)`); err != nil {
		t.Fatal(err)
	}
	columns := func(all ...any) (out []*catalog.Column) {
		for i := 0; i < len(all); i += 2 {
			out = append(out, &catalog.Column{Name: all[i].(string), Type: all[i+1].(sqltype.Type)})
		}
		return out
	}
	owner := &catalog.Table{Name: "o", Columns: columns("k", bigint, "u", bigint)}
	owner.Unit = catalog.Unit{Kind: catalog.UnitColumn, Column: owner.Columns[1]}
	table := &catalog.Table{Name: "t", Columns: columns("r", bigint, "b", text, "d", text, "x", bigint, "c", boolean, "y", bigint)}
	table.Unit = catalog.Unit{Kind: catalog.UnitReference, Column: table.Columns[0], References: owner, Referred: owner.Columns[0]}
	ref := func(i int) *plan.Ref {
		return &plan.Ref{Index: i, Name: table.Columns[i].Name, T: table.Columns[i].Type}
	}
	is := func(f plan.Function, args ...plan.Expr) plan.Expr {
		return &plan.Call{Function: f, Args: args, T: boolean}
	}
	// As package rewrite finds units.
	known := &plan.Filter{Input: &plan.Scan{Table: owner}, Condition: is(plan.Not, is(plan.IsNull, &plan.Ref{Index: 1, T: bigint}))}
	joined := &plan.Join{Kind: plan.Inner, Left: &plan.Scan{Table: table}, Right: known, On: is(plan.Equal, ref(0), &plan.Ref{Index: 6, T: bigint})}
	found := &plan.Project{Input: joined, Found: table, Names: make([]string, 7)}
	for i := range table.Columns {
		found.Exprs = append(found.Exprs, ref(i))
	}
	found.Exprs = append(found.Exprs, &plan.Ref{Index: 7, T: bigint})
	some := &plan.Filter{Input: found, Condition: is(plan.Less, ref(3), &plan.Literal{Value: int64(5), T: bigint})}
	var ds []string
	for i := range 38 {
		ds = append(ds, fmt.Sprintf("d%d", i))
	}
	count := plan.Contribution{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: bigint}}
	clamped := plan.Contribution{Kind: plan.Clamped, Value: ref(3), Lower: big.NewInt(-5), Upper: big.NewInt(9)}
	added, wide := plan.Contribution{Kind: plan.Added, Value: ref(3)}, plan.Contribution{Kind: plan.Added, Value: ref(5)}
	units, of := plan.Contribution{Kind: plan.UnitCount}, plan.Contribution{Kind: plan.UnitCount, Value: ref(4)}
	for name, b := range map[string]plan.Bounded{
		"no keys":  {},
		"places":   {Keys: []plan.Expr{ref(1)}, Listed: [][]string{{"w2", "w0", "never", "w3"}}, EveryGroup: true},
		"two keys": {Keys: []plan.Expr{ref(1), ref(2)}, Listed: [][]string{{"w2", "w1"}, ds}, EveryGroup: true},
		"cut":      {Keys: []plan.Expr{ref(1)}, Listed: [][]string{{"w2", "w0", "w1", "w3"}}},
	} {
		for rows, input := range map[string]plan.Node{"all": found, "some": some} {
			for _, b.Contributions = range [][]plan.Contribution{{count}, {clamped, units}, {of, count, units}, {added}, {count, added, wide, clamped, added, wide, added, wide, clamped, added, wide, units}} {
				for _, b.MaxRows = range []int64{1, 3, 40} {
					b.Input, b.Unit, b.Names, b.MaxGroups = input, 6, make([]string, len(b.Keys)), 2
					q := released(t, &b)
					if q.Totals != nil || q.Held == nil {
						t.Fatalf("%s: the form over a copy is another's", name)
					}
					of := q.Held.Totals
					if apart := rows == "some" && name != "cut"; of == nil || apart {
						if of != nil {
							t.Fatalf("%s: few rows may be left, and all are read", name)
						}
						if !apart && (b.MaxRows == 1 || b.MaxRows == 3 && len(b.Contributions) < 12) {
							t.Fatalf("%s, %v: there is no form over copies", name, b.Contributions)
						}
						continue // a unit would take much memory
					}
					register(t, db, nil, of)
					for salt := range 2 {
						want := sortedRows(t, db, q.SQL, salt)
						for _, form := range []string{of.SQL, q.Held.SQL} {
							got := sortedRows(t, db, strings.ReplaceAll(form, `"discreet_laid_t"`, "laid"), salt)
							if len(want) == 0 || !reflect.DeepEqual(got, want) {
								t.Fatalf("%s, %s, R %d, salt %d: %.400s in SQL and %.400s in %s", name, rows, b.MaxRows, salt, want, got, form)
							}
						}
					}
				}
			}
		}
	}
}
