//go:build cgo && unix

package duckdb_test

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// within reports whether who looks at a context does so within a function of package duckdb, of this name.
func within(function string) bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, "/engine/duckdb.") && strings.HasSuffix(frame.Function, function) {
			return true
		}
		if !more {
			return false
		}
	}
}

// While a statement reads the files of its table, to see whether there is a copy of them, statements over other tables are answered, and another
// over the same table waits, and does not read them again.
func TestHashingStopsNobodyElse(t *testing.T) {
	rows := func(tables ...string) engine.Query {
		count := "SELECT CAST(count(*) AS HUGEINT) AS x0 FROM "
		return engine.Query{SQL: count + strings.Join(tables, ", "), Tables: tables, Values: 1, Held: &engine.Held{SQL: count + engine.LaidName(tables[0]), Copies: tables}}
	}
	for name, of := range map[string]struct {
		ending, table string
		q             engine.Query
	}{
		"held":    {".parquet", "labs", labsByUnit()},
		"parquet": {".parquet", "people", rows("people")},
		"csv":     {".csv", "people", rows("people")},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{t.TempDir(), of.ending, "", "bigint"}
			w.write(t, "people", "id, name", "(1, 'ann')")
			w.write(t, "visits", "visit, person", "(10, 1)")
			w.write(t, "labs", "visit, value", "(10, 1)")
			options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless)
			if _, err := open(t, w.catalog(t), options).MakeCopy(t.Context(), of.table); err != nil {
				t.Fatal(err)
			}
			e := open(t, w.catalog(t), options)
			reading, on := make(chan struct{}), make(chan struct{})
			looks := 0
			first := &stepping{Context: t.Context(), at: func(int64) {
				if within("digestOf") {
					if looks++; looks == 1 {
						close(reading)
						<-on
					}
				}
			}}
			again := 0
			second := &stepping{Context: t.Context(), at: func(int64) {
				if within("digestOf") {
					again++
				}
			}}
			answered := make(chan error, 2)
			go func() { _, err := e.Exact(first, of.q); answered <- err }()
			<-reading
			go func() { _, err := e.Exact(second, of.q); answered <- err }()
			ask := func(ctx context.Context, q engine.Query, answers bool) {
				over := make(chan error, 1)
				go func() { _, err := e.Exact(ctx, q); over <- err }()
				select {
				case err := <-over:
					if (err == nil) != answers {
						t.Errorf("%v: %v", q.Tables, err)
					}
				case <-time.After(30 * time.Second): // which is for ever, for what waits for nothing
					t.Errorf("%v: it waits", q.Tables)
				}
			}
			for _, table := range []string{"visits", "labs", "people"} {
				if table != of.table {
					ask(t.Context(), rows(table), true)
				}
			}
			impatient, give := context.WithCancel(t.Context())
			time.AfterFunc(restless, give)
			ask(impatient, of.q, false)
			close(on)
			for range 2 {
				if err := <-answered; err != nil {
					t.Error(err)
				}
			}
			if looks == 0 || again > 0 {
				t.Errorf("files are read %d times by the first, %d times by the second", looks, again)
			}
		})
	}
}
