//go:build cgo && unix

package duckdb_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A stepping context lets something happen when it is looked at for the n-th time, so that whoever looks at it often can be disturbed at each of his steps.
type stepping struct {
	context.Context
	steps atomic.Int64
	at    func(step int64)
}

func (s *stepping) Err() error {
	s.at(s.steps.Add(1))
	return s.Context.Err()
}

// Files that are replaced while they are copied, at whichever step, are copied as they are then, also if they are half written in between: no other
// reason is given for what went wrong with the former. Where a half of a file was left alone, that is what is said.
func TestReplacedWhileCopied(t *testing.T) {
	for name, of := range map[string]struct {
		ending, table, file string
		columns, rows       string
		apart               int64 // so many steps at most
	}{
		"parquet": {".parquet", "people", "people", "id, name", "(1, 'ann'), (2, 'bob')", 12},
		"csv":     {".csv", "people", "people", "id, name", "(1, 'ann'), (2, 'bob')", 24},
		"first":   {".parquet", "labs", "labs", "visit, value", "(10, 1), (11, 2)", 24},
		"last":    {".csv", "labs", "people", "id, name", "(1, 'ann'), (2, 'bob')", 80},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{t.TempDir(), of.ending, "", "bigint"}
			w.write(t, "people", "id, name", "(1, 'ann'), (2, 'eve')")
			w.write(t, "visits", "visit, person", "(10, 1), (11, 2)")
			w.write(t, "labs", "visit, value", "(10, 1), (11, 5)")
			c, path := w.catalog(t), filepath.Join(w.dir, of.file+of.ending)
			former, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			w.write(t, of.file, of.columns, of.rows)
			latter, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var one sync.Mutex
			put := func(content []byte) {
				one.Lock()
				defer one.Unlock()
				if err := errors.Join(os.WriteFile(path+".new", content, 0o600), os.Rename(path+".new", path)); err != nil {
					t.Error(err)
				}
			}
			for at, last := int64(1), false; !last; at += 1 + rand.Int64N(of.apart) {
				for _, half := range []bool{false, true} {
					put(former)
					e := open(t, c, duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless))
					step := &stepping{Context: t.Context(), at: func(step int64) {
						switch {
						case step == at && half:
							put(latter[:len(latter)/2])
						case step == at, step == at+1 && half:
							put(latter)
						}
					}}
					copy, err := e.MakeCopy(step, of.table)
					last = step.steps.Load() < at
					var said *diagnostic.Diagnostic
					if half && errors.As(err, &said) && of.ending == ".parquet" {
						continue
					}
					if err != nil || copy.State != engine.Copied {
						t.Errorf("replaced at step %d, half %t: %+v, %v", at, half, copy, err)
					}
				}
			}
		})
	}
}
