//go:build cgo && linux

package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// beside are two databases that differ in one unit, and what is asked of both.
type beside struct {
	name string
	with string   // the unit's rows, as SELECT patient_id, department, cost
	ask  question // charged each time
}

// unit are the rows of one that one database has and the other has not.
func unit(rows int) string {
	return fmt.Sprintf("SELECT CAST(4000000 AS BIGINT) AS patient_id, 'ward ' || i %% 8 AS department, CAST(i %% 3000 AS DOUBLE) AS cost FROM range(%d) AS t(i)", rows)
}

// chosen asks for groups that are chosen privately: how many there are is in the answer.
func chosen(b *testing.B, c *pgx.Conn, i int) error {
	if i < 0 {
		if _, err := c.Exec(b.Context(), "SET discreet.delta = '0.00001'"); err != nil {
			return err
		}
	}
	_, err := c.Exec(b.Context(), "SELECT place, count(*) AS visits FROM visits GROUP BY place")
	return err
}

var besides = []beside{
	{"same", unit(0), asked(grouped)},
	{"rows=5", unit(5), asked(grouped)},
	{"rows=10000", unit(10_000), asked(grouped)},
	{"rows=200000", unit(200_000), asked(grouped)},
	{"rows=10000,new", unit(10_000), different},
	{"rows=200000,new", unit(200_000), different},
	{"group", "SELECT CAST(4000000 AS BIGINT) AS patient_id, 'a place of its own' AS department, 1.0 AS cost", chosen},
}

// BenchmarkTiming is what an analyst learns from the time that one charged statement takes: two
// servers run beside each other, over databases that differ in one unit, and one client asks
// both b.N times, by chance the one or the other first. See advantage for the bounds, each of
// which is wrong with probability at most 0.005. "same" asks about two equal databases: what
// is told apart there is the machine's, not the data's.
//
//	go test ./bench/serve -run '^$' -bench Timing -benchtime 500x
func BenchmarkTiming(b *testing.B) {
	for _, step := range []time.Duration{0, 50 * time.Millisecond} {
		for _, two := range besides {
			b.Run(fmt.Sprintf("step=%v/%s", step, two.name), func(b *testing.B) { two.measure(b, step) })
		}
	}
}

func (two beside) measure(b *testing.B, step time.Duration) {
	if b.N == 1 {
		return // go test asks for one before it asks for many
	}
	var conns [2]*pgx.Conn
	for i, rows := range []string{visits, visits + " UNION ALL " + two.with} {
		dir := b.TempDir()
		// A place is as private as a department is public: no list of places is declared.
		if _, err := plain(b).Exec(fmt.Sprintf("COPY (SELECT *, department AS place FROM (%s) AS t) TO '%s' (FORMAT parquet)", rows, filepath.Join(dir, "visits.parquet"))); err != nil {
			b.Fatal(err)
		}
		path := filepath.Join(dir, "discreet.toml")
		if err := os.WriteFile(path, []byte(withPlaces), 0o600); err != nil {
			b.Fatal(err)
		}
		conns[i] = paced(b, path, step).connect(b, 1, true)[0]
	}
	time.Sleep(3 * time.Second) // of a file that was just written no plan is kept
	for i, c := range conns {
		for range 20 {
			if err := two.ask(b, c, -1-i); err != nil {
				b.Fatal(err)
			}
		}
	}
	bits := entropy.New()
	var d durations
	for i := range b.N {
		u, err := bits.Uint64()
		if err != nil {
			b.Fatal(err)
		}
		for j := range 2 {
			which := (int(u%2) + j) % 2
			began := time.Now()
			if err := two.ask(b, conns[which], i); err != nil {
				b.Fatal(err)
			}
			d[which] = append(d[which], time.Since(began))
		}
	}
	a, err := d.advantage(step, 0.005)
	if err != nil {
		b.Fatal(err)
	}
	median := func(all []time.Duration) float64 {
		return milliseconds(slices.Sorted(slices.Values(all))[len(all)/2])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(d[0]), "without-p50-ms")
	b.ReportMetric(median(d[1]), "with-p50-ms")
	b.ReportMetric(a.least, "advantage-min")
	b.ReportMetric(a.thresholds, "thresholds-max")
	if step > 0 {
		b.ReportMetric(a.steps, "steps-max")
	}
}
