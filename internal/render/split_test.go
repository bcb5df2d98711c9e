//go:build unix

package render

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/sqltype"
)

func connect(t *testing.T) *pgconn.PgConn {
	c, err := pgconn.Connect(t.Context(), postgrestest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(t.Context()) })
	return c
}

func ask(t *testing.T, c *pgconn.PgConn, sql string) (rows []string) {
	t.Helper()
	results, err := c.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	for _, row := range results[len(results)-1].Rows {
		var cells []string
		for _, cell := range row {
			text := string(cell)
			if cell == nil {
				text = "0" // what adds nothing
			}
			cells = append(cells, text)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows
}

// Bounding only the units that a bound cuts is bounding all: a contribution that looks at
// distinct values brings the form back that ranks every row, and what the others add is the
// same. Rows of the table reach and pass both bounds; some units have every group.
func TestOnlyUnitsThatAreCutAreBounded(t *testing.T) {
	t.Parallel()
	c := connect(t)
	ask(t, c, `CREATE TABLE t AS SELECT n, (mix * mix % 97) % 40 AS u, 'it''s ' || mix * 7 % 67 AS a, 'w' || mix % 4 AS b, CASE WHEN n % 9 > 0 THEN mix % 21 - 10 END AS x,
		CASE WHEN n % 7 > 0 THEN mix % 2 = 0 END AS c, mix % 3 AS k FROM (SELECT n, n * 7919 % 1009 + n % 13 AS mix FROM generate_series(1, 900) AS n) AS s;
		INSERT INTO t SELECT 1000 + n, 100 + n % 50, 'it''s ' || n / 50, 'w' || n % 3, n % 5, n % 2 = 0, n % 2 FROM generate_series(1, 150) AS n;
		ALTER TABLE t ALTER u TYPE bigint, ALTER x TYPE bigint, ALTER k TYPE bigint, ALTER a TYPE text COLLATE "C", ALTER b TYPE text COLLATE "C"`)
	cutUnits(t, Postgres, "unnest(", 80, [][2]int64{{1, 1}, {3, 2}, {3, 4}, {2, 1000}, {100, 3}}, func(sql string) []string { return ask(t, c, strings.ReplaceAll(sql, "$1", "'42'")) })
}

// cutUnits holds a dialect's form, which has that mark, against the one that ranks every row.
func cutUnits(t *testing.T, dialect Dialect, mark string, least int, bounding [][2]int64, ask func(sql string) []string) {
	bigint, text, boolean := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Boolean)
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "a", Type: text}, {Name: "b", Type: text},
		{Name: "x", Type: bigint}, {Name: "c", Type: boolean}, {Name: "k", Type: bigint}}}
	ref := func(i int) plan.Expr {
		return &plan.Ref{Index: i, Name: table.Columns[i].Name, T: table.Columns[i].Type}
	}
	one := &plan.Literal{Value: int64(1), T: bigint}
	var as []string
	for i := range 67 {
		if i != 5 { // which is in rows, and dropped
			as = append(as, fmt.Sprintf("it's %d", i))
		}
	}
	bs := []string{"w2", "w0", "w3", "never"}
	count, sum := plan.Contribution{Kind: plan.Added, Value: one}, plan.Contribution{Kind: plan.Added, Value: ref(3)}
	clamped := plan.Contribution{Kind: plan.Clamped, Value: ref(3), Lower: big.NewInt(-12), Upper: big.NewInt(7)}
	whole := 0
	for name, b := range map[string]plan.Bounded{
		"no key":        {},
		"places":        {Keys: []plan.Expr{ref(2)}, Listed: [][]string{bs}},
		"many places":   {Keys: []plan.Expr{ref(1)}, Listed: [][]string{as}},
		"two keys":      {Keys: []plan.Expr{ref(2), ref(1)}, Listed: [][]string{bs[:3], as}},
		"a set":         {Keys: []plan.Expr{ref(2), ref(1)}, Listed: [][]string{bs[:3], as}, Shown: []int{1}},
		"no set":        {Keys: []plan.Expr{ref(2)}, Listed: [][]string{bs}, Shown: []int{}},
		"no list":       {Keys: []plan.Expr{ref(5)}, EveryGroup: true},
		"text unlisted": {Keys: []plan.Expr{ref(1), ref(4)}},
		"some listed":   {Keys: []plan.Expr{ref(2), ref(5)}, Listed: [][]string{bs, nil}, EveryGroup: true},
		"every group":   {Keys: []plan.Expr{ref(2)}, Listed: [][]string{bs}, EveryGroup: true},
		"beside a tree": {Keys: []plan.Expr{ref(2)}, Listed: [][]string{bs}, Bin: ref(5)},
	} {
		b.Input, b.Names = &plan.Scan{Table: table}, make([]string, len(b.Keys))
		for _, contributions := range [][]plan.Contribution{{count}, {sum}, {sum, count}, {sum, clamped, {Kind: plan.UnitCount}, {Kind: plan.UnitCount, Value: ref(4)}}} {
			if dialect == Trino && (len(contributions) > 2 || contributions[0].Value != one && len(contributions) == 1 || b.Bin != nil) {
				continue // all rows are ranked, or a query, which takes longer there, would show nothing new
			}
			if b.Bin != nil && (len(contributions) > 1 || contributions[0].Value != one) {
				continue // a tree has its own query, which counts
			}
			for _, bounds := range bounding {
				split, ranked := b, b
				split.MaxGroups, split.MaxRows, split.Contributions = bounds[0], bounds[1], contributions
				ranked.MaxGroups, ranked.MaxRows = bounds[0], bounds[1]
				ranked.Contributions = append(contributions[:len(contributions):len(contributions)], plan.Contribution{Kind: plan.DistinctValues, Value: ref(3)})
				keys := len(b.Keys)
				if b.Shown != nil {
					keys = len(b.Shown)
				}
				answer := func(b *plan.Bounded) (rows []string, marked bool) {
					q, err := dialect.Compared(b)
					if err != nil {
						t.Fatal(err)
					}
					columns := make([]string, keys+len(contributions))
					if b.Bin != nil {
						columns = append(columns, "")
					}
					for i := range columns {
						columns[i] = strconv.Itoa(i + 1)
					}
					names := "c" + strings.Join(columns, ", c")
					if len(b.Contributions) > len(contributions) {
						names += ", more"
					}
					return ask(fmt.Sprintf("SELECT c%s FROM (%s) AS q(%s) ORDER BY %s", strings.Join(columns, ", c"), q.SQL, names, strings.Join(columns, ", "))), strings.Contains(q.SQL, mark)
				}
				got, marked := answer(&split)
				if marked {
					whole++
				}
				want, _ := answer(&ranked)
				if b.Bin != nil { // a place of a tree at which nothing is kept can be left out
					want = slices.DeleteFunc(want, func(row string) bool { return strings.HasSuffix(row, "|0") })
				}
				if len(got) == 0 || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %v, bounds %v: bounding some units gives\n%v, bounding all\n%v", name, contributions, bounds, got, want)
				}
			}
		}
	}
	if whole < least {
		t.Errorf("only %d of the queries bound some units alone", whole)
	}
}

// A half is rounded away from zero, and no other number is moved past its neighbour.
func TestHalvesAreRoundedAwayFromZero(t *testing.T) {
	t.Parallel()
	c := connect(t)
	xs := []float64{0, 0.5, 1.5, 2.5, 0x1p-1074, 0x1p51 + 0.5, 0x1p52 - 0.5, 0x1p52, 0x1p52 + 1, 0x1p53 + 2, 0x1p62, 0x1p90, math.MaxFloat64}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		xs = append(xs, math.Ldexp(random.Float64(), random.IntN(60)), math.Floor(math.Ldexp(random.Float64(), random.IntN(53)))+0.5)
	}
	var values []string
	all := make([]float64, 0, 6*len(xs))
	for _, x := range xs {
		for _, y := range []float64{x, math.Nextafter(x, 0), math.Nextafter(x, math.MaxFloat64)} {
			all = append(all, y, -y)
		}
	}
	for _, x := range all {
		values = append(values, fmt.Sprintf("('%s'::float8)", strconv.FormatFloat(x, 'g', -1, 64)))
	}
	got := ask(t, c, "SET extra_float_digits = 1; SELECT "+awayFromZero("x")+" FROM (VALUES "+strings.Join(values, ", ")+") AS v(x)")
	for i, x := range all {
		if y, err := strconv.ParseFloat(got[i], 64); err != nil || y != math.Round(x) {
			t.Errorf("%v is rounded to %s, %v", x, got[i], err)
		}
	}
}
