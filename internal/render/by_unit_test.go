//go:build cgo

package render_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb/least"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// One grouping by unit says what two groupings say, of every kind of contribution that it knows: rows of the table reach and pass all
// bounds. What it does not know it leaves. Each time another salt is drawn, and one of the orders of copies; with DISCREET_SOAK
// all orders under two salts.
func TestOneGroupingSaysWhatTwoSay(t *testing.T) {
	db := openDuck(t)
	db.SetMaxOpenConns(1)
	bigint, text, boolean := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Boolean)
	if _, err := db.Exec(`CREATE TABLE t AS SELECT CAST(hash(5 * i) % 60 AS BIGINT) AS u, CASE WHEN i % 11 > 0 THEN 'it''s ' || hash(5 * i + 1) % 40 END AS a, 'w' || hash(5 * i + 2) % 4 AS b,
		CASE WHEN i % 4 > 0 THEN CAST(hash(5 * i + 3) % 21 AS BIGINT) - 7 END AS x, CASE WHEN i % 7 > 0 THEN hash(5 * i + 4) % 2 = 0 END AS c,
		CASE WHEN i % 5 = 0 THEN 9223372036854775807 WHEN i % 5 = 1 THEN -9223372036854775808 ELSE i END AS y,
		'd' || hash(7 * i) % 310 AS d FROM range(3000) AS t(i)`); err != nil {
		t.Fatal(err)
	}
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "a", Type: text}, {Name: "b", Type: text},
		{Name: "x", Type: bigint}, {Name: "c", Type: boolean}, {Name: "y", Type: bigint}, {Name: "d", Type: text}}}
	table.Unit = catalog.Unit{Kind: catalog.UnitColumn, Column: table.Columns[0]}
	// Of a copy rows come in any order, those of a unit together or not.
	orders := []string{"u", "i", "hash(i)"}
	for i, order := range orders {
		if _, err := db.Exec(fmt.Sprintf(`CREATE TABLE laid_%d AS SELECT *, dense_rank() OVER (ORDER BY u) AS discreet_unit, count(*) OVER (PARTITION BY u) AS discreet_unit_rows FROM
			(SELECT *, row_number() OVER () AS i FROM t) ORDER BY %s`, i, order)); err != nil {
			t.Fatal(err)
		}
	}
	ref := func(i int) plan.Expr {
		return &plan.Ref{Index: i, Name: table.Columns[i].Name, T: table.Columns[i].Type}
	}
	var as []string
	for i := range 40 {
		if i != 5 { // which is in rows, and dropped
			as = append(as, fmt.Sprintf("it's %d", i))
		}
	}
	var ds []string // more than are looked for one by one
	for i := range 300 {
		ds = append(ds, fmt.Sprintf("d%d", i))
	}
	bs := []string{"w2", "w0", "never", "w3"}
	count := plan.Contribution{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: bigint}}
	clamped := plan.Contribution{Kind: plan.Clamped, Value: ref(3), Lower: big.NewInt(-5), Upper: big.NewInt(9)}
	apart := plan.Contribution{Kind: plan.Clamped, Value: ref(3), Lower: big.NewInt(3), Upper: big.NewInt(9)} // from what adds nothing
	wide := plan.Contribution{Kind: plan.Clamped, Value: ref(5), Lower: new(big.Int).Lsh(big.NewInt(-1), 63), Upper: new(big.Int).Lsh(big.NewInt(3), 62)}
	added := plan.Contribution{Kind: plan.Added, Value: ref(3)}
	units, some := plan.Contribution{Kind: plan.UnitCount}, plan.Contribution{Kind: plan.UnitCount, Value: ref(4)}
	keyed := map[string]plan.Bounded{
		"places":      {Keys: []plan.Expr{ref(2)}, Listed: [][]string{bs}},
		"many places": {Keys: []plan.Expr{ref(1)}, Listed: [][]string{as}},
		"most places": {Keys: []plan.Expr{ref(6)}, Listed: [][]string{ds}},
		"two keys":    {Keys: []plan.Expr{ref(2), ref(1)}, Listed: [][]string{bs[:3], as}},
		"numbers":     {Keys: []plan.Expr{ref(3)}, Ranges: []*plan.Range{{First: -3, Step: 2, Count: 6}}},
		"both":        {Keys: []plan.Expr{ref(3), ref(2)}, Listed: [][]string{nil, bs[:3]}, Ranges: []*plan.Range{{First: -3, Step: 1, Count: 13}, nil}},
		"a set":       {Keys: []plan.Expr{ref(2), ref(1)}, Listed: [][]string{bs[:3], as}, Shown: []int{1}},
		"no set":      {Keys: []plan.Expr{ref(2)}, Listed: [][]string{bs}, Shown: []int{}},
	}
	for name, b := range keyed {
		b.Input, b.Names = &plan.Scan{Table: table}, make([]string, len(b.Keys))
		if name == "two keys" { // of some of some rows, among columns in another order
			b.Input = &plan.Filter{Input: b.Input, Condition: &plan.Call{Function: plan.Less, Args: []plan.Expr{ref(0), &plan.Literal{Value: int64(50), T: bigint}}, T: boolean}}
			b.Input = &plan.Project{Input: &plan.Filter{Input: b.Input, Condition: &plan.Call{Function: plan.Or, Args: []plan.Expr{ref(4), &plan.Call{Function: plan.IsNull, Args: []plan.Expr{ref(3)}, T: boolean}}, T: boolean}},
				Exprs: []plan.Expr{ref(0), ref(1), ref(2), ref(3), ref(4), ref(5)}, Names: make([]string, 6)}
		}
		if b.Ranges != nil { // as package rewrite leaves out others
			among := []plan.Expr{ref(3)}
			for i := range b.Ranges[0].Count {
				among = append(among, &plan.Literal{Value: b.Ranges[0].First + i*b.Ranges[0].Step, T: bigint})
			}
			b.Input = &plan.Filter{Input: b.Input, Condition: &plan.Call{Function: plan.In, Args: among, T: boolean}}
		}
		for _, b.Contributions = range [][]plan.Contribution{{count}, {clamped}, {apart, count, wide}, {units, count, some}, {wide, some, clamped, count, units}, {added}, {clamped, added, count}, {added, added, some}} {
			for _, bounds := range [][2]int64{{1, 1}, {2, 2}, {3, 30}, {4, 254}} {
				b.MaxGroups, b.MaxRows = bounds[0], bounds[1]
				q := released(t, &b)
				if b.Shown != nil && slices.ContainsFunc(b.Contributions, func(c plan.Contribution) bool { return c.Kind == plan.UnitCount }) {
					if q.Least != nil {
						t.Errorf("%s: units of several groups that are shown as one are counted in each", name)
					}
					continue
				}
				if q.Least == nil {
					t.Fatalf("%s, %v: there is no form", name, b.Contributions)
				}
				register(t, db, q.Least, q.Totals)
				// Both, and package least, order a unit's groups by the first 39 bits of one hash, and then by their numbers, so that which of them is asked decides nothing.
				shifted, whole := fmt.Sprint(int64(math.MaxInt64)&^(1<<24-1)), fmt.Sprint(uint64(math.MaxUint64)>>25<<25)
				if !strings.Contains(q.Least.SQL, shifted) || !strings.Contains(q.SQL, shifted) && !strings.Contains(q.SQL, whole) {
					t.Fatalf("groups are ordered by other bits in %s and %s", q.SQL, q.Least.SQL)
				}
				namesAreReserved(t, q.SQL)
				namesAreReserved(t, q.Least.SQL)
				forms := []string{q.Least.SQL}
				if q.Totals != nil {
					namesAreReserved(t, q.Totals.SQL)
					drawn := rand.IntN(len(orders))
					for i := range orders {
						if i != drawn && !soak() {
							continue
						}
						forms = append(forms, strings.ReplaceAll(q.Totals.SQL, `"discreet_laid_t"`, fmt.Sprintf("laid_%d", i)))
					}
				} else if bounds[1] < 254 {
					t.Fatalf("%s, %v: there is no form over copies", name, b.Contributions)
				}
				salts := []int{rand.IntN(1 << 30), rand.IntN(1 << 30)}
				if !soak() {
					salts = salts[:1]
				}
				for _, salt := range salts {
					want := sortedRows(t, db, q.SQL, salt)
					for _, form := range forms {
						if got := sortedRows(t, db, form, salt); len(want) == 0 || !reflect.DeepEqual(got, want) {
							t.Fatalf("%s, bounds %v, salt %d: %.400s in two groupings and %.400s in %s", name, bounds, salt, want, got, form)
						}
					}
				}
			}
		}
	}
	places := keyed["places"]
	places.Input, places.Names, places.MaxGroups, places.MaxRows = &plan.Scan{Table: table}, []string{"k"}, 3, 2
	for name, change := range map[string]func(b *plan.Bounded){
		"values of another type": func(b *plan.Bounded) { b.Contributions = []plan.Contribution{{Kind: plan.Added, Value: ref(4)}} },
		"distinct values": func(b *plan.Bounded) {
			b.Contributions = []plan.Contribution{{Kind: plan.DistinctValues, Value: ref(3)}}
		},
		"more rows than are counted": func(b *plan.Bounded) { b.MaxRows = 255 },
		"more groups than are held":  func(b *plan.Bounded) { b.MaxGroups = 65 },
		"every group":                func(b *plan.Bounded) { b.EveryGroup = true },
		"every row":                  func(b *plan.Bounded) { b.Whole = true },
		"keys without a list":        func(b *plan.Bounded) { b.Listed = nil },
		"many values":                func(b *plan.Bounded) { b.Contributions = []plan.Contribution{clamped, clamped, clamped, clamped} },
	} {
		b := places
		b.Contributions = []plan.Contribution{count}
		if released(t, &b).Least == nil {
			t.Fatal("there is no form")
		}
		change(&b)
		if q := released(t, &b); q.Least != nil {
			t.Errorf("%s: there is a form: %s", name, q.Least.SQL)
		}
	}
	places.Contributions = []plan.Contribution{count}
	for rows, want := range map[int64]bool{least.MostRows: true, least.MostRows + 1: false} { // more are refused
		if places.MaxRows = rows; (released(t, &places).Totals != nil) != want {
			t.Errorf("%d rows: there is a form over copies: %t", rows, !want)
		}
	}
}
