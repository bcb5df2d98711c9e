//go:build cgo

package duckdb_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestReplacedWhileAsked: while a Parquet file is replaced by another, again and again, each
// answer is one of the first or of the second, whole; a query may fail, and says nothing then.
// CI asks 40 times of either kind, DISCREET_SOAK 400.
func TestReplacedWhileAsked(t *testing.T) {
	// By the footer of the first, all its values are below 1500; the bytes of both have the same places.
	low, high := "SELECT i AS u FROM range(1000) AS t(i)", "SELECT i + 1000 AS u FROM range(1000) AS t(i)"
	want := map[[2]int64]bool{{1000, 499500}: true, {500, 624750}: true}
	queries := 40
	if os.Getenv("DISCREET_SOAK") != "" {
		queries = 400
	}
	for _, held := range []int64{0, 64 << 20} { // read where it is, or kept
		dir := t.TempDir()
		lay(t, dir, map[string]string{"t.parquet": low, "low.parquet": low, "high.parquet": high})
		e := open(t, severalOf(t, dir, "t.parquet", `u = { type = "bigint" }`),
			duckdb.Held(duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true}, time.Nanosecond), held))
		over := make(chan struct{})
		var replacing sync.WaitGroup
		replacing.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				case <-time.After(time.Duration(i%13*(1+i/500)) * 300 * time.Microsecond): // ever longer, so that also a slow query meets none
				}
				from, next := filepath.Join(dir, []string{"low", "high"}[i%2]+".parquet"), filepath.Join(dir, "next.parquet")
				bytes, err := os.ReadFile(from)
				if err == nil {
					err = os.WriteFile(next, bytes, 0o600)
				}
				if err == nil {
					err = os.Rename(next, filepath.Join(dir, "t.parquet"))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
		failed, seen := 0, map[[2]int64]int{}
		const below = "SELECT u FROM t WHERE u < 1500"
		asked := 0
		for i := 0; i < queries || len(seen) == 0 && i < 1000*queries; i++ { // on a busy machine most queries meet a replacement
			asked++
			q := engine.Query{SQL: "SELECT count(*) AS x0, sum(u) AS x1 FROM (" + below + ") AS t", Groups: below, Tables: []string{"t"}, Values: 2}
			if i%2 == 0 {
				q.SQL += " WHERE CAST($salt AS BIGINT) >= 0"
			}
			x, err := e.Exact(t.Context(), q)
			if err != nil {
				failed++
				continue
			}
			row := x.RevealExact()[0]
			got := [2]int64{row[0].(sqltype.Decimal).Unscaled.Int64(), row[1].(sqltype.Decimal).Unscaled.Int64()}
			if seen[got]++; !want[got] {
				t.Errorf("held %d: %v is of neither file", held, got)
			}
		}
		close(over)
		replacing.Wait()
		if len(seen) == 0 {
			t.Errorf("held %d: no query of %d was answered", held, asked)
		}
		t.Logf("held %d: answers %v, %d failed", held, seen, failed)
	}
}
