//go:build cgo && unix

package duckdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// unitsOf is a catalog of table t, whose unit is column u.
func unitsOf(t *testing.T, dir, source string) *catalog.Catalog {
	t.Helper()
	path := filepath.Join(dir, "units.toml")
	rewrite(t, path, fmt.Sprintf("[domains.unit]\nmeasure = \"pure\"\nepsilon = 1\n[tables.t]\nsource = %q\ndomain = \"unit\"\nunit = \"u\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 2\n"+
		"[tables.t.columns]\nu = { type = \"bigint\" }\nv = { type = \"double\", lower = 0, upper = 10 }\n", source))
	c, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// execute runs SQL in an instance of its own.
func execute(t *testing.T, text string) {
	t.Helper()
	o, err := duckdb.OpenOwner(t.Context(), duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, _, err := o.Rows(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// inOrder is what a query says of the units of table t, row by row as they lie there.
func inOrder(t *testing.T, e *duckdb.Engine) (text string) {
	t.Helper()
	if err := duckdb.DB(e).QueryRowContext(t.Context(), "SELECT string_agg(u || ':' || coalesce(v::VARCHAR, '-'), ' ') FROM t").Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// A copy that the owner has made is what statements read of Parquet files, one or several, and of text: the rows of a
// unit together, the values of the declared types. Of files that have changed since nobody reads it.
func TestOwnersCopies(t *testing.T) {
	rows := [...]string{"(3, 1.5), (1, 2), (2, NULL), (1, 'NaN'::DOUBLE), (3, -0.0::DOUBLE)", "(3, 1.5), (1, 2), (2, NULL), (1, 'NaN'::DOUBLE), (4, -0.0::DOUBLE)"}
	for name, of := range map[string]struct {
		source, file string
		write        func(path string, version int)
	}{
		"parquet": {"t.parquet", "t.parquet", nil},
		"several": {"part/*.parquet", "part/a.parquet", nil},
		"csv": {"t.csv", "t.csv", func(path string, version int) {
			rewrite(t, path, [...]string{"u,v\n3,1.5\n1,2\n2,\n1,NaN\n3,-0.0\n", "u,v\n3,1.5\n1,2\n2,\n1,NaN\n4,-0.0\n"}[version])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "copies")
			path := filepath.Join(dir, of.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			write := of.write
			if write == nil {
				write = func(path string, version int) {
					execute(t, "COPY (FROM (VALUES "+rows[version]+") AS r(u, v)) TO '"+path+"' (FORMAT parquet)")
				}
			}
			write(path, 0)
			c := unitsOf(t, dir, of.source)
			options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: folder}, restless)
			e := open(t, c, options)
			if copies, err := e.CopiesOf("t"); err != nil || copies[0].State != engine.NoCopy {
				t.Fatalf("before: %+v, %v", copies, err)
			}
			for range 2 { // the second finds the first
				if copy, err := e.MakeCopy(t.Context(), "t"); err != nil || copy.State != engine.Copied || copy.Bytes == 0 {
					t.Fatalf("made: %+v, %v", copy, err)
				}
				if n := len(names(t, folder)); n != 1 {
					t.Fatalf("%d copies", n)
				}
			}
			const want = "1:2.0 1:- 2:- 3:1.5 3:0.0"
			next := open(t, c, options)
			if err := duckdb.Fresh(t.Context(), next, "t"); err != nil {
				t.Fatal(err)
			}
			if got, n := inOrder(t, next), attached(t, next); got != want || n != 1 {
				t.Errorf("next: %q of %d copies, want %q", got, n, want)
			}
			// The same process sees a change, and so does another. Text is copied anew by who reads it.
			write(path, 1)
			for _, e := range []*duckdb.Engine{next, open(t, c, options)} {
				if err := duckdb.Fresh(t.Context(), e, "t"); err != nil {
					t.Fatal(err)
				}
				if got, n := inOrder(t, e), attached(t, e); of.write == nil && n != 0 || !strings.Contains(got, "4:0.0") {
					t.Errorf("changed: %q of %d copies", got, n)
				}
			}
			if copies, err := e.CopiesOf("t"); err != nil || of.write == nil && copies[0].State == engine.Copied {
				t.Errorf("changed: %+v, %v", copies, err)
			}
			if copy, err := e.MakeCopy(t.Context(), "t"); err != nil || copy.State != engine.Copied {
				t.Errorf("made again: %+v, %v", copy, err)
			}
			if n, err := e.RemoveCopies("t"); err != nil || n == 0 || len(names(t, folder)) != 0 {
				t.Errorf("removed %d, %d left: %v", n, len(names(t, folder)), err)
			}
		})
	}
}

// What has no copy says why, in words without data.
func TestNotCopied(t *testing.T) {
	dir := t.TempDir()
	rewrite(t, filepath.Join(dir, "t.csv"), "u,v\n1,secret\n")
	c := unitsOf(t, dir, "t.csv")
	for name, tc := range map[string]struct {
		o    duckdb.Options
		harm func(t *testing.T, folder string)
		why  string
	}{
		"too large": {duckdb.Options{CopiesSize: "1KB"}, nil, "more than the 1000 bytes"},
		"no room to write": {duckdb.Options{}, func(t *testing.T, folder string) {
			if err := os.Chmod(folder, 0o500); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })
		}, "cannot be written"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no room to write" && os.Geteuid() == 0 {
				t.Skip("skip: root writes everywhere")
			}
			o := tc.o
			o.Threads, o.Lazy, o.Copies = 1, true, filepath.Join(t.TempDir(), "copies")
			e := open(t, c, duckdb.Restless(o, restless))
			if tc.harm != nil {
				tc.harm(t, o.Copies)
			}
			_, err := e.MakeCopy(t.Context(), "t")
			var not *engine.Uncopied
			if !errors.As(err, &not) || !strings.Contains(not.Why, tc.why) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
			if left := names(t, o.Copies); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// Who reads a copy that another process makes anew, or removes, reads it to the end.
func TestCopiesOfTwoProcesses(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	execute(t, "COPY (SELECT i % 10 AS u, i % 7 AS v FROM range(1000) AS r(i)) TO '"+filepath.Join(dir, "t.parquet")+"' (FORMAT parquet)")
	c := unitsOf(t, dir, "t.parquet")
	options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: folder}, restless)
	time.Sleep(2 * restless)
	made := make(chan error, 2)
	for range 2 {
		e := open(t, c, options)
		go func() { _, err := e.MakeCopy(t.Context(), "t"); made <- err }()
	}
	for range 2 {
		if err := <-made; err != nil {
			t.Fatal(err)
		}
	}
	reader := open(t, c, options)
	if err := duckdb.Fresh(t.Context(), reader, "t"); err != nil || attached(t, reader) != 1 {
		t.Fatalf("%v, %d copies", err, attached(t, reader))
	}
	want := inOrder(t, reader)
	if n, err := open(t, c, options).RemoveCopies("t"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := inOrder(t, reader); got != want {
		t.Error("the reader lost its copy")
	}
}

// What else is in the folder stays, and copies of files that were a table's go with the others.
func TestCopiesLeaveOtherFilesAlone(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	others := []string{"hospital.duckdb", "other.json", "abc.json"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(`{"my":"config"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(t, filepath.Join(dir, "a.csv"), "u,v\n1,2\n")
	options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: folder}, restless)
	e := open(t, unitsOf(t, dir, "*.csv"), options)
	if _, err := e.MakeCopy(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, "b.csv"), "u,v\n2,2\n") // the pattern has another file now
	if n, err := e.RemoveCopies("t"); n != 1 || err != nil {
		t.Errorf("removed %d, %v, want the copy of the one file", n, err)
	}
	if _, err := e.MakeCopy(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	elsewhere := open(t, unitsOf(t, t.TempDir(), "none/*.csv"), options) // of another table, without a file
	if n, err := elsewhere.RemoveCopies("t"); n != 0 || err != nil {
		t.Errorf("removed %d, %v, want nothing of another table", n, err)
	}
	if n, err := elsewhere.RemoveCopies(""); n != 1 || err != nil {
		t.Errorf("removed %d, %v, want all copies", n, err)
	}
	open(t, unitsOf(t, dir, "*.csv"), options)
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}

// A folder of another user's is no place for copies.
func TestForeignFolderOfCopies(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skip: only root can give a folder away")
	}
	dir, folder := t.TempDir(), t.TempDir()
	rewrite(t, filepath.Join(dir, "t.csv"), "u,v\n1,2\n")
	if err := os.Chown(folder, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := duckdb.Open(t.Context(), unitsOf(t, dir, "t.csv"), duckdb.Options{Threads: 1, Lazy: true, Copies: folder}); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("opened: %v", err)
	}
}

// Of a unit with more rows than its table has, the same stay whatever the files are, in whatever order, from a copy or not;
// and they stay when other units come and go.
func TestRowsOfUnitsAreTheSame(t *testing.T) {
	dir := t.TempDir()
	const rows = "SELECT i % 3 AS u, i * 7 % 10 AS v FROM range(30) AS r(i)"
	csv := "u,v\n"
	for i := 29; i >= 0; i-- {
		csv += fmt.Sprintf("%d,%d\n", i%3, i*7%10)
	}
	rewrite(t, filepath.Join(dir, "t.csv"), csv)
	execute(t, "COPY ("+rows+") TO '"+filepath.Join(dir, "t.parquet")+"' (FORMAT parquet)")
	execute(t, "COPY ("+rows+" WHERE i % 3 <> 1) TO '"+filepath.Join(dir, "less.parquet")+"' (FORMAT parquet)")
	for i, half := range []string{"i >= 11 ORDER BY v", "i < 11"} {
		execute(t, fmt.Sprintf("COPY (%s WHERE %s) TO '%s' (FORMAT parquet)", rows, half, filepath.Join(dir, fmt.Sprintf("part-%d.parquet", i))))
	}
	execute(t, "ATTACH '"+filepath.Join(dir, "t.duckdb")+"' AS f; CREATE TABLE f.t AS "+rows+" ORDER BY hash(i)")
	stay := func(source string, prepared bool) string {
		t.Helper()
		c := unitsOf(t, dir, source)
		c.Tables[0].MaxUnitRows = 4
		e := open(t, c, duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless))
		if prepared {
			if _, err := e.MakeCopy(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
		}
		if err := duckdb.Fresh(t.Context(), e, "t"); err != nil {
			t.Fatal(err)
		}
		if n := attached(t, e); (n == 1) != prepared {
			t.Errorf("%s: %d copies are read", source, n)
		}
		var text string
		if err := duckdb.DB(e).QueryRowContext(t.Context(), "SELECT string_agg(u || ':' || v, ' ' ORDER BY u, v) FROM t").Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	want := stay("t.parquet", false)
	if n := strings.Count(want, ":"); n != 12 {
		t.Fatalf("%d rows stay: %s", n, want)
	}
	for source, prepared := range map[string]bool{"t.parquet": true, "t.csv": true, "part-*.parquet": true, "t.duckdb#t": false} {
		if got := stay(source, prepared); got != want {
			t.Errorf("%s: %s stay, want %s", source, got, want)
		}
	}
	var others []string
	for _, row := range strings.Fields(want) {
		if !strings.HasPrefix(row, "1:") {
			others = append(others, row)
		}
	}
	if got := stay("less.parquet", false); got != strings.Join(others, " ") {
		t.Errorf("without a unit %s stay, want %s", got, others)
	}
}

// A copy that stays where it was to be removed is an error: it is private data. One that cannot be removed hides no other.
func TestCopiesThatCannotBeRemoved(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	execute(t, "COPY (FROM (VALUES (3, 1.5)) AS r(u, v)) TO '"+filepath.Join(dir, "t.parquet")+"' (FORMAT parquet)")
	e := open(t, unitsOf(t, dir, "t.parquet"), duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: folder}, restless))
	if _, err := e.MakeCopy(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(folder, "*.duckdb"))
	if err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	// A folder that is not empty cannot be removed, whoever asks.
	if err := errors.Join(os.Remove(made[0]), os.MkdirAll(filepath.Join(made[0], "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if n, err := e.RemoveCopies("t"); n != 0 || err == nil || !strings.Contains(err.Error(), made[0]) {
		t.Errorf("%d copies removed, %v", n, err)
	}
}

// Why there is no copy is what a statement would say of the files.
func TestFilesThatCannotBeCopied(t *testing.T) {
	dir := t.TempDir()
	e := open(t, unitsOf(t, dir, "none/*.csv"), duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless))
	_, err := e.MakeCopy(t.Context(), "t")
	var d *diagnostic.Diagnostic
	if !errors.As(err, &d) || !strings.HasSuffix(d.Why, ": no file matches it") {
		t.Error(err)
	}
	if asked := duckdb.Fresh(t.Context(), e, "t"); asked == nil || asked.Error() != err.Error() {
		t.Errorf("a statement says %v", asked)
	}
}

// Who cannot open a folder of [resources] is told which key names it.
func TestFoldersThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	rewrite(t, file, "")
	for key, o := range map[string]duckdb.Options{"copies": {Copies: file}, "copies ": {Copies: filepath.Join(file, "x")}, "temp": {Temp: filepath.Join(dir, "none")}} {
		_, err := duckdb.Open(t.Context(), unitsOf(t, dir, "t.parquet"), o)
		var d *diagnostic.Diagnostic
		if !errors.As(err, &d) || d.Code != "D101" || !strings.Contains(d.Hint, strings.TrimSpace(key)+" in ") || !strings.Contains(d.Hint, "[resources]") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
