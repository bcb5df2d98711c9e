//go:build cgo && linux

package scale

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/render"
)

var growth = flag.Int("growth", 1_000_000, "how many rows BenchmarkGrowth's middle case has; the largest has ten times as many")

const grown = `
%s
[domains.person]
measure = "zcdp"
epsilon = 1.0
delta = 1e-7
[tables.t]
source = "%s"
domain = "person"
unit = "unit"
max_groups_per_unit = 8
max_rows_per_group = 4
[tables.t.columns]
unit = { type = "bigint" }
g = { type = "integer", lower = 0, upper = %d, step = 1 }
x = { type = "double", lower = 0, upper = 5000 }
`

// BenchmarkGrowth counts and sums by group over more and more rows, units and groups, each unit in 10
// groups at most. Its metrics are processor time, the most memory that was held and not shared, and what was
// written (to spill). For each engine it logs how time grows in each: the exponent between the two largest.
func BenchmarkGrowth(b *testing.B) {
	url := postgrestest.Start(b, "max_parallel_workers_per_gather=0", "work_mem=256MB", "shared_buffers=128MB", "max_wal_size=4GB")
	admin, err := pgconn.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { admin.Close(context.Background()) })
	middle := *growth
	type size struct{ rows, units, groups int }
	axes := map[string][]size{}
	for _, n := range []int{middle / 10, middle, 3 * middle, 10 * middle} {
		axes["rows"] = append(axes["rows"], size{n, n / 10, 100})
	}
	for u := 1000; u <= middle; u *= 10 {
		axes["units"] = append(axes["units"], size{middle, u, 100})
	}
	for _, g := range []int{1, 10, 100, 1000, 10_000, 100_000} {
		axes["groups"] = append(axes["groups"], size{middle, middle / 10, g})
	}
	seconds := map[string]map[string][]float64{"duckdb": {}, "postgres": {}}
	for _, axis := range []string{"rows", "units", "groups"} {
		for _, s := range axes[axis] {
			dir := b.TempDir()
			made := false
			for _, kind := range []string{"duckdb", "postgres"} {
				b.Run(fmt.Sprintf("%s/rows=%d/units=%d/groups=%d/%s", axis, s.rows, s.units, s.groups, kind), func(b *testing.B) {
					if !made {
						made = true
						grow(b, admin, dir, s.rows, s.units, s.groups)
					}
					e, header, source := engine.Engine(nil), "", "t.csv"
					if kind == "postgres" {
						header, source = "[engine]\nkind = \"postgres\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true", "public.t"
					}
					c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), fmt.Sprintf(grown, header, source, s.groups-1))
					if err != nil {
						b.Fatal(err)
					}
					if kind == "postgres" {
						e, err = postgres.Open(b.Context(), c, postgres.Options{URL: url, Connections: 1})
					} else {
						e, err = duckdb.Open(b.Context(), c, duckdb.Options{Memory: "1500MB", Threads: 1, Temp: dir})
					}
					if err != nil {
						b.Fatal(err)
					}
					defer e.Close()
					releases, err := tpchReleases(b.Context(), "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g", c, e)
					if err != nil {
						b.Fatal(err)
					}
					q, err := render.Dialect(e.Dialect()).Release(releases[0].bounded)
					if err != nil {
						b.Fatal(err)
					}
					pid := func() string {
						if kind == "duckdb" {
							return "self"
						}
						return exec(b, admin, "SELECT pid FROM pg_stat_activity WHERE application_name = 'discreet'")
					}()
					if err := os.WriteFile("/proc/"+pid+"/clear_refs", []byte("5"), 0); err != nil {
						b.Logf("the most memory is that since the process began: %v", err)
					}
					used := func() time.Duration {
						if kind == "duckdb" {
							return ownTime()
						}
						return processor(b, admin)
					}
					before, wrote := used(), counter(b, pid, "io", "wchar")
					for i := range b.N {
						q.Salt = int64(i)
						if _, err := e.Exact(b.Context(), q); err != nil {
							b.Fatal(cause(err))
						}
					}
					took := (used() - before).Seconds() / float64(b.N)
					seconds[kind][axis] = append(seconds[kind][axis], took)
					b.ReportMetric(took*1000, "cpu-ms")
					b.ReportMetric(float64(counter(b, pid, "status", "VmHWM")-counter(b, pid, "status", "RssShmem"))/1024, "most-MiB")
					b.ReportMetric(float64(counter(b, pid, "io", "wchar")-wrote)/float64(b.N)/(1<<20), "written-MiB")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
	of := func(s size, axis string) float64 {
		return float64(map[string]int{"rows": s.rows, "units": s.units, "groups": s.groups}[axis])
	}
	for kind, all := range seconds {
		for axis, took := range all {
			if n := len(took); n > 1 && n == len(axes[axis]) {
				last, before := axes[axis][n-1], axes[axis][n-2]
				b.Logf("%s: time grows with %s to the power of %.2f at the end", kind, axis, math.Log(took[n-1]/took[n-2])/math.Log(of(last, axis)/of(before, axis)))
			}
		}
	}
}

// grow makes the table t, and a CSV file of the same rows.
func grow(b *testing.B, c *pgconn.PgConn, dir string, rows, units, groups int) {
	b.Helper()
	exec(b, c, fmt.Sprintf(`DROP TABLE IF EXISTS t; CREATE UNLOGGED TABLE t (unit bigint NOT NULL, g integer NOT NULL, x double precision NOT NULL);
		INSERT INTO t SELECT u, (u * 7919 + (random() * 9)::int * 104729) %% %d, trunc(random() * 5000) FROM (SELECT floor(random() * %d)::bigint AS u FROM generate_series(1, %d)) AS s`, groups, units, rows))
	exec(b, c, "VACUUM ANALYZE t")
	f, err := os.Create(filepath.Join(dir, "t.csv"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := c.CopyTo(b.Context(), f, "COPY t TO STDOUT (FORMAT csv, HEADER)"); err != nil {
		b.Fatal(err)
	}
}

// counter reads a number of a file of /proc: in KiB where that file has those.
func counter(b *testing.B, pid, file, name string) int64 {
	b.Helper()
	text, err := os.ReadFile("/proc/" + pid + "/" + file)
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("/proc/%s/%s has no %s", pid, file, name)
	return 0
}
