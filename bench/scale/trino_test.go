//go:build cgo && linux

package scale

import (
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/internal/trinotest"
)

var heap = flag.Int("heap", 0, "the memory of each process of Trino in MiB, of which a query may use four ninths; 0: 900")

// BenchmarkBoundedTrino is BenchmarkBounded over Iceberg tables of a coordinator and two workers, as
// rows come, and in buckets of units. Times are the processor time of threads that computed, as the cluster
// counts it; each of both is the least of several, as code is compiled while the first ones run.
func BenchmarkBoundedTrino(b *testing.B) {
	c := trinotest.StartCluster(b, trinotest.Options{Workers: 2, Heap: *heap})
	schema := c.Schema(b)
	made := fmt.Sprintf(`SELECT CAST(CASE WHEN r < 0.83 THEN floor(random() * %[1]d * 0.95) ELSE floor(%[1]d * (0.95 + random() * 0.05)) END AS BIGINT) AS unit,
		'group' || CAST(random(20) AS VARCHAR) AS g, round(random() * 5000, 2) AS x FROM (SELECT random() AS r FROM UNNEST(sequence(1, %[2]d)) AS a CROSS JOIN UNNEST(sequence(1, 1000)) AS b)`, *rows/10, *rows/1000)
	c.Exec(b, "CREATE TABLE "+schema+".anyhow AS "+made)
	c.Exec(b, "CREATE TABLE "+schema+".bucketed WITH (partitioning = ARRAY['bucket(unit, 8)']) AS SELECT * FROM "+schema+".anyhow")
	for _, table := range []string{"anyhow", "bucketed"} {
		for _, bounds := range [][2]int{{20, 50}, {20, 4}, {15, 6}, {12, 4}, {8, 3}, {4, 1}} {
			for _, what := range []string{"count(*)", "sum(x)"} {
				b.Run(fmt.Sprintf("%s/%s/groups=%d/rows=%d", table, what, bounds[0], bounds[1]), func(b *testing.B) {
					e, q := boundedTrino(b, c, schema+"."+table, bounds, "SELECT g, "+what+" FROM t GROUP BY g")
					plain := fmt.Sprintf("SELECT g, sum(s) FROM (SELECT g, unit, %s AS s FROM %s.%s GROUP BY g, unit) AS q GROUP BY g", what, schema, table)
					ours, theirs := trinotest.Work{Processor: math.MaxInt64}, trinotest.Work{Processor: math.MaxInt64}
					least := func(of *trinotest.Work, mark string) {
						if w := c.WorkOf(b, mark); w.Processor < of.Processor {
							*of = w
						}
					}
					for i := range b.N + 3 {
						c.Exec(b, fmt.Sprintf("%s -- plain %d", plain, i))
						least(&theirs, fmt.Sprintf("-- plain %d", i))
						if _, err := e.Exact(b.Context(), q); err != nil {
							b.Fatal(cause(err))
						}
						least(&ours, "array_agg")
					}
					b.ReportMetric(ours.Processor.Seconds()/theirs.Processor.Seconds(), "ratio")
					b.ReportMetric(theirs.Processor.Seconds(), "plain-s")
					b.ReportMetric(float64(ours.Moved)/(1<<20), "moved-MiB")
					b.ReportMetric(float64(theirs.Moved)/(1<<20), "plain-moved-MiB")
					b.ReportMetric(float64(ours.Most)/(1<<20), "most-MiB")
					b.ReportMetric(float64(theirs.Most)/(1<<20), "plain-most-MiB")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// boundedTrino opens a table under bounds.
func boundedTrino(b *testing.B, cluster *trinotest.Cluster, table string, bounds [2]int, statement string) (*trino.Engine, engine.Query) {
	text := strings.Replace(fmt.Sprintf(declared, bounds[0], bounds[1], groups()), `"public.t"`, strconv.Quote(table), 1)
	return openTrino(b, cluster, strings.Replace(text, `"postgres"`, `"trino"`, 1), statement)
}

// openTrino opens a catalog, and is what the cluster is asked for a statement.
func openTrino(b *testing.B, cluster *trinotest.Cluster, text, statement string) (*trino.Engine, engine.Query) {
	c, err := catalog.Parse("discreet.toml", text)
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
	q, err := render.Trino.Release(rewrite.Release(certificate.Releases[0], nil))
	if err != nil {
		b.Fatal(err)
	}
	q.Salt = 7919
	e, err := trino.Open(b.Context(), c, trino.Options{URL: cluster.As("owner"), Connections: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	return e, q
}

// BenchmarkGrowthTrino is BenchmarkGrowth over a coordinator and one or two workers. Its metrics are
// the processor time of threads that computed, the bytes that moved between workers, and the most
// that one worker held, as the cluster counts them: of the run that took least of three.
func BenchmarkGrowthTrino(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { growthTrino(b, workers) }) // one cluster at a time
	}
}

func growthTrino(b *testing.B, workers int) {
	c := trinotest.StartCluster(b, trinotest.Options{Workers: workers, Heap: *heap})
	schema, n := c.Schema(b), *growth
	for i, s := range []struct{ rows, units, groups int }{{n / 10, n / 100, 100}, {n, n / 10, 100}, {3 * n, 3 * n / 10, 100}, {10 * n, n, 100}, {n, n / 1000, 100}, {n, n, 100}, {n, n / 10, 1}, {n, n / 10, 10_000}} {
		if workers == 1 && i > 3 {
			break
		}
		b.Run(fmt.Sprintf("rows=%d/units=%d/groups=%d", s.rows, s.units, s.groups), func(b *testing.B) {
			table := fmt.Sprintf("%s.t%d", schema, i)
			c.Exec(b, "DROP TABLE IF EXISTS "+table)
			c.Exec(b, fmt.Sprintf(`CREATE TABLE %s AS SELECT u AS unit, CAST((u * 7919 + random(10) * 104729) %% %d AS INTEGER) AS g, CAST(random(5000) AS DOUBLE) AS x
				FROM (SELECT CAST(random(%d) AS BIGINT) AS u FROM UNNEST(sequence(1, %d)) AS a CROSS JOIN UNNEST(sequence(1, 1000)) AS b)`, table, s.groups, s.units, s.rows/1000))
			header := "[engine]\nkind = \"trino\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true"
			e, q := openTrino(b, c, fmt.Sprintf(grown, header, table, s.groups-1), "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g")
			least := trinotest.Work{Processor: math.MaxInt64}
			for range b.N + 2 {
				if _, err := e.Exact(b.Context(), q); err != nil {
					b.Fatal(cause(err))
				}
				if w := c.WorkOf(b, "q(o0"); w.Processor < least.Processor {
					least = w
				}
			}
			b.ReportMetric(least.Processor.Seconds()*1000, "cpu-ms")
			b.ReportMetric(float64(least.Moved)/(1<<20), "moved-MiB")
			b.ReportMetric(float64(least.Most)/(1<<20), "most-MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}
