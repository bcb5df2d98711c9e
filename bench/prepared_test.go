package bench

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A layout is how the table of 10 million rows is declared and laid out: its units have 10 rows on average.
type layout struct {
	name, bounds string
	prepared     bool
}

var layouts = []layout{
	{"as it is", "max_groups_per_unit = 8\nmax_rows_per_group = 4", false},
	{"by unit", "max_groups_per_unit = 8\nmax_rows_per_group = 4", true},
	{"10 rows a unit", "max_rows_per_unit = 10", true},
}

// laidOut are the statements, and the same without privacy over the same table.
var laidOut = []struct{ name, statement, plain string }{
	{"count", "SELECT g, count(*) FROM rows GROUP BY g", "SELECT g, count(*) FROM file.records GROUP BY g"},
	{"count,sum", "SELECT g, count(*), sum(w) FROM rows GROUP BY g", "SELECT g, count(*), sum(w) FROM file.records GROUP BY g"},
	{"count,sum of whole numbers", "SELECT g, count(*), sum(n) FROM rows GROUP BY g", "SELECT g, count(*), sum(n) FROM file.records GROUP BY g"},
	{"count by another key", "SELECT n / 100000, count(*) FROM rows GROUP BY n / 100000", "SELECT n // 100000, count(*) FROM file.records GROUP BY n // 100000"},
}

// BenchmarkPrepared reports the time of whole answers, and the processor's, as multiples of the plain grouping by g over
// a table of the same columns in a file of the engine's own, in turn. Targets: 10 with bounds for each statement, 1.5 with rows that are kept once.
func BenchmarkPrepared(b *testing.B) {
	dir := makeRows(b, 10_000_000)
	text, err := os.ReadFile(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		b.Fatal(err)
	}
	engine := plain(b, "6GiB")
	for _, s := range []string{"ATTACH '" + filepath.Join(dir, "plain.duckdb") + "' AS file",
		"CREATE TABLE file.records AS SELECT *, round(v * 1000)::BIGINT AS n FROM '" + filepath.Join(dir, "rows.parquet") + "'", "CHECKPOINT file"} {
		if _, err := engine.Exec(s); err != nil {
			b.Fatal(err)
		}
	}
	rho, err := privacy.ParseRho("0.0001")
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	for _, l := range layouts {
		declared := strings.Replace(string(text), "max_groups_per_unit = 8\nmax_rows_per_group = 4", l.bounds, 1) +
			"n = { type = \"bigint\", is = \"cast(round(v * 1000) AS bigint)\", lower = 0, upper = 999999 }\n"
		b.Run(l.name, func(b *testing.B) {
			db := l.open(b, dir, declared)
			for _, s := range laidOut {
				b.Run(s.name, func(b *testing.B) {
					ask := func() error {
						_, err := db.Query(ctx, s.statement, &discreet.QueryOptions{Spend: discreet.Spend{Rho: rho}})
						return err
					}
					if err := ask(); err != nil { // the first reads the copy for its digest
						b.Fatal(err)
					}
					var theirs, ours took
					for b.Loop() {
						theirs.add(b, func() error { _, err := engine.Exec(s.plain); return err })
						ours.add(b, ask)
					}
					b.ReportMetric(ours.time.Seconds()/float64(b.N), "s/answer")
					b.ReportMetric(ours.time.Seconds()/theirs.time.Seconds(), "ratio")
					b.ReportMetric(ours.processor.Seconds()/theirs.processor.Seconds(), "ratio-of-processor")
				})
			}
		})
	}
}

// open opens a database over the table as it is laid out.
func (l layout) open(b *testing.B, dir, declared string) *discreet.Database {
	b.Helper()
	ctx := context.Background()
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), declared)
	if err != nil {
		b.Fatal(err)
	}
	e, err := duckdb.Open(ctx, c, duckdb.Options{Memory: "6GiB", Threads: 2, Temp: b.TempDir(), Lazy: true, Copies: filepath.Join(b.TempDir(), "copies")})
	if err != nil {
		b.Fatal(err)
	}
	if l.prepared {
		start := time.Now()
		copy, err := e.MakeCopy(ctx, "rows")
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("copied in %.1f s, %.0f MB", time.Since(start).Seconds(), float64(copy.Bytes)/1e6)
	}
	books, err := ledger.Create(ctx, filepath.Join(b.TempDir(), "ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: time.Now()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { books.Close(); e.Close() })
	db, err := discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: books})
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// took is what something takes, of the clock and of the processors.
type took struct{ time, processor time.Duration }

func (t *took) add(b *testing.B, f func() error) {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start, before := time.Now(), used()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	t.time += time.Since(start)
	t.processor += used() - before
}
