//go:build linux

package scale

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
)

var rows = flag.Int("rows", 1_000_000, "how many rows the table has")

const declared = `
[engine]
kind = "postgres"
url = { env = "DISCREET_ENGINE" }
accept_role = true
[domains.person]
neighbours = "add-remove"
measure = "zcdp"
epsilon = 1.0
delta = 1e-7
[tables.t]
source = "public.t"
domain = "person"
unit = "unit"
max_groups_per_unit = %d
max_rows_per_group = %d
[tables.t.columns]
unit = { type = "bigint" }
g = { type = "text", domain = [%s] }
x = { type = "double", lower = 0, upper = 5000 }
`

// BenchmarkBounded counts and sums over a tenth as many units as rows, of 20 groups. One unit
// in 20 has four times as many rows as the others, of which few reach a bound; over says how
// many of a thousand units have more groups than they may, or more rows in one.
func BenchmarkBounded(b *testing.B) {
	url := postgrestest.Start(b, "max_parallel_workers_per_gather=0", "work_mem=256MB", "shared_buffers=256MB")
	admin, err := pgconn.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { admin.Close(context.Background()) })
	exec(b, admin, fmt.Sprintf(`CREATE TABLE t (unit bigint NOT NULL, g text NOT NULL, x double precision NOT NULL);
		SELECT setseed(0.5);
		INSERT INTO t SELECT CASE WHEN r < 0.83 THEN floor(random() * %d * 0.95)::bigint ELSE floor(%d * (0.95 + random() * 0.05))::bigint END,
			'group' || floor(random() * 20)::int, round((random() * 5000)::numeric, 2) FROM (SELECT random() AS r FROM generate_series(1, %d)) AS s`, *rows/10, *rows/10, *rows))
	exec(b, admin, "VACUUM ANALYZE t")
	for _, bounds := range [][2]int{{20, 50}, {20, 4}, {15, 6}, {12, 4}, {8, 3}, {4, 1}} {
		over := exec(b, admin, fmt.Sprintf(`SELECT round(1000.0 * count(*) FILTER (WHERE d > %d OR n > %d) / count(*)) FROM
			(SELECT count(*) AS d, max(n) AS n FROM (SELECT unit, g, count(*) AS n FROM t GROUP BY unit, g) AS q GROUP BY unit) AS q`, bounds[0], bounds[1]))
		for _, what := range []string{"count(*)", "sum(x)"} {
			b.Run(fmt.Sprintf("%s/groups=%d/rows=%d/over=%s", what, bounds[0], bounds[1], over), func(b *testing.B) {
				e, q := bounded(b, url, bounds, "SELECT g, "+what+" FROM t GROUP BY g")
				inner := "sum(x)"
				if what == "count(*)" {
					inner = what
				}
				plain := fmt.Sprintf("SELECT g, sum(s) FROM (SELECT g, unit, %s AS s FROM t GROUP BY g, unit) AS q GROUP BY g", inner)
				var ours, theirs time.Duration
				for range b.N {
					before := processor(b, admin)
					exec(b, admin, plain)
					between := processor(b, admin)
					if _, err := e.Exact(b.Context(), q); err != nil {
						b.Fatal(err)
					}
					theirs, ours = theirs+between-before, ours+processor(b, admin)-between
				}
				b.ReportMetric(ours.Seconds()/theirs.Seconds(), "ratio")
				b.ReportMetric(theirs.Seconds()/float64(b.N), "plain-s")
			})
		}
	}
}

// bounded opens the table under bounds, and is what the server is asked for a statement.
func bounded(b *testing.B, url string, bounds [2]int, statement string) (*postgres.Engine, engine.Query) {
	c, err := catalog.Parse("discreet.toml", fmt.Sprintf(declared, bounds[0], bounds[1], groups()))
	if err != nil {
		b.Fatal(err)
	}
	tree, err := sqlparse.Parse(statement)
	if err != nil {
		b.Fatal(err)
	}
	bound, err := bind.Statement(tree, c, bind.Parameters{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	certificate, err := stability.Analyze(bound)
	if err != nil {
		b.Fatal(err)
	}
	q, err := render.Postgres.Release(rewrite.Release(certificate.Releases[0], nil))
	if err != nil {
		b.Fatal(err)
	}
	q.Salt = 7919
	e, err := postgres.Open(b.Context(), c, postgres.Options{URL: url, Connections: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	return e, q
}

// groups is the domain of the groups.
func groups() string {
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprintf(`"group%d"`, i)
	}
	return strings.Join(names, ", ")
}

// exec runs statements and returns the first field of the last one.
func exec(b *testing.B, c *pgconn.PgConn, sql string) string {
	results, err := c.Exec(b.Context(), sql).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	if last := results[len(results)-1]; len(last.Rows) > 0 {
		return string(last.Rows[0][0])
	}
	return ""
}

// processor is the processor time that the server's processes for clients have used.
func processor(b *testing.B, c *pgconn.PgConn) (total time.Duration) {
	pids := strings.Split(exec(b, c, "SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE backend_type = 'client backend'"), ",")
	for _, pid := range pids {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // from the third
		for _, field := range fields[11:13] {
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			total += time.Duration(ticks) * 10 * time.Millisecond // of Linux, whatever the kernel's
		}
	}
	return total
}

// ownTime is the processor time of this process.
func ownTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
