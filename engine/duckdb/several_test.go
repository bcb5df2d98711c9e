//go:build cgo

package duckdb_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// lay writes files into a folder: what stands in them, or for Parquet a SELECT.
func lay(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	owner, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(name, ".parquet") && strings.HasPrefix(text, "SELECT"):
			made := filepath.Join(t.TempDir(), "made.parquet")
			if _, _, err = owner.Rows(t.Context(), "COPY ("+text+") TO '"+made+"' (FORMAT parquet)"); err == nil {
				err = os.Rename(made, path)
			}
		case strings.HasSuffix(name, ".gz"):
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, wrote := w.Write([]byte(text))
			err = errors.Join(wrote, w.Close(), os.WriteFile(path, b.Bytes(), 0o600))
		default:
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// severalOf declares a public table t, for tests that see its rows.
func severalOf(t *testing.T, dir, source string, columns ...string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), publicTable(source, columns...)["discreet.toml"])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The same records have the same rows, whatever their format, the types and order of
// columns in each file, and what else is in the files. The folder's name counts, and not
// a field of the partition's name.
func TestSeveralFiles(t *testing.T) {
	want := "1|a|2024|K/ö;2|b|2025|~;3|~|2025|x;4|d|~|x;~|c|2025|~"
	columns := []string{`id = { type = "bigint" }`, `name = { type = "text" }`, `y = { type = "integer", from = "year" }`, `place = { type = "text" }`}
	where := []string{"year=2024/place=K%2F%C3%B6/", "year=2025/place=__HIVE_DEFAULT_PARTITION__/", "year=2025/place=x/", "year=none/place=x/"}
	for _, test := range []struct {
		ending string
		files  []string // in the folders, in order
		more   string   // in the second folder
	}{
		{".csv", []string{"id,name\n1,a\n", "name,more,id\nb,9,2\n", "ID,year,Name\n3,1999,\n", "id,name\n4,d\n"}, "id,name\nx,c\n"},
		{".csv.gz", []string{"id,name\n1,a\n", "name,more,id\nb,9,2\n", "ID,year,Name\n3,1999,\n", "id,name\n4,d\n"}, "id,name\nx,c\n"},
		{".jsonl", []string{`{"id": 1, "name": "a"}`, `{"name": "b", "more": 9, "id": 2}`, `{"id": 3, "year": 1999}`, `{"id": 4, "name": "d"}`}, `{"id": "x", "name": "c"}`},
		{".parquet", []string{"SELECT 1::BIGINT AS id, 'a' AS name", "SELECT 'b' AS name, 9 AS more, 2::DOUBLE AS id",
			"SELECT 3::BIGINT AS \"ID\", 1999 AS year, NULL::VARCHAR AS \"Name\"", "SELECT 4::UTINYINT AS id, 'd'::BLOB AS name"}, "SELECT 'x' AS id, 'c' AS name"},
	} {
		dir := t.TempDir()
		all := map[string]string{"year=2024/_SUCCESS": "", "year=2024/place=K%2F%C3%B6/_part" + test.ending: "\xff", "year=2024/.a" + test.ending: "\xff",
			"year=2024/place=K%2F%C3%B6/note.txt": "\xff", "other" + test.ending: "\xff", where[1] + "more" + test.ending: test.more}
		for i, text := range test.files {
			all[where[i]+"part-0"+test.ending] = text
		}
		lay(t, filepath.Join(dir, "visits"), all)
		for _, source := range []string{"visits/year=*/place=*/*" + test.ending, "visits/year=*/place=*/**/*" + test.ending} {
			if got := strings.Join(rows(t, severalOf(t, dir, source, columns...)), ";"); got != want {
				t.Errorf("%s:\n got %s\nwant %s", source, got, want)
			}
		}
		// An expression has a partition as text, whether or not it is declared.
		derived := rows(t, severalOf(t, dir, "visits/year=*/place=*/*"+test.ending, `p = { type = "text", is = "upper(place) || id" }`, `id = { type = "bigint" }`))
		if s := strings.Join(derived, ";"); s != "K/Ö1|1;X3|3;X4|4;~|2;~|~" {
			t.Errorf("%s, derived: %s", test.ending, s)
		}
		// Without partitions in the pattern, the names of folders mean nothing.
		got := rows(t, severalOf(t, dir, "visits/*/*/*"+test.ending, columns[0]))
		if s := strings.Join(got, ";"); s != "1;2;3;4;~" {
			t.Errorf("%s without partitions: %s", test.ending, s)
		}
	}
}

// The name of a folder says nothing where nobody declares it: a field year is that of the
// records.
func TestFolderOfOneFile(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"year=2024/t.parquet": "SELECT 1999 AS year"})
	if got := rows(t, severalOf(t, dir, "year=2024/t.parquet", `year = { type = "integer" }`)); !slices.Equal(got, []string{"1999"}) {
		t.Errorf("the file's 1999 is %s", got)
	}
}

// What the files of a pattern lack is said before anything is read, in words that name no
// file and depend on no record.
func TestSeveralRefused(t *testing.T) {
	good := map[string]string{".csv": "a,b\n1,2\n", ".jsonl": `{"a": 1}`, ".parquet": "SELECT 1 AS a, 2 AS b"}
	for _, test := range []struct{ ending, what, text, why string }{
		{".csv", "a column less", "b\n1\n", `one of its files has no column "a" in its header`},
		{".csv", "no header", "", "one of its files has no first record"},
		{".parquet", "a column less", "SELECT 1 AS b", `one of its files has no column "a"`},
		{".parquet", "no Parquet", "PAR1", "one of its files is not a Parquet file"},
		{".parquet", "times in lists", "SELECT ['10:00'::TIME] AS a", "times of day within lists"},
	} {
		var first string
		for _, name := range []string{"0", "9"} { // whichever file it is
			dir := t.TempDir()
			lay(t, dir, map[string]string{"5" + test.ending: good[test.ending], name + test.ending: test.text})
			c := severalOf(t, dir, "*"+test.ending, `a = { type = "integer" }`)
			var d *diagnostic.Diagnostic
			if _, err := duckdb.Open(t.Context(), c, duckdb.Options{Temp: t.TempDir()}); !errors.As(err, &d) || d.Code != "D101" || !strings.Contains(d.Why, test.why) {
				t.Errorf("%s, %s: %v", test.ending, test.what, err)
				continue
			}
			e := open(t, c, duckdb.Options{Lazy: true})
			err := e.Prepare(t.Context(), `SELECT * FROM "t"`, []engine.Table{{Name: "t"}})
			if !errors.As(err, &d) || d.Code != "D101" {
				t.Errorf("%s, %s: prepared %v", test.ending, test.what, err)
				continue
			}
			if first == "" {
				first = d.Error()
			} else if first != d.Error() {
				t.Errorf("%s, %s: %q and %q", test.ending, test.what, first, d.Error())
			}
		}
	}
	for _, ending := range []string{".csv", ".jsonl", ".parquet"} {
		dir := t.TempDir()
		var d *diagnostic.Diagnostic
		if _, err := duckdb.Open(t.Context(), severalOf(t, dir, "*"+ending, `a = { type = "integer" }`), duckdb.Options{Temp: t.TempDir()}); !errors.As(err, &d) || !strings.Contains(d.Why, "no file matches") {
			t.Errorf("no %s at all: %v", ending, err)
		}
	}
}

// A file that is written anew is read anew, also where its columns have other types now. A
// file that is new is read when the catalog is loaded again.
func TestSeveralRefreshed(t *testing.T) {
	for ending, text := range map[string][3]string{
		".csv":     {"a\n1\n", "a\n2\n", "a\nx\n3\n"},
		".jsonl":   {`{"a": 1}`, `{"a": 2}`, `{"a": "x"}` + "\n" + `{"a": 3}`},
		".parquet": {"SELECT 1::BIGINT AS a", "SELECT 2::BIGINT AS a", "SELECT unnest(['x', '3']) AS a"},
	} {
		dir := t.TempDir()
		lay(t, dir, map[string]string{"k=0/0" + ending: text[0], "k=1/0" + ending: text[1]})
		c := severalOf(t, dir, "k=*/*"+ending, `a = { type = "bigint" }`, `k = { type = "bigint" }`)
		e := open(t, c, duckdb.Options{Threads: 2})
		look := func() string {
			_, all, err := e.Public(t.Context(), "t")
			if err != nil {
				t.Fatal(ending, err.(*engine.Failure).Cause())
			}
			return strings.Join(shown(all), " ")
		}
		if got := look(); got != "1|0 2|1" {
			t.Errorf("%s: %s", ending, got)
		}
		time.Sleep(10 * time.Millisecond) // or the clock of the files could stand still
		lay(t, dir, map[string]string{"k=1/0" + ending: text[2], "k=2/0" + ending: text[0]})
		if got := look(); got != "1|0 3|1 ~|1" {
			t.Errorf("%s, written anew: %s", ending, got)
		}
		c = severalOf(t, dir, "k=*/*"+ending, `a = { type = "bigint" }`, `k = { type = "bigint" }`)
		e = open(t, c, duckdb.Options{Threads: 2})
		if got := look(); got != "1|0 1|2 3|1 ~|1" {
			t.Errorf("%s, loaded again: %s", ending, got)
		}
		if err := os.Remove(filepath.Join(dir, "k=0/0"+ending)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := e.Public(t.Context(), "t"); err == nil {
			t.Errorf("%s: a file that is gone is read", ending)
		}
	}
}

// The wall lets the files of a pattern through, and no others of their folder.
func TestSeveralLocked(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"a1.parquet": "SELECT 1 AS a", "a2.parquet": "SELECT 2 AS a", "b.parquet": "SELECT 3 AS a"})
	e := open(t, severalOf(t, dir, "a*.parquet", `a = { type = "bigint" }`), duckdb.Options{})
	if err := duckdb.Unwrapped(t.Context(), e, "SELECT a::VARCHAR FROM read_parquet('"+dir+"/a1.parquet')"); err != nil {
		t.Errorf("a file of the catalog: %v", err)
	}
	for _, other := range []string{"/b.parquet", "/*.parquet", "/[b].parquet"} {
		if err := duckdb.Unwrapped(t.Context(), e, "SELECT a::VARCHAR FROM read_parquet('"+dir+other+"')"); err == nil {
			t.Errorf("%s is read", other)
		}
	}
}
