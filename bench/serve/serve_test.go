//go:build cgo && linux

package serve

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// grouped is the statement of the targets.
const grouped = "SELECT department, count(*) AS visits FROM visits GROUP BY department"

// A question is what a client asks at a time.
type question func(b *testing.B, c *pgx.Conn, i int) error

func asked(sql string) question {
	return func(b *testing.B, c *pgx.Conn, _ int) error {
		rows, err := c.Query(b.Context(), sql)
		if err != nil {
			return err
		}
		n := 0
		for rows.Next() {
			n++
		}
		if rows.Err() == nil && n < 8 {
			return fmt.Errorf("%d rows", n)
		}
		return rows.Err()
	}
}

// different asks a statement that was not asked before, which has to be planned.
func different(b *testing.B, c *pgx.Conn, i int) error {
	return asked(fmt.Sprintf("SELECT department, count(*) AS visits FROM visits WHERE cost >= %d.%03d GROUP BY department", i/1000%100, i%1000))(b, c, i)
}

// ask asks b.N times through all connections at once, and returns how long each took, in
// order, and all.
func ask(b *testing.B, all []*pgx.Conn, q question) (each []time.Duration, whole time.Duration) {
	b.Helper()
	for i, c := range all { // what is prepared once is
		if err := q(b, c, -1-i); err != nil {
			b.Fatal(err)
		}
	}
	each = make([]time.Duration, b.N)
	var next atomic.Int64
	var clients sync.WaitGroup
	began := time.Now()
	for _, c := range all {
		clients.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				start := time.Now()
				if err := q(b, c, i); err != nil {
					b.Error(err)
					return
				}
				each[i] = time.Since(start)
			}
		})
	}
	clients.Wait()
	whole = time.Since(began)
	slices.Sort(each)
	return each, whole
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// alone reports the median of one client's statements.
func (s server) alone(b *testing.B, conn, own *pgx.Conn, q, theirs question) {
	before := s.processor(b)
	each, _ := ask(b, []*pgx.Conn{conn}, q)
	used := s.processor(b) - before
	plain, _ := ask(b, []*pgx.Conn{own}, theirs)
	b.ReportMetric(0, "ns/op") // both servers'
	b.ReportMetric(milliseconds(each[b.N/2]), "p50-ms")
	b.ReportMetric(milliseconds(each[b.N*99/100]), "p99-ms")
	b.ReportMetric(milliseconds(used)/float64(b.N+1), "processor-ms")
	b.ReportMetric(milliseconds(plain[b.N/2]), "postgres-p50-ms")
	b.ReportMetric(float64(each[b.N/2])/float64(plain[b.N/2]), "ratio")
}

// together reports how many answers a second many clients get.
func (s server) together(b *testing.B, conns, own []*pgx.Conn, q, theirs question) {
	before := s.processor(b)
	_, whole := ask(b, conns, q)
	used := s.processor(b) - before
	_, plain := ask(b, own, theirs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(b.N)/whole.Seconds(), "answers/s")
	b.ReportMetric(milliseconds(used)/float64(b.N+len(conns)), "processor-ms")
	b.ReportMetric(float64(b.N)/plain.Seconds(), "postgres/s")
	b.ReportMetric(plain.Seconds()/whole.Seconds(), "ratio")
}

// BenchmarkSmall asks about 10,000 rows in 8 groups.
//
//   - fresh: a grouped count that is charged each time, as it was asked before. Targets: p50
//     at most 5 ms; with 64 clients at least 400 answers a second;
//   - new: one that was never asked, and so has to be planned;
//   - repeated: one whose answer is stored. Target: 64 clients get at least 5,000 a second;
//   - explain: what a page shows while a statement is typed, by HTTP. Target: within 50 ms.
func BenchmarkSmall(b *testing.B) {
	s, own := small(b), postgres(b, 64, visits)
	fresh, stored := s.connect(b, 64, true), s.connect(b, 64, false)
	q := asked(grouped)
	b.Run("fresh/1", func(b *testing.B) { s.alone(b, fresh[0], own[0], q, q) })
	b.Run("fresh/64", func(b *testing.B) { s.together(b, fresh, own, q, q) })
	b.Run("new/1", func(b *testing.B) { s.alone(b, fresh[0], own[0], different, different) })
	b.Run("new/64", func(b *testing.B) { s.together(b, fresh, own, different, different) })
	b.Run("repeated/1", func(b *testing.B) { s.alone(b, stored[0], own[0], q, q) })
	b.Run("repeated/64", func(b *testing.B) { s.together(b, stored, own, q, q) })
	b.Run("explain/1", func(b *testing.B) {
		s.alone(b, own[0], own[0], s.explain, func(b *testing.B, c *pgx.Conn, i int) error {
			_, err := c.Exec(b.Context(), "EXPLAIN "+typed(i))
			return err
		})
	})
}

// BenchmarkDemo is a grouped count of the demo's 200,000 rows, charged each time.
func BenchmarkDemo(b *testing.B) {
	s, rows := demo(b)
	q := asked(grouped)
	fresh, own := s.connect(b, 1, true), postgres(b, 1, rows)
	b.Run("fresh/1", func(b *testing.B) { s.alone(b, fresh[0], own[0], q, q) })
}

// typed is a statement that somebody is typing.
func typed(i int) string {
	return fmt.Sprintf("SELECT department, avg(cost) FROM visits WHERE cost > %d GROUP BY department", max(i, 0))
}

func (s server) explain(b *testing.B, _ *pgx.Conn, i int) error {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://"+s.HTTP+"/v1/explain", strings.NewReader(fmt.Sprintf(`{"sql": %q, "rho": "0.01"}`, typed(i))))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if text, err := io.ReadAll(a.Body); err != nil || a.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s (%v)", a.Status, text, err)
	}
	return nil
}

// BenchmarkIdle is the memory of a server to which 1,000 clients are connected, each of
// whom has asked once. Target: under 300 MiB.
func BenchmarkIdle(b *testing.B) {
	s := small(b)
	for i, c := range s.connect(b, 1000, false) {
		if err := asked(grouped)(b, c, i); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("1000", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(s.resident(b), "MiB")
		}
	})
}
