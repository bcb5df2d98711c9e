package bench

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// rowsTable is 10 million rows of 1 million units in 100 groups, in no order.
const rowsTable = `COPY (
	SELECT (hash(i, 1) %% 1000000)::BIGINT AS unit, 'group ' || (hash(i, 2) %% 100) AS g,
	       (hash(i, 3) %% 1000000) / 1000.0 AS v, (hash(i, 4) %% 1000000) / 1000.0 AS w
	FROM range(%d) t(i)) TO '%s' (FORMAT parquet)`

const rowsCatalog = `
[domains.unit]
measure = "zcdp"
epsilon = 100.0
delta = 1e-6

[tables.rows]
source = "rows.parquet"
domain = "unit"
unit = "unit"
max_groups_per_unit = 8
max_rows_per_group = 4
[tables.rows.columns]
unit = { type = "bigint" }
g = { type = "text", domain = [%s] }
v = { type = "double", lower = 0, upper = 1000, sum_lower = 0, sum_upper = 2000 }
w = { type = "double", lower = 0, upper = 1000 }
`

// makeRows writes the table and its catalog into a folder.
func makeRows(b *testing.B, rows int) string {
	b.Helper()
	dir := b.TempDir()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(fmt.Sprintf(rowsTable, rows, filepath.Join(dir, "rows.parquet"))); err != nil {
		b.Fatal(err)
	}
	groups := ""
	for i := range 100 {
		groups += fmt.Sprintf("%q, ", fmt.Sprintf("group %d", i))
	}
	if err := os.WriteFile(filepath.Join(dir, "discreet.toml"), fmt.Appendf(nil, rowsCatalog, groups), 0o600); err != nil {
		b.Fatal(err)
	}
	return dir
}

// open opens a database over the folder with a ledger of its own.
func open(b *testing.B, dir, memory string) *discreet.Database {
	b.Helper()
	ctx := context.Background()
	cat, err := catalog.Load(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		b.Fatal(err)
	}
	e, err := duckdb.Open(ctx, cat, duckdb.Options{Memory: memory, Threads: 2, Temp: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	l, err := ledger.Create(ctx, filepath.Join(b.TempDir(), "ledger"), ledger.Options{Domains: discreet.Budgets(cat), Now: time.Now()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close(); l.Close() })
	db, err := discreet.Open(ctx, discreet.Config{Catalog: cat, Engine: e, Ledger: l})
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// plain opens the engine itself with the same limits.
func plain(b *testing.B, memory string) *sql.DB {
	b.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range []string{"SET memory_limit = '" + memory + "'", "SET threads = 2", "SET temp_directory = '" + b.TempDir() + "'", "SET preserve_insertion_order = false"} {
		if _, err := db.Exec(s); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// A comparison is a statement and the plain grouping by (g, unit) over the same
// columns, all of whose rows are read.
var comparisons = []struct{ name, statement, plain string }{
	{"count", "SELECT g, count(*) FROM rows GROUP BY g", "SELECT g, unit, count(*) AS n"},
	{"count,sum", "SELECT g, count(*), sum(w) FROM rows GROUP BY g", "SELECT g, unit, count(*) AS n, sum(w) AS s"},
	{"count,sum,clamped", "SELECT g, count(*), sum(v) FROM rows GROUP BY g", "SELECT g, unit, count(*) AS n, sum(v) AS s"},
	{"avg", "SELECT g, avg(w) FROM rows GROUP BY g", "SELECT g, unit, count(*) AS n, sum(w) AS s"},
	{"count distinct units", "SELECT g, count(DISTINCT unit) FROM rows GROUP BY g", "SELECT g, unit, count(*) AS n"},
	{"count distinct", "SELECT g, count(DISTINCT round(w)) FROM rows GROUP BY g", "SELECT g, unit, count(DISTINCT round(w)) AS n"},
	{"count without groups", "SELECT count(*) FROM rows", "SELECT g, unit, count(*) AS n"},
}

// BenchmarkBounded reports, for each statement, the time of the whole answer
// (ledger, engine, noise) as a multiple of the engine's own GROUP BY g, unit,
// measured in turn. Target: at most 2.5 at 6 GiB; at 1 GiB it must finish.
func BenchmarkBounded(b *testing.B) {
	dir := makeRows(b, 10_000_000)
	for _, memory := range []string{"6GiB", "1GiB"} {
		compare(b, dir, memory, len(comparisons))
	}
}

// BenchmarkLargerThanMemory does the same, for counts and sums, over a file of
// 60 million rows and about 1.5 GB, at 1 GiB.
func BenchmarkLargerThanMemory(b *testing.B) {
	dir := makeRows(b, 60_000_000)
	if info, err := os.Stat(filepath.Join(dir, "rows.parquet")); err == nil {
		b.Logf("the file has %d MB", info.Size()>>20)
	}
	compare(b, dir, "1GiB", 2)
}

func compare(b *testing.B, dir, memory string, first int) {
	rho, err := privacy.ParseRho("0.0001")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range comparisons[:first] {
		b.Run(memory+"/"+c.name, func(b *testing.B) {
			db, engine := open(b, dir, memory), plain(b, memory)
			text := fmt.Sprintf("SELECT count(*), sum(n) FROM (%s FROM '%s' GROUP BY g, unit)", c.plain, filepath.Join(dir, "rows.parquet"))
			var ours, theirs time.Duration
			failed := false
			for b.Loop() {
				start := time.Now()
				if _, err := engine.Exec(text); err != nil {
					failed = true
				}
				theirs += time.Since(start)
				start = time.Now()
				if _, err := db.Query(context.Background(), c.statement, &discreet.QueryOptions{Spend: discreet.Spend{Rho: rho}}); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(start)
			}
			b.ReportMetric(ours.Seconds()/float64(b.N), "s/answer")
			b.ReportMetric(theirs.Seconds()/float64(b.N), "s/plain")
			b.ReportMetric(ours.Seconds()/theirs.Seconds(), "ratio")
			if failed {
				b.Log("the plain grouping ran out of memory")
			}
		})
	}
}
