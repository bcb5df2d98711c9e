//go:build cgo

package duckdb_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// A query is asked by its function where it names one, each time, and otherwise, or where that fails, by its own SQL.
func TestQueriesByUnit(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"t.parquet": "SELECT * FROM (VALUES (1::BIGINT, 5::BIGINT), (1, 6), (2, 7)) AS t(u, x)"})
	e := open(t, severalOf(t, dir, "t.parquet", `u = { type = "bigint" }`, `x = { type = "bigint" }`), duckdb.Options{})
	own := "SELECT CAST(-1 AS HUGEINT) AS x0 FROM t LIMIT 1"
	byUnit := func(groups, values int) *engine.Least {
		return &engine.Least{Groups: groups, Values: values, SQL: fmt.Sprintf("SELECT CAST(sum(len(kept)) AS HUGEINT) AS x0 FROM (SELECT discreet_least_%d_%d(x << 8) AS kept FROM t GROUP BY u) AS t", groups, values)}
	}
	ask := func(l *engine.Least) int64 {
		x, err := e.Exact(t.Context(), engine.Query{SQL: own, Least: l, Tables: []string{"t"}, Values: 1})
		if err != nil {
			t.Error(err)
			return 0
		}
		return x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64()
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				if got := ask(byUnit(1, 0)); got != 2 {
					t.Errorf("one group of each unit: %d groups", got)
				}
				if got := ask(byUnit(2, 0)); got != 3 {
					t.Errorf("two groups of each unit: %d groups", got)
				}
			}
		})
	}
	all.Wait()
	for name, l := range map[string]*engine.Least{
		"none": nil, "a shape that there is not": byUnit(1, 9), "another call": {Groups: 3, SQL: byUnit(4, 0).SQL}, "no SQL": {Groups: 1, SQL: "SELECT"},
	} {
		if got := ask(l); got != -1 {
			t.Errorf("%s: the answer is %d", name, got)
		}
	}
}

// A query over a table with a copy is asked by the form that reads copies, while there is one of the files as they are; the table has the declared columns
// alone. Of files without a copy it is asked as ever.
func TestQueriesOverCopies(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	path := filepath.Join(dir, "t.parquet")
	write := func(more string) {
		execute(t, "COPY (FROM (VALUES (3, 1.5), (1, 2), (2, NULL), (1, 4)"+more+") AS r(u, v)) TO '"+path+"' (FORMAT parquet)")
	}
	write("")
	c := unitsOf(t, dir, "t.parquet")
	options := duckdb.Restless(duckdb.Options{Threads: 2, Lazy: true, Copies: folder}, restless)
	q := engine.Query{SQL: "SELECT CAST(-count(*) AS HUGEINT) AS x0 FROM t", Tables: []string{"t"}, Values: 1,
		Totals: &engine.Totals{Totals: 1, SQL: fmt.Sprintf("SELECT x0 FROM (SELECT unnest(x, recursive := true) FROM (SELECT discreet_totals_0_1('1 1 1 n', %s, %s, TRUE, 0, CAST(0 AS UBIGINT), CAST(0 AS UBIGINT)) AS x FROM %s))", engine.UnitNumber, engine.UnitRows, engine.LaidName("t"))}}
	ask := func(e *duckdb.Engine, q engine.Query) int64 {
		t.Helper()
		x, err := e.Exact(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64()
	}
	e := open(t, c, options)
	if got := ask(e, q); got != -4 {
		t.Errorf("without a copy: %d", got)
	}
	if _, err := e.MakeCopy(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	next := open(t, c, options)
	for range 3 { // planned, and by the plan
		if got := ask(next, q); got != 3 {
			t.Errorf("units of the copy: %d", got)
		}
	}
	columns := q
	columns.Totals, columns.SQL = nil, "SELECT CAST(count(*) AS HUGEINT) AS x0 FROM (DESCRIBE t)"
	if got := ask(next, columns); got != 2 {
		t.Errorf("the table has %d columns", got)
	}
	wrong := q
	wrong.Totals = &engine.Totals{Totals: 1, SQL: strings.Replace(q.Totals.SQL, engine.LaidName("t"), engine.LaidName("t")+" WHERE v IS NULL OR v < 4", 1)}
	if got := ask(next, wrong); got != -4 {
		t.Errorf("rows are missing: %d", got)
	}
	write(", (4, 1)")
	if got := ask(next, q); got != -5 {
		t.Errorf("changed: %d", got)
	}
}

// A copy of a table with both kinds of bounds has numbers of the units of those rows that the table has; with T alone nobody asks for them, and there are none.
func TestCopiesOfBothBounds(t *testing.T) {
	dir := t.TempDir()
	execute(t, "COPY (FROM (VALUES (3, 1.5), (1, 2), (2, NULL), (1, 4), (1, 5)) AS r(u, v)) TO '"+filepath.Join(dir, "t.parquet")+"' (FORMAT parquet)")
	for bounds, want := range map[[2]int64]int64{{1, 1}: 4, {1, 0}: 4, {0, 1}: 4, {0, 0}: -4} {
		c := unitsOf(t, dir, "t.parquet")
		c.Tables[0].MaxUnitRows, c.Tables[0].MaxGroups, c.Tables[0].MaxRows = 2, bounds[0], bounds[1]
		e := open(t, c, duckdb.Restless(duckdb.Options{Threads: 2, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless))
		if _, err := e.MakeCopy(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		x, err := e.Exact(t.Context(), engine.Query{SQL: "SELECT CAST(-count(*) AS HUGEINT) AS x0 FROM t", Tables: []string{"t"}, Values: 1,
			Totals: &engine.Totals{Totals: 1, SQL: fmt.Sprintf("SELECT x0 FROM (SELECT unnest(x, recursive := true) FROM (SELECT discreet_totals_0_1('1 9 1 n', %s, %s, TRUE, 0, CAST(0 AS UBIGINT), CAST(0 AS UBIGINT)) AS x FROM %s))", engine.UnitNumber, engine.UnitRows, engine.LaidName("t"))}})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64(); got != want {
			t.Errorf("L0 and R of %d: the answer is %d, want %d", bounds, got, want)
		}
	}
}

// A table with a column of a name that copies use is not read by the forms over copies: of theirs nobody could tell which column is meant.
func TestColumnsNamedAsThoseOfCopies(t *testing.T) {
	for name, want := range map[string]int64{engine.UnitKey: -2, engine.UnitNumber: -2, "Discreet_Unit_Rows": -2, engine.FixedColumn + "9": -2, engine.PlaceColumn + "1": -2, "DISCREET_PLACE_7": -2, "place": 2} {
		dir := t.TempDir()
		execute(t, fmt.Sprintf("COPY (FROM (VALUES (3, 'a'), (1, 'b')) AS r(u, \"%s\")) TO '%s' (FORMAT parquet)", name, filepath.Join(dir, "t.parquet")))
		c, err := catalog.Parse(filepath.Join(dir, "units.toml"), fmt.Sprintf("[domains.unit]\nmeasure = \"pure\"\nepsilon = 1\n[tables.t]\nsource = \"t.parquet\"\ndomain = \"unit\"\nunit = \"u\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 2\n"+
			"[tables.t.columns]\nu = { type = \"bigint\" }\n%s = { type = \"text\", domain = [\"a\", \"b\"] }\n", name))
		if err != nil {
			t.Fatal(err)
		}
		e := open(t, c, duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless))
		if _, err := e.MakeCopy(t.Context(), "t"); err != nil {
			t.Fatal(name, err)
		}
		count := "CAST(%scount(*) AS HUGEINT) AS x0 FROM %s"
		x, err := e.Exact(t.Context(), engine.Query{SQL: fmt.Sprintf("SELECT "+count, "-", "t"), Tables: []string{"t"}, Values: 1, Totals: &engine.Totals{Totals: 1, SQL: fmt.Sprintf("SELECT "+count, "", engine.LaidName("t"))}})
		if err != nil {
			t.Fatal(name, err)
		}
		if got := x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64(); got != want {
			t.Errorf("%s: the answer is %d, want %d", name, got, want)
		}
	}
}

// A query where every row counts is asked over a copy of the files as they are, as they are declared: its rows with a unit, and their values on their grid.
func TestWholeQueriesOverCopies(t *testing.T) {
	for _, source := range []string{"t.csv", "t.parquet"} {
		for bounds, without := range map[string]string{"max_groups_per_unit = 2\nmax_rows_per_group = 2": "", "max_rows_per_unit = 2": ", (NULL, 7), (NULL, NULL)"} {
			dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "copies")
			path := filepath.Join(dir, source)
			execute(t, "COPY (FROM (VALUES (3, 1.5), (1, 2), (2, NULL), (1, 40), (3, -1)"+without+") AS r(u, v)) TO '"+path+"'")
			declared := func(upper int) *catalog.Catalog {
				c, err := catalog.Parse(filepath.Join(dir, "units.toml"), fmt.Sprintf("[domains.unit]\nmeasure = \"pure\"\nepsilon = 1\n[tables.t]\nsource = %q\ndomain = \"unit\"\nunit = \"u\"\n%s\n"+
					"[tables.t.columns]\nu = { type = \"bigint\" }\nv = { type = \"decimal(4,1)\", lower = 0, upper = %d }\n", source, bounds, upper))
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			options := duckdb.Restless(duckdb.Options{Threads: 2, Lazy: true, Copies: folder}, restless)
			q := engine.Query{SQL: "SELECT CAST(-1 AS HUGEINT) AS x0, CAST(count(*) AS HUGEINT) AS x1 FROM t", Tables: []string{"t"}, Values: 2,
				Whole: &engine.Whole{SQL: "SELECT CAST(count(*) AS HUGEINT) AS x0, CAST(sum(" + engine.FixedColumn + "1) AS HUGEINT) AS x1 FROM " + engine.LaidName("t")}}
			ask := func(upper int, q engine.Query, want string) {
				t.Helper()
				e := open(t, declared(upper), options)
				for range 3 { // planned, and by the plan
					x, err := e.Exact(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					row := x.RevealExact()[0]
					if got := fmt.Sprint(row[0].(sqltype.Decimal).Unscaled, row[1].(sqltype.Decimal).Unscaled); got != want {
						t.Errorf("%s, %s, to %d: %s, want %s", source, bounds, upper, got, want)
					}
				}
			}
			all := fmt.Sprint(-1, 5+strings.Count(without, "NULL, "))
			if source == "t.parquet" { // of text, who reads it makes a copy
				ask(10, q, all)
			}
			if _, err := open(t, declared(10), options).MakeCopy(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
			ask(10, q, "5 135") // 1.5, 2, 10 and 0
			if source == "t.parquet" {
				ask(20, q, all) // whose copy is of other bounds
			}
			wrong := q
			wrong.Whole = &engine.Whole{SQL: "SELECT"}
			ask(10, wrong, all)
		}
	}
}
