//go:build cgo && unix

package duckdb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// archiveOf opens an engine with an archive in a folder, and reads table t once its files are
// left alone for long enough.
func archiveOf(t *testing.T, c *catalog.Catalog, folder, size string) (rows string, found int) {
	t.Helper()
	time.Sleep(2 * restless) // a file must have been left alone
	e := open(t, c, duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: folder, CopiesSize: size}, restless))
	return publicRows(t, e), attached(t, e)
}

func publicRows(t *testing.T, e *duckdb.Engine) string {
	t.Helper()
	_, all, err := e.Public(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(shown(all), " ")
}

// attached is how many copies of an archive an engine reads.
func attached(t *testing.T, e *duckdb.Engine) (n int) {
	t.Helper()
	if err := duckdb.DB(e).QueryRowContext(t.Context(), "SELECT count(*) FROM duckdb_databases() WHERE starts_with(database_name, 'discreet_archived')").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// names are those of the copies in an archive, in order.
func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		all = append(all, strings.TrimSuffix(path, ".duckdb"))
	}
	return all
}

const numbers, texts = `u = { type = "bigint" }`, `v = { type = "text" }`

// Who opens the same files next reads the copy, and the same rows; of changed ones nobody does, in
// the process that read them before or in another.
func TestCopiesOutliveTheProcess(t *testing.T) {
	for name, file := range map[string]struct{ name, before, after string }{
		"csv":     {"t.csv", "u,v\n1,a\nx,\n3,\"b,c\"\n", "u,v\n1,a\nx,\n4,\"b,c\"\n"},
		"json":    {"t.jsonl", "{\"u\": 1, \"v\": \"a\"}\n{\"u\": 2}\n", "{\"u\": 1, \"v\": \"a\"}\n{\"u\": 3}\n"},
		"several": {"*.csv", "u,v\n1,a\n2,b\n", "u,v\n1,a\n3,b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, folder := filepath.Join(dir, strings.Replace(file.name, "*", "s", 1)), filepath.Join(t.TempDir(), "below", "copies")
			rewrite(t, path, file.before)
			c := severalOf(t, dir, file.name, numbers, texts)
			want := publicRows(t, open(t, c, duckdb.Options{}))
			if got, n := archiveOf(t, c, folder, ""); got != want || n != 0 || len(names(t, folder)) != 1 {
				t.Fatalf("first: %q of %d copies, %d made; want %q", got, n, len(names(t, folder)), want)
			}
			e := open(t, c, duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: folder}, restless))
			if got, n := publicRows(t, e), attached(t, e); got != want || n != 1 {
				t.Errorf("next: %q of %d copies, want %q", got, n, want)
			}
			err := filepath.Walk(filepath.Dir(folder), func(path string, info os.FileInfo, err error) error {
				if err == nil && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has mode %v", path, info.Mode())
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			// Of the same size, and modified at the same time.
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			rewrite(t, path, file.after)
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			changed := publicRows(t, open(t, c, duckdb.Options{}))
			if got, n := publicRows(t, e), attached(t, e); got != changed || got == want || n != 0 {
				t.Errorf("changed: %q of %d copies, want %q", got, n, changed)
			}
			if got, _ := archiveOf(t, c, folder, ""); got != changed || len(names(t, folder)) != 1 {
				t.Errorf("changed, in another process: %q, %d copies are there; want %q", got, len(names(t, folder)), changed)
			}
			if got, n := archiveOf(t, c, folder, ""); got != changed || n != 1 {
				t.Errorf("changed, next: %q of %d copies, want %q", got, n, changed)
			}
			// What is gone leaves no copy.
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			open(t, severalOf(t, dir, "other.csv", numbers), duckdb.Options{Lazy: true, Copies: folder})
			if left := names(t, folder); len(left) != 0 {
				t.Errorf("copies of what is gone: %v", left)
			}
		})
	}
}

// A copy is used for its own bytes alone, whatever the system says of the files: where another
// copy lies in its place, where its record is another's, where it is damaged, where others could
// write to it, and under other declarations.
func TestOtherCopiesAreNotUsed(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	path := filepath.Join(dir, "t.csv")
	c := severalOf(t, dir, "t.csv", numbers, texts)
	pair := func() (name string, copied, record []byte) {
		t.Helper()
		all := names(t, folder)
		if len(all) != 1 {
			t.Fatalf("%d copies", len(all))
		}
		copied, err := os.ReadFile(all[0] + ".duckdb")
		if err != nil {
			t.Fatal(err)
		}
		if record, err = os.ReadFile(all[0] + ".json"); err != nil {
			t.Fatal(err)
		}
		return all[0], copied, record
	}
	rewrite(t, path, "u,v\n1,a\n")
	old, _ := archiveOf(t, c, folder, "")
	_, oldCopy, oldRecord := pair()
	rewrite(t, path, "u,v\n2,a\n")
	want, _ := archiveOf(t, c, folder, "")
	name, copied, record := pair()
	if old == want || len(copied) != len(oldCopy) {
		t.Fatalf("%q and %q, %d and %d bytes", old, want, len(oldCopy), len(copied))
	}
	with := func(of, key string, from []byte) []byte { // a record with one member of another
		var a, b map[string]any
		if err := json.Unmarshal([]byte(of), &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(from, &b); err != nil {
			t.Fatal(err)
		}
		a[key] = b[key]
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	damaged := slices.Clone(copied)
	damaged[len(damaged)/2] ^= 1
	for what, lay := range map[string]struct {
		copied, record []byte
		mode           os.FileMode
		found          int
	}{
		"itself":                       {copied, record, 0o600, 1},
		"of other bytes":               {oldCopy, with(string(oldRecord), "files", record), 0o600, 0},
		"another in its place":         {oldCopy, record, 0o600, 0},
		"another's record":             {copied, with(string(record), "copy", oldRecord), 0o600, 0},
		"damaged":                      {damaged, record, 0o600, 0},
		"without an end":               {copied[:len(copied)/2], record, 0o600, 0},
		"no record":                    {copied, []byte("{"), 0o600, 0},
		"others can write to it":       {copied, record, 0o620, 0},
		"others can read it":           {copied, record, 0o604, 0},
		"an empty copy of other bytes": {nil, bytes.ReplaceAll(record, []byte("source"), []byte("sauce")), 0o600, 0},
	} {
		for file, text := range map[string][]byte{name + ".duckdb": lay.copied, name + ".json": lay.record} {
			rewrite(t, file, string(text))
			if err := os.Chmod(file, lay.mode); err != nil {
				t.Fatal(err)
			}
		}
		if got, n := archiveOf(t, c, folder, ""); got != want || n != lay.found {
			t.Errorf("%s: %q of %d copies, want %q of %d", what, got, n, want, lay.found)
		}
	}
	rewrite(t, path, "u,v\n2.5,a\n3,b\n")
	seen := map[string]bool{}
	for i, declared := range []string{numbers, `u = { type = "double" }`, `u = { type = "text" }`, `u = { type = "bigint", from = "v" }`, `u = { is = "cast(u AS double) * 2", type = "double" }`} {
		of := severalOf(t, dir, "t.csv", declared, texts)
		plain := publicRows(t, open(t, of, duckdb.Options{}))
		for j := range 2 {
			if got, n := archiveOf(t, of, folder, ""); got != plain || n != j {
				t.Errorf("declaration %d: %q of %d copies, want %q of %d", i, got, n, plain, j)
			}
		}
		seen[plain] = true
	}
	if len(seen) != 4 { // double and text look alike
		t.Errorf("the declarations are alike: %v", seen)
	}
}

// There are no more bytes than there may be, and what was used last stays; others do not reach
// the folder.
func TestArchiveIsBoundedAndClosed(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	table := func(i int) *catalog.Catalog {
		rewrite(t, filepath.Join(dir, fmt.Sprintf("%d.csv", i)), fmt.Sprintf("u\n%d\n", i))
		return severalOf(t, dir, fmt.Sprintf("%d.csv", i), numbers)
	}
	if _, _ = archiveOf(t, table(0), folder, "1KB"); len(names(t, folder)) != 0 {
		t.Error("a copy beyond the limit is kept")
	}
	first, second, third := table(1), table(2), table(3)
	archiveOf(t, first, folder, "")
	info, err := os.Stat(names(t, folder)[0] + ".duckdb")
	if err != nil {
		t.Fatal(err)
	}
	two := fmt.Sprintf("%dB", info.Size()*5/2)
	archiveOf(t, second, folder, two)
	if _, n := archiveOf(t, first, folder, two); n != 1 {
		t.Error("there was room for two")
	}
	archiveOf(t, third, folder, two)
	for i, of := range []*catalog.Catalog{third, first, second} {
		if _, n := archiveOf(t, of, folder, two); n != []int{1, 1, 0}[i] {
			t.Errorf("table %d: %d copies", i, n)
		}
	}
	if err := os.Chmod(folder, 0o770); err != nil {
		t.Fatal(err)
	}
	if e, err := duckdb.Open(t.Context(), first, duckdb.Options{Lazy: true, Temp: t.TempDir(), Copies: folder}); err == nil || !strings.Contains(err.Error(), "chmod") && !strings.Contains(err.Error(), "owner's alone") {
		t.Errorf("an open folder: %v", err)
		if err == nil {
			_ = e.Close()
		}
	}
}
