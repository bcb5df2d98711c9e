//go:build unix

package ledger

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/filter"
)

// BenchmarkFsyncs counts the fsyncs of a client process by watching its system
// calls, from its opening of the ledger to its closing: those of checkpoints and
// of the anchor are in the count. What it must reach: at most 1.5 fsyncs a
// reservation alone, at least 15 reservations an fsync with 64 goroutines.
func BenchmarkFsyncs(b *testing.B) {
	tool := strace(b)
	for _, goroutines := range []int{1, 64} {
		for _, kind := range []string{"reserve", "reserve+commit", "reserve+commit+anchor"} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", kind, goroutines), func(b *testing.B) {
				o := Options{Domains: []DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: eps("1000000")}}}
				if kind == "reserve+commit+anchor" {
					o.Anchor = filepath.Join(b.TempDir(), "anchor")
				}
				l, path := create(b, o)
				l.Close()
				trace := filepath.Join(b.TempDir(), "trace")
				each := (b.N + goroutines - 1) / goroutines
				c := client{path: path, anchor: o.Anchor, name: "bench", goroutines: goroutines, count: each, commit: kind != "reserve"}
				cmd := c.command(tool, "-f", "-qq", "--seccomp-bpf", "-e", "trace=fsync,fdatasync,sync_file_range,msync", "-e", "signal=none", "-o", trace)
				b.ResetTimer()
				if out, err := cmd.Output(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				b.StopTimer()
				syncs := bytes.Count(must(os.ReadFile(trace)), []byte("sync("))
				b.ReportMetric(float64(syncs)/float64(each*goroutines), "fsyncs/reservation")
				b.ReportMetric(float64(each*goroutines)/float64(syncs), "reservations/fsync")
			})
		}
	}
}

func BenchmarkReserve(b *testing.B) {
	l, _ := create(b, Options{Domains: []DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: eps("1000000")}}})
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := l.Reserve(ctx, ask("0.0001")); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	l, _ := create(b, Options{Domains: []DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: eps("1000000")}}})
	for range 1000 {
		must(l.Reserve(ctx, ask("0.0001")))
	}
	for b.Loop() {
		l.verifyOrFail(b)
	}
}
