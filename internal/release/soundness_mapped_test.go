//go:build cgo

package release_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestSoundnessOfMappedTables holds certificates against tables whose rows code
// makes, as TestSoundness does for others: whatever the code makes of what it sees,
// one unit changes the exact components by no more than the certificate says.
func TestSoundnessOfMappedTables(t *testing.T) {
	t.Parallel()
	checked, moved := 0, 0
	for i := range soak(30, 2000) {
		checked++
		x := rapid.Custom(newMappedExample).Example(1_000_000 + i) // others than below
		d, err := x.check(honestCode)
		if err != nil {
			t.Fatalf("%v\n%s", err, x)
		}
		if d.moved {
			moved++
		}
	}
	if moved*10 < checked {
		t.Errorf("only %d of %d examples differ between neighbours: the test is weak", moved, checked)
	}
}

// Code that remembers what it saw before is what package sandbox prevents: through
// it one unit's records change what becomes of another's.
func TestSoundnessOfMappedTablesFindsState(t *testing.T) {
	t.Parallel()
	for seed := range 200 {
		x := rapid.Custom(newMappedExample).Example(seed)
		if _, err := x.check(func(mapped *catalog.Mapping) engine.Map {
			calls := new(atomic.Int64)
			return engine.Map{Rows: engine.Each(func(ctx context.Context, records [][]sqltype.Value) ([][]sqltype.Value, error) {
				return honest(ctx, append(records, []sqltype.Value{calls.Add(1)}))
			})}
		}); err != nil {
			t.Logf("found in example %d: %.120v", seed, err)
			return
		}
	}
	t.Error("state between calls is not found")
}

// A mappedExample is a table of (unit, place, cost), a mapping and a statement. In
// D' the first unit is missing.
type mappedExample struct {
	byRow     bool // the units are the rows
	d, e      []string
	options   catalog.MapOptions
	statement string
}

func newMappedExample(t *rapid.T) *mappedExample {
	x := &mappedExample{byRow: rapid.Bool().Draw(t, "rows are units")}
	for i := range rapid.IntRange(1, 25).Draw(t, "rows") {
		unit := rapid.SampledFrom([]string{"1", "2", "3", "4", ""}).Draw(t, "unit")
		record := fmt.Sprintf("%s,%s,%d", unit, rapid.SampledFrom([]string{"ER", "ICU", "", "x y"}).Draw(t, "place"), rapid.IntRange(-1, 3).Draw(t, "cost"))
		x.d = append(x.d, record)
		if gone := unit == "1"; x.byRow && i > 0 || !x.byRow && !gone {
			x.e = append(x.e, record)
		}
	}
	x.options = catalog.MapOptions{Name: "mapped", Of: "visits", Columns: []string{"cost", "place"}, Keys: []string{"a", "b", "c"}, Lower: -1, Upper: 2,
		Outputs: rapid.Int64Range(1, 3).Draw(t, "outputs"), MaxGroups: rapid.Int64Range(0, 2).Draw(t, "L0"), MaxRows: rapid.Int64Range(0, 3).Draw(t, "R")}
	if x.byRow {
		x.options.Outputs = 1
	} else {
		x.options.ByUnit = rapid.Bool().Draw(t, "by unit")
	}
	x.statement = rapid.SampledFrom([]string{
		"SELECT key, count(*), sum(value) FROM mapped GROUP BY key",
		"SELECT sum(value), avg(value), count(DISTINCT key) FROM mapped WHERE key <> 'c'",
		"SELECT value > 0, count(*) FROM mapped GROUP BY 1",
	}).Draw(t, "statement")
	return x
}

func (x *mappedExample) String() string {
	return fmt.Sprintf("%+v\n%s\nD:\n%s\nD':\n%s", x.options, x.statement, strings.Join(x.d, "\n"), strings.Join(x.e, "\n"))
}

// honestCode is a function of what it sees, wild in all else: its values leave the
// bounds, its keys the list, and it makes more rows than it may.
func honestCode(*catalog.Mapping) engine.Map { return engine.Map{Rows: engine.Each(honest)} }

func honest(_ context.Context, records [][]sqltype.Value) (out [][]sqltype.Value, err error) {
	h := fnv.New64a()
	for _, r := range records {
		fmt.Fprintf(h, "%q", sqltype.Key(r...))
	}
	draw := h.Sum64()
	for range draw % 5 {
		draw = draw*6364136223846793005 + 1442695040888963407
		out = append(out, []sqltype.Value{string(rune('a' + draw>>33%4)), float64(int64(draw)>>60) / 3})
	}
	return out, nil
}

// check measures the distance between the statement's exact results on D and D'.
func (x *mappedExample) check(code func(*catalog.Mapping) engine.Map) (d distance, err error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return d, err
	}
	defer os.RemoveAll(dir)
	ctx, results := context.Background(), [2]groups{}
	for i, rows := range [][]string{x.d, x.e} {
		home := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(home, 0o700); err != nil {
			return d, err
		}
		if err := os.WriteFile(filepath.Join(home, "visits.csv"), []byte("who,place,cost\n"+strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
			return d, err
		}
		unit := "unit = \"who\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 2"
		if x.byRow {
			unit = `unit = "row"`
		}
		c, err := catalog.Parse(filepath.Join(home, "discreet.toml"), "[domains.d]\nmeasure = \"zcdp\"\nepsilon = 1\ndelta = 1e-6\n[tables.visits]\nsource = \"visits.csv\"\ndomain = \"d\"\n"+
			unit+"\n[tables.visits.columns]\nwho = { type = \"integer\" }\nplace = { type = \"text\" }\ncost = { type = \"integer\" }\n")
		if err != nil {
			return d, err
		}
		if c, err = c.Map(x.options); err != nil {
			return d, err
		}
		m, _ := c.Table("mapped")
		certificate, err := certify(x.statement, c)
		if err != nil {
			return d, err
		}
		e, err := duckdb.Open(ctx, c, duckdb.Options{Temp: home, Maps: map[string]engine.Map{"mapped": code(m.Mapping)}})
		if err != nil {
			return d, err
		}
		r := certificate.Releases[0]
		q, err := render.Release(rewrite.Release(r, nil))
		if err == nil {
			q.Salt = 7919
			var exact *engine.Exact
			if exact, err = e.Exact(ctx, q); err == nil {
				results[i] = groupsOf(exact, len(q.Keys))
			}
		}
		if closed := e.Close(); err != nil || closed != nil {
			return d, fmt.Errorf("%v, %v", err, closed)
		}
		if i == 1 {
			if d = measure(r, results[0], results[1], 1); d.broken != "" {
				return d, fmt.Errorf("%s", d.broken)
			}
		}
	}
	return d, nil
}

func groupsOf(exact *engine.Exact, keys int) groups {
	out := groups{}
	for _, row := range exact.RevealExact() {
		var g group
		for _, v := range row[:keys] {
			g.key = append(g.key, v)
		}
		for _, v := range row[keys:] {
			n := new(big.Int)
			if v != nil {
				n = v.(sqltype.Decimal).Unscaled
			}
			g.values = append(g.values, n)
		}
		out[sqltype.Key(row[:keys]...)] = g
	}
	return out
}
