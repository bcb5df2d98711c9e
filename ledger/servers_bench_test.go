//go:build unix

package ledger

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/filter"
)

// BenchmarkServers has 1 and 3 processes of 64 clients each reserve from one ledger: a file, and
// a database on the same disk. Syncs are those of the database's log, by its own count; of the
// file see BenchmarkFsyncs. Starts of the processes are in the times.
func BenchmarkServers(b *testing.B) {
	for _, kind := range []string{"file", "postgres"} {
		for _, servers := range []int{1, 3} {
			b.Run(fmt.Sprintf("%s/servers=%d", kind, servers), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "ledger")
				if kind == "postgres" {
					path = newTestDatabase(b, testServer(b, "shared_buffers=64MB"))
				}
				must(Create(ctx, path, Options{Domains: []DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: eps("1000000")}}, Now: now})).Close()
				syncs := func() (n int64) {
					if kind != "postgres" {
						return 0
					}
					l := must(connect(path, Options{}))
					defer l.db.Close()
					time.Sleep(1500 * time.Millisecond) // sessions tell their counts once a second
					if err := l.db.QueryRow("SELECT wal_sync FROM pg_stat_wal").Scan(&n); err != nil {
						b.Fatal(err)
					}
					return n
				}
				before := syncs()
				each := (b.N + 64*servers - 1) / (64 * servers)
				b.ResetTimer()
				var all []*exec.Cmd
				for range servers {
					cmd := client{path: path, name: "bench", goroutines: 64, count: each}.command()
					if err := cmd.Start(); err != nil {
						b.Fatal(err)
					}
					all = append(all, cmd)
				}
				for _, cmd := range all {
					if err := cmd.Wait(); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				reserved := float64(each * 64 * servers)
				b.ReportMetric(reserved/b.Elapsed().Seconds(), "reservations/s")
				if n := syncs() - before; n > 0 {
					b.ReportMetric(float64(n)/reserved, "fsyncs/reservation")
				}
			})
		}
	}
}
