//go:build cgo

package duckdb_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// counted asks for the number of rows of t below 1500, which of less the planner knows
// from the file, and of a half of them that the salt chooses.
func counted(t *testing.T, e engine.Engine, salt int64) (rows, chosen int64) {
	t.Helper()
	return row(t, e, halves(salt))
}

// halves counts the rows below 1500, and how many of them are of each half.
func halves(salt int64) engine.Query {
	const below = "SELECT u FROM t WHERE u < 1500 AND $slices > $slice"
	return engine.Query{
		SQL:    "SELECT count(*) AS x0, count(*) FILTER (WHERE hash(hash(CAST($salt AS BIGINT), u)) % 2 = 0) AS x1 FROM (" + below + ") AS t",
		Groups: below, Tables: []string{"t"}, Salt: salt, Values: 2}
}

func row(t *testing.T, e engine.Engine, q engine.Query) (a, b int64) {
	t.Helper()
	x, err := e.Exact(context.Background(), q)
	if err != nil {
		t.Fatal(err.(*engine.Failure).Cause())
	}
	row := x.RevealExact()[0]
	return row[0].(sqltype.Decimal).Unscaled.Int64(), row[1].(sqltype.Decimal).Unscaled.Int64()
}

// TestPlannedOnce: a query is planned once, and reads its files as they are and the salt
// that it is given each time.
func TestPlannedOnce(t *testing.T) {
	for _, format := range []string{"parquet", "csv"} {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			write := func(rows int) {
				text := fmt.Sprintf("SELECT CAST(i AS BIGINT) AS u FROM range(%d) AS t(i)", rows)
				if format == "csv" {
					text = "u\n"
					for i := range rows {
						text += fmt.Sprintln(i)
					}
				}
				lay(t, dir, map[string]string{"t." + format: text})
			}
			write(1000)
			c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), fmt.Sprintf(
				"[domains.p]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.t]\nsource = \"t.%s\"\ndomain = \"p\"\nunit = \"u\"\n[tables.t.columns]\nu = { type = \"bigint\" }\n", format))
			if err != nil {
				t.Fatal(err)
			}
			e, err := duckdb.Open(t.Context(), c, duckdb.Held(duckdb.Restless(duckdb.Options{Temp: t.TempDir(), Threads: 1}, restless), 1<<20))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			time.Sleep(2 * restless) // the file is left alone
			different := map[int64]bool{}
			for salt := range int64(10) {
				rows, chosen := counted(t, e, salt)
				if again, same := counted(t, e, salt); rows != 1000 || again != rows || same != chosen {
					t.Errorf("%d and %d rows, of which %d and %d", rows, again, chosen, same)
				}
				different[chosen] = true
			}
			if len(different) < 3 {
				t.Errorf("ten salts choose %v rows", different)
			}
			if n := duckdb.Plans(e); n != 1 {
				t.Errorf("%d plans wait", n)
			}
			var asked sync.WaitGroup
			for range 8 {
				asked.Go(func() {
					for range 5 {
						if rows, _ := counted(t, e, 1); rows != 1000 {
							t.Errorf("%d rows", rows)
						}
					}
				})
			}
			asked.Wait()
			if n := duckdb.Plans(e); n < 1 || n > 8 {
				t.Errorf("%d plans wait", n)
			}
			write(2000)
			if rows, _ := counted(t, e, 1); rows != 1500 {
				t.Errorf("of the file's rows 1500 are below 1500, the query sees %d", rows)
			}
		})
	}
}

// A further change might not show in the times of a file that was just changed: no plan over
// it is kept, and no copy of it.
func TestPlannedOverRestless(t *testing.T) {
	for _, format := range []string{"parquet", "csv"} {
		dir := t.TempDir()
		lay(t, dir, map[string]string{"t.csv": "u\n1\n2\n", "t.parquet": "SELECT unnest([1, 2]) AS u"})
		e := open(t, severalOf(t, dir, "t."+format, `u = { type = "bigint" }`), duckdb.Held(duckdb.Restless(duckdb.Options{Threads: 1}, time.Hour), 1<<20))
		for range 2 {
			if rows, _ := counted(t, e, 1); rows != 2 || duckdb.Plans(e) != 0 {
				t.Errorf("%s: %d rows, %d plans wait", format, rows, duckdb.Plans(e))
			}
		}
	}
}

// restless is how long files are left alone in tests: more than a file system's clock stands still.
const restless = 20 * time.Millisecond

// encoded are the bytes of a file: what stands in it, or for Parquet a SELECT. A Parquet
// file is padded to a size; to some if 0.
func encoded(t *testing.T, format, text string, size int) []byte {
	t.Helper()
	if format != "parquet" {
		return []byte(text)
	}
	owner, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	made := filepath.Join(t.TempDir(), "made.parquet")
	for pad := 1000; pad > 0; {
		if _, _, err := owner.Rows(t.Context(), fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet, KV_METADATA {pad: '%s'})", text, made, strings.Repeat("x", pad))); err != nil {
			t.Fatal(err)
		}
		bytes, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if size == 0 || len(bytes) == size {
			return bytes
		}
		pad += size - len(bytes)
	}
	t.Fatalf("no Parquet file of %d bytes: %s", size, text)
	return nil
}

// laid writes a file of a size, or of any if 0, and says that it was modified long ago.
func laid(t *testing.T, path, text string, size int64) os.FileInfo {
	t.Helper()
	if err := os.WriteFile(path, encoded(t, filepath.Ext(path)[1:], text, int(size)), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// A file is read as it is, also where whoever has written into it has set the time of its
// modification back: no plan, no copy, no view and no part of before is used.
func TestRewrittenInPlace(t *testing.T) {
	low, high := "SELECT i AS u FROM range(1000) AS t(i)", "SELECT i + 1000 AS u FROM range(1000) AS t(i)"
	ones, half := "u\n"+strings.Repeat("1\n", 1000), "u\n"+strings.Repeat("x\n", 500)+strings.Repeat("1\n", 500)
	for source, test := range map[string]struct {
		file, before, after string
		plans               int // none over files that are read where they are
	}{
		"t.parquet": {"t.parquet", low, high, 1},
		"*.parquet": {"t.parquet", low, high, 0},
		"t.csv":     {"t.csv", ones, half, 1},
		"*.csv":     {"t.csv", ones, half, 1},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, test.file)
		before := laid(t, path, test.before, 0)
		e := open(t, severalOf(t, dir, source, `u = { type = "bigint" }`), duckdb.Held(duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true}, restless), 1<<20))
		time.Sleep(2 * restless)
		for range 2 {
			if rows, _ := counted(t, e, 1); rows != 1000 || duckdb.Plans(e) != test.plans {
				t.Errorf("%s: %d rows, %d plans wait", source, rows, duckdb.Plans(e))
			}
		}
		after := laid(t, path, test.after, before.Size())
		if !os.SameFile(before, after) || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
			t.Fatalf("%s: the file shows that it was written", source)
		}
		time.Sleep(2 * restless)
		if rows, _ := counted(t, e, 1); rows != 500 || duckdb.Plans(e) != test.plans {
			t.Errorf("%s, written anew: %d rows of 500, %d plans wait", source, rows, duckdb.Plans(e))
		}
	}
	for _, source := range []string{"t.parquet", "*.parquet"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "t.parquet")
		before := laid(t, path, "SELECT DATE '2026-01-01' AS u", 0)
		e := open(t, severalOf(t, dir, source, `u = { type = "date" }`), duckdb.Restless(duckdb.Options{}, restless))
		time.Sleep(2 * restless)
		for _, want := range []string{"2026-01-01", "~"} { // a text that DuckDB would take for a day of the year 1
			_, rows, err := e.Public(t.Context(), "t")
			if err != nil {
				t.Fatal(err.(*engine.Failure).Cause())
			}
			if got := strings.Join(shown(rows), " "); got != want {
				t.Errorf("%s: %s, want %s", source, got, want)
			}
			laid(t, path, "SELECT '01/12/24' AS u", before.Size())
		}
	}
}

// TestPlansAreOfTheirFiles: a kept plan, and what is kept with it, is used for its own text over
// its own files alone, whatever else would drop it. A file that is written again has the same
// name and size, and can have its old time of modification.
func TestPlansAreOfTheirFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) []fs.FileInfo {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("PAR1"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		f, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return []fs.FileInfo{f}
	}
	a, b := write("a"), write("b")
	time.Sleep(20 * time.Millisecond) // the clock of the file system has moved
	again := write("a")
	both := []fs.FileInfo{a[0], b[0]}
	for _, test := range []struct {
		what, asked string
		now         []fs.FileInfo
		want        bool
	}{
		{"the same", "q", a, true},
		{"another text", "r", a, false},
		{"another file", "q", b, false},
		{"one file more", "q", both, false},
		{"no file", "q", nil, false},
		{"the file, written again", "q", again, false},
	} {
		if got := duckdb.Takes("q", a, test.asked, test.now); got != test.want {
			t.Errorf("%s: used %v, want %v", test.what, got, test.want)
		}
	}
}
