//go:build cgo && unix

package duckdb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
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

// A folder that is renamed away and back while its files are copied, or a link that is switched and back, leaves no copy of what was in its place meanwhile.
func TestRenamedWhileCopied(t *testing.T) {
	for _, ending := range []string{".csv", ".parquet"} {
		for _, linked := range []bool{false, true} {
			t.Run(fmt.Sprint(ending, linked), func(t *testing.T) {
				dir := t.TempDir()
				there, away, other := filepath.Join(dir, "data"), filepath.Join(dir, "away"), filepath.Join(dir, "other")
				for folder, value := range map[string]string{there: "2", other: "3"} {
					if err := os.Mkdir(folder, 0o700); err != nil {
						t.Fatal(err)
					}
					execute(t, "COPY (SELECT 1 AS u, "+value+".0::DOUBLE AS v) TO '"+filepath.Join(folder, "t"+ending)+"'")
				}
				swap := func() error { return errors.Join(os.Rename(there, away), os.Rename(other, there)) }
				back := func() error { return errors.Join(os.Rename(there, other), os.Rename(away, there)) }
				if linked {
					link := func(to string) error {
						return errors.Join(os.Symlink(to, filepath.Join(dir, "new")), os.Rename(filepath.Join(dir, "new"), there))
					}
					if err := errors.Join(os.Rename(there, away), link(away)); err != nil {
						t.Fatal(err)
					}
					swap, back = func() error { return link(other) }, func() error { return link(away) }
				}
				c := unitsOf(t, dir, "data/t"+ending)
				made := 0
				for at, last := int64(1), false; !last; at += 1 + rand.Int64N(4) {
					var one sync.Mutex
					renamed, n := false, 1+rand.Int64N(3)
					move := func(how func() error, to bool) {
						one.Lock()
						defer one.Unlock()
						if renamed == to {
							return
						}
						time.Sleep(5 * time.Millisecond) // the system's clock has a grain
						if err := how(); err != nil {
							t.Error(err)
						}
						renamed = to
					}
					options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless)
					step := &stepping{Context: t.Context(), at: func(step int64) {
						switch {
						case step == at:
							move(swap, true)
						case step >= at+n:
							move(back, false)
						}
					}}
					copy, err := open(t, c, options).MakeCopy(step, "t")
					last = step.steps.Load() < at
					if renamed { // it was over before
						move(back, false)
						continue
					}
					if err != nil {
						continue
					}
					reader := open(t, c, options)
					if err := duckdb.Fresh(t.Context(), reader, "t"); err != nil || attached(t, reader) != 1 {
						t.Fatalf("%v, %d copies", err, attached(t, reader))
					}
					made++
					if got := inOrder(t, reader); copy.State != engine.Copied || got != "1:2.0" {
						t.Errorf("renamed at step %d, back at step %d: the copy has %s", at, at+n, got)
					}
				}
				if made < 2 {
					t.Errorf("%d copies are too few", made)
				}
			})
		}
	}
}

// Where another folder stands for a while in the place of the files', a copy that holds units is of the files all the same: be it while text is read, or while
// Parquet files are copied. The system tells the same of the files before and after.
func TestAnotherFolderWhileUnitsAreFound(t *testing.T) {
	for ending, of := range map[string]struct{ from, to string }{".csv": {"keepHeld", "keepHeld.func1"}, ".parquet": {"keepHeld.func1", "digestOf"}} {
		t.Run(ending, func(t *testing.T) {
			at := t.TempDir()
			folder, other, aside := filepath.Join(at, "data"), filepath.Join(at, "other"), filepath.Join(at, "aside")
			for dir, people := range map[string]string{folder: "(1, 'ann'), (2, 'eve')", other: "(1, 'bob'), (3, 'eve')"} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				w := world{dir, ending, "", "bigint"}
				w.write(t, "people", "id, name", people)
				w.write(t, "visits", "visit, person", "(10, 1), (11, 2)")
				w.write(t, "labs", "visit, value", "(10, 1), (11, 5)")
			}
			swap := func(from, to string) {
				if err := errors.Join(os.Rename(folder, to), os.Rename(from, folder)); err != nil {
					t.Error(err)
				}
			}
			ask := func(e *duckdb.Engine) []sqltype.Value {
				t.Helper()
				q := labsByUnit()
				q.Held.SQL = strings.Replace(q.Held.SQL, " - 1000000", "", 1)
				x, err := e.Exact(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				return x.RevealExact()[0]
			}
			c := world{folder, ending, "", "bigint"}.catalog(t)
			options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true}, restless)
			want := ask(open(t, c, options))
			options.Copies = filepath.Join(t.TempDir(), "copies")
			swaps := 0
			step := &stepping{Context: t.Context(), at: func(int64) {
				switch {
				case swaps == 0 && within(of.from):
					swap(other, aside)
				case swaps == 1 && within(of.to) && within("keepHeld.func1"):
					swap(aside, other)
				default:
					return
				}
				swaps++
			}}
			if made, err := open(t, c, options).MakeCopy(step, "labs"); err != nil || made.State != engine.Copied {
				t.Errorf("%+v, %v", made, err)
			}
			if swaps != 2 {
				t.Fatalf("the test is weak: %d folders have changed places", swaps)
			}
			if got := ask(open(t, c, options)); !reflect.DeepEqual(got, want) {
				t.Errorf("by the copy that was made it is %v, want %v", got, want)
			}
		})
	}
}
