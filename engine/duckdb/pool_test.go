//go:build cgo

package duckdb_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/enginetest"
	"github.com/discreet-dp/discreet/sqltype"
)

func openPool(t testing.TB, c *catalog.Catalog, o duckdb.Options, statements int) *duckdb.Pool {
	t.Helper()
	o.Temp = t.TempDir()
	p, err := duckdb.OpenPool(t.Context(), c, o, statements)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// How files are read is TestConformance's: the instances of a pool read them as one alone does.
func TestPoolConformance(t *testing.T) {
	enginetest.RunTables(t, func(t testing.TB, c *catalog.Catalog, threads int) engine.Engine {
		return openPool(t, c, duckdb.Options{Threads: threads}, 2)
	})
}

// TestRunningTogetherCausesNoFailure: a statement that fits its share of memory and disk does
// not fail beside one that does not. In one instance it does (see the log): whether it is
// answered then depends on what others ask.
func TestRunningTogetherCausesNoFailure(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "visits.parquet")
	owner, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Temp: dir})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = owner.Rows(t.Context(), "COPY (SELECT i AS patient, repeat(md5(i::VARCHAR), 8) AS name FROM range(400000) AS r(i)) TO '"+file+"'")
	if err := errors.Join(err, owner.Close()); err != nil {
		t.Fatal(err)
	}
	c := visitsOf(t, dir)
	// string_agg spills nothing: it has to fit.
	large := engine.Query{SQL: "SELECT length(string_agg(name, '')) + length(string_agg(name, 'x')) AS v FROM visits", Tables: []string{"visits"}, Values: 1}
	small := engine.Query{SQL: "SELECT length(string_agg(name, '')) AS v FROM visits WHERE patient < 50000", Tables: []string{"visits"}, Values: 1}
	failed := func(e engine.Engine) (n int) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				if _, err := e.Exact(ctx, large); err == nil {
					t.Error("the large statement fits")
					return
				}
			}
		}()
		for range 12 {
			if _, err := e.Exact(t.Context(), small); errors.Is(err, engine.ErrResource) {
				n++
			} else if err != nil {
				t.Error(err)
			}
		}
		stop()
		<-ended
		return n
	}
	t.Logf("in one instance %d of 12 failed", failed(open(t, c, duckdb.Options{Threads: 2, Memory: "240MB"})))
	if n := failed(openPool(t, c, duckdb.Options{Threads: 2, Memory: "400MB"}, 2)); n > 0 {
		t.Errorf("beside a statement that does not fit, %d of 12 failed that do", n)
	}
}

// TestShares: the shares of instances that run at once are never more than the whole.
func TestShares(t *testing.T) {
	for size, want := range map[string]int64{"9B": 9, "10KB": 10_000, "1.5KiB": 1536, "4 GB": 4_000_000_000, "2GiB": 2 << 30} {
		if got, err := duckdb.BytesOf(t.Context(), size); err != nil || got != want {
			t.Errorf("%s: %d, %v", size, got, err)
		}
	}
	if n, err := duckdb.BytesOf(t.Context(), ""); err != nil || n < 1<<28 {
		t.Errorf("of its own it takes %d, %v", n, err)
	}
	if _, err := duckdb.BytesOf(t.Context(), "much"); err == nil {
		t.Error("much is a size")
	}
	for _, statements := range []int{1, 2, 7} {
		memory, err := duckdb.MemoryOf(t.Context(), t.TempDir(), "900MB", statements)
		if err != nil {
			t.Fatal(err)
		}
		if memory > 900_000_000 || memory < 850_000_000 {
			t.Errorf("%d statements have %d bytes together", statements, memory)
		}
	}
}

// TestInstancesAreOpenedWhenNeeded: a pool opens an instance when a statement finds none idle, and
// one that cannot be opened says nothing of the files, and takes no place.
func TestInstancesAreOpenedWhenNeeded(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "visits.parquet")
	owner, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Temp: dir})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = owner.Rows(t.Context(), "COPY (SELECT i AS patient, 'a' AS name FROM range(10) AS r(i)) TO '"+file+"'")
	if err := errors.Join(err, owner.Close()); err != nil {
		t.Fatal(err)
	}
	p := openPool(t, visitsOf(t, dir), duckdb.Options{Threads: 1}, 2)
	ask := func() error {
		_, err := p.Exact(t.Context(), engine.Query{SQL: "SELECT count(*) AS v FROM visits", Tables: []string{"visits"}, Values: 1})
		return err
	}
	away := file + ".away"
	if err := os.Rename(file, away); err != nil {
		t.Fatal(err)
	}
	for range 3 { // more often than there are places
		if err := ask(); !errors.Is(err, engine.ErrResource) {
			t.Fatalf("without its file a statement says %v", err)
		}
	}
	if n := duckdb.Lives(p); n != 0 {
		t.Errorf("%d instances are open", n)
	}
	if err := os.Rename(away, file); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	if n := duckdb.Lives(p); n != 1 {
		t.Errorf("%d instances are open for statements one after another", n)
	}
}

// BenchmarkPool asks for a grouped count in one instance and in a pool.
func BenchmarkPool(b *testing.B) {
	dir := b.TempDir()
	owner, err := duckdb.OpenOwner(b.Context(), duckdb.Options{Temp: dir})
	if err != nil {
		b.Fatal(err)
	}
	_, _, err = owner.Rows(b.Context(), "COPY (SELECT i AS patient, (i % 8)::VARCHAR AS name FROM range(100000) AS r(i)) TO '"+filepath.Join(dir, "visits.parquet")+"'")
	if err := errors.Join(err, owner.Close()); err != nil {
		b.Fatal(err)
	}
	c := visitsOf(b, dir)
	q := engine.Query{SQL: "SELECT name, count(*) AS v FROM visits GROUP BY name", Tables: []string{"visits"}, Keys: []sqltype.Type{sqltype.Of(sqltype.Text)}, Values: 1}
	for name, e := range map[string]engine.Engine{"one instance": open(b, c, duckdb.Options{Threads: 2}), "pool": openPool(b, c, duckdb.Options{Threads: 2}, 2)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Exact(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// visitsOf is a catalog over visits.parquet in a folder.
func visitsOf(t testing.TB, dir string) *catalog.Catalog {
	t.Helper()
	text := `[domains.patient]
measure = "pure"
epsilon = 1
[tables.visits]
source = "visits.parquet"
domain = "patient"
unit = "patient"
max_groups_per_unit = 1
max_rows_per_group = 1
[tables.visits.columns]
patient = { type = "bigint" }
name = { type = "text" }
`
	if err := os.WriteFile(filepath.Join(dir, "discreet.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
