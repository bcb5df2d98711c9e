//go:build cgo

package duckdb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// visits makes a catalog over a file of visits: who, where, for how much.
func visits(t *testing.T, unit, records string) (*catalog.Catalog, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "visits.csv")
	rewrite(t, path, records)
	bounds := "max_groups_per_unit = 2\nmax_rows_per_group = 3\n"
	if unit == "row" {
		bounds = ""
	}
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), `
[domains.patient]
measure = "pure"
epsilon = 1
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "`+unit+`"
`+bounds+`
[tables.visits.columns]
who   = { type = "integer" }
place = { type = "text" }
cost  = { type = "decimal(6,2)" }
`)
	if err != nil {
		t.Fatal(err)
	}
	return c, path
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const someVisits = "who,place,cost\n1,ER,10.50\n1,ICU,2\n2,ER,\n,ER,7\n3,\"a \"\"b\"\"\",1\n2,ICU,4\n"

// read returns a mapped table's rows, as a release's query would, ordered and as text.
func read(t *testing.T, e *duckdb.Engine, m *catalog.Table) (all []string) {
	t.Helper()
	var types []sqltype.Type
	var names []string
	for _, c := range m.Columns {
		types, names = append(types, c.Type), append(names, `"`+c.Name+`"`)
	}
	x, err := e.Exact(t.Context(), engine.Query{SQL: "SELECT " + strings.Join(names, ", ") + " FROM " + m.Name, Tables: []string{m.Name}, Keys: types})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range x.RevealExact() {
		var text []string
		for _, v := range row {
			text = append(text, sqltype.Format(v))
		}
		all = append(all, strings.Join(text, "|"))
	}
	slices.Sort(all)
	return all
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

func TestMappedByRecord(t *testing.T) {
	c, path := visits(t, "who", someVisits)
	c, err := c.Map(catalog.MapOptions{Name: "mapped", Of: "visits", Columns: []string{"place", "cost"}, Keys: []string{"er", "other"}, Upper: 100, Outputs: 2})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Table("mapped")
	var seen atomic.Int64
	code := func(_ context.Context, records [][]sqltype.Value) ([][]sqltype.Value, error) {
		seen.Add(1)
		if len(records) != 1 || len(records[0]) != 2 {
			return nil, fmt.Errorf("code sees %v", records)
		}
		cost := 0.0
		if d, ok := records[0][1].(sqltype.Decimal); ok {
			cost, _ = d.Rat().Float64()
		}
		key := "other"
		if records[0][0] == "ER" {
			key = "er"
		}
		return [][]sqltype.Value{{key, cost / 3}, {"other", 1.0}, {"er", 99.0}}, nil // the third is one too many
	}
	e := open(t, c, duckdb.Restless(duckdb.Options{Maps: map[string]engine.Map{"mapped": {Rows: engine.Each(code)}}}, restless))
	time.Sleep(2 * restless)
	if seen.Load() != 0 {
		t.Error("code ran before the table was read")
	}
	want := []string{"1|er|3.5", "1|other|0.6666666666666666", "1|other|1", "1|other|1", "2|er|0", "2|other|1", "2|other|1", "2|other|1.3333333333333333",
		"3|other|0.3333333333333333", "3|other|1"}
	expect(t, read(t, e, m), want...)
	expect(t, read(t, e, m), want...)
	if n := seen.Load(); n != 5 { // not the visit of nobody
		t.Errorf("code ran %d times, want once a record", n)
	}
	rewrite(t, path, "who,place,cost\n9,ER,3\n9,ICU,6\n")
	expect(t, read(t, e, m), "9|er|1", "9|other|1", "9|other|1", "9|other|2")
}

func TestMappedByUnit(t *testing.T) {
	c, _ := visits(t, "who", someVisits)
	c, err := c.Map(catalog.MapOptions{Name: "mapped", Of: "visits", Columns: []string{"place", "cost"}, ByUnit: true, Upper: 100})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Table("mapped")
	if m.MaxGroups != 1 || m.MaxRows != 1 {
		t.Errorf("bounds %d, %d", m.MaxGroups, m.MaxRows)
	}
	code := func(_ context.Context, records [][]sqltype.Value) ([][]sqltype.Value, error) {
		order := 0.0
		for _, r := range records {
			order = 10*order + float64(len(sqltype.Format(r[0])))
		}
		return [][]sqltype.Value{{order}}, nil
	}
	e := open(t, c, duckdb.Options{Maps: map[string]engine.Map{"mapped": {Rows: engine.Each(code)}}})
	expect(t, read(t, e, m), "1|23", "2|23", "3|5") // ER before ICU, wherever they stand in the file
}

func TestMappedRowsThatAreUnits(t *testing.T) {
	for _, outputs := range []int64{1, 2} {
		c, _ := visits(t, "row", someVisits)
		c, err := c.Map(catalog.MapOptions{Name: "mapped", Of: "visits", Columns: []string{"who"}, Upper: 100, Outputs: outputs})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := c.Table("mapped")
		code := func(_ context.Context, records [][]sqltype.Value) ([][]sqltype.Value, error) {
			return [][]sqltype.Value{{1.0}, {2.0}}, nil
		}
		var made atomic.Int64
		unit := func() (string, error) { return fmt.Sprintf("u%d", made.Add(1)), nil }
		e := open(t, c, duckdb.Options{Maps: map[string]engine.Map{"mapped": {Rows: engine.Each(code), Unit: unit}}})
		got := read(t, e, m)
		if outputs == 1 {
			expect(t, got, "1", "1", "1", "1", "1", "1")
			continue
		}
		expect(t, got, "u1|1", "u1|2", "u2|1", "u2|2", "u3|1", "u3|2", "u4|1", "u4|2", "u5|1", "u5|2", "u6|1", "u6|2")
		if m.MaxGroups != 1 || m.MaxRows != 2 {
			t.Errorf("bounds %d, %d", m.MaxGroups, m.MaxRows)
		}
	}
}

// Want of resources is the one error that code can make, and it says nothing.
func TestMappedFailure(t *testing.T) {
	var text strings.Builder
	text.WriteString("who,place,cost\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d,ER,1\n", i)
	}
	c, _ := visits(t, "who", text.String())
	c, err := c.Map(catalog.MapOptions{Name: "mapped", Of: "visits", Columns: []string{"who"}, Upper: 100})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Table("mapped")
	var broken atomic.Bool
	broken.Store(true)
	code := func(_ context.Context, records [][]sqltype.Value) ([][]sqltype.Value, error) {
		if broken.Load() && records[0][0] == int64(12_345) {
			return nil, errors.New("canary")
		}
		return [][]sqltype.Value{{1.0}}, nil
	}
	e := open(t, c, duckdb.Options{Maps: map[string]engine.Map{"mapped": {Rows: engine.Each(code)}}})
	q := engine.Query{SQL: "SELECT count(*) FROM mapped", Tables: []string{"mapped"}, Values: 1}
	if _, err := e.Exact(t.Context(), q); !errors.Is(err, engine.ErrResource) || strings.Contains(err.Error(), "canary") {
		t.Errorf("error %v", err)
	}
	broken.Store(false)
	if n := len(read(t, e, m)); n != 20_000 {
		t.Errorf("%d rows after a failure", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Exact(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestMappedWithoutCode(t *testing.T) {
	c, _ := visits(t, "who", someVisits)
	c, err := c.Map(catalog.MapOptions{Name: "mapped", Of: "visits", Columns: []string{"who"}, Upper: 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := duckdb.Open(t.Context(), c, duckdb.Options{Temp: t.TempDir()}); err == nil {
		t.Error("a mapped table without code opens")
	}
}
