package bench

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sqltype"
)

// mapped runs f over n records on all processors and returns the sum of what it makes.
func mapped(n int, f func(record []sqltype.Value) ([]sandbox.Output, error)) (total float64, err error) {
	var mu sync.Mutex
	var workers sync.WaitGroup
	parts := runtime.GOMAXPROCS(0)
	for p := range parts {
		workers.Go(func() {
			record := make([]sqltype.Value, 2)
			sum := 0.0
			for i := p; i < n; i += parts {
				record[0], record[1] = int64(i%100), float64(i%50)
				out, e := f(record)
				for _, o := range out {
					sum += o.Value
				}
				if e != nil {
					mu.Lock()
					err = e
					mu.Unlock()
					return
				}
			}
			mu.Lock()
			total += sum
			mu.Unlock()
		})
	}
	workers.Wait()
	return total, err
}

var ageGroups = []string{"0", "25", "50", "75"}

// native is the mapper of sandbox/testdata as a function of this program.
func native(record []sqltype.Value) ([]sandbox.Output, error) {
	age, ok := record[0].(int64)
	cost, present := record[1].(float64)
	if !ok || !present {
		return nil, nil
	}
	return []sandbox.Output{{Key: ageGroups[min(age/25, 3)], Value: min(max(cost, 0), 100)}}, nil
}

// BenchmarkSandbox maps 200,000 records at a time, each in the state in which the
// module began: of C and Rust with 64 KiB and about 1 MiB of memory, of Go with its
// runtime. The ratio is to the same mapper as a Go function, in the same run.
func BenchmarkSandbox(b *testing.B) {
	const n = 200_000
	ctx := context.Background()
	seconds := map[string]float64{}
	measure := func(b *testing.B, name string, f func([]sqltype.Value) ([]sandbox.Output, error)) {
		want := 0.0
		for i := range n {
			want += float64(i % 50)
		}
		for b.Loop() {
			if got, err := mapped(n, f); err != nil || got != want {
				b.Fatal(got, want, err)
			}
		}
		seconds[name] = b.Elapsed().Seconds() / float64(b.N)
		b.ReportMetric(n/seconds[name], "records/s")
		if base := seconds["native"]; base > 0 {
			b.ReportMetric(seconds[name]/base, "x-native")
		}
	}
	b.Run("native", func(b *testing.B) { measure(b, "native", native) })
	for _, language := range []string{"c", "rust", "go"} {
		b.Run(language, func(b *testing.B) {
			binary, err := os.ReadFile(filepath.Join("..", "sandbox", "testdata", language, "mapper.wasm"))
			if err != nil {
				b.Fatal(err)
			}
			m, err := sandbox.Load(ctx, binary, sandbox.Options{
				Columns: []sandbox.Column{{Name: "age", Type: sqltype.Of(sqltype.Integer)}, {Name: "cost", Type: sqltype.Of(sqltype.Double)}},
				Keys:    ageGroups, Lower: 0, Upper: 100,
			})
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close(ctx)
			measure(b, language, func(r []sqltype.Value) ([]sandbox.Output, error) { return m.Map(ctx, r) })
		})
	}
}
