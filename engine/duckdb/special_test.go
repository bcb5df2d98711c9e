//go:build cgo && unix

package duckdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/datafile/datafiletest"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// sourceOf declares a public table t at a path, of any format.
func sourceOf(t *testing.T, path string) *catalog.Catalog {
	t.Helper()
	source := path
	if strings.HasSuffix(path, ".duckdb") {
		source += "#t"
	}
	c, err := catalog.Parse(filepath.Join(t.TempDir(), "discreet.toml"),
		fmt.Sprintf("[tables.t]\nsource = %q\npublic = true\n[tables.t.columns]\na = { type = \"bigint\" }\n", source))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// made makes a file with a table t of one column a, of the format that its name tells.
func made(t *testing.T, path string) {
	t.Helper()
	owner, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	statements := map[string]string{".csv": "", ".jsonl": "", ".parquet": "COPY (SELECT 1::BIGINT AS a) TO '" + path + "' (FORMAT parquet)",
		".duckdb": "ATTACH '" + path + "' AS made; CREATE TABLE made.t AS SELECT 1::BIGINT AS a; CREATE VIEW made.v AS SELECT * FROM made.t; DETACH made"}
	switch ending := filepath.Ext(path); ending {
	case ".csv", ".jsonl":
		err = os.WriteFile(path, []byte(map[string]string{".csv": "a\n1\n", ".jsonl": `{"a": 1}` + "\n"}[ending]), 0o600)
	default:
		for _, sql := range strings.Split(statements[ending], "; ") {
			if _, _, err = owner.Rows(t.Context(), sql); err != nil {
				break
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Attack I6: a source that is no file is refused when the engine opens, and when it has
// taken a file's place since: nothing waits for it.
func TestI6SourceThatIsNoFile(t *testing.T) {
	for _, name := range []string{"t.csv", "t.jsonl", "t.parquet", "t.duckdb", "t.csv.gz"} {
		for _, s := range datafiletest.Specials(t, t.TempDir(), name) {
			var d *diagnostic.Diagnostic
			if e, err := duckdb.Open(t.Context(), sourceOf(t, s.Path), duckdb.Options{Temp: t.TempDir()}); !errors.As(err, &d) || d.Code != "D101" || !strings.Contains(d.Why, "it is not a file") {
				t.Errorf("%s as %s: %v, %v", s.How, name, e, err)
			}
		}
	}
	for _, name := range []string{"t.csv", "t.jsonl", "t.parquet"} { // a database stays open
		path := filepath.Join(t.TempDir(), name)
		made(t, path)
		e := open(t, sourceOf(t, path), duckdb.Options{Threads: 1})
		if _, _, err := e.Public(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := e.Public(t.Context(), "t"); !errors.Is(err, engine.ErrResource) {
			t.Errorf("a FIFO in the place of %s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "t.duckdb")
	made(t, path)
	if err := syscall.Mkfifo(path+".wal", 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := duckdb.Open(t.Context(), sourceOf(t, path), duckdb.Options{Temp: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "cannot be opened") {
		t.Errorf("a FIFO as the log beside a database: %v", err)
	}
}

// Attack I8: a view has other tables' rows, and no name of its own for them.
func TestI8ViewAsSource(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.duckdb")
	made(t, path)
	for _, table := range []string{"v", "V", "main.v", "T.t", `"t"`} {
		c, err := catalog.Parse(filepath.Join(t.TempDir(), "discreet.toml"),
			fmt.Sprintf("[tables.t]\nsource = %q\npublic = true\n[tables.t.columns]\na = { type = \"bigint\" }\n", path+"#"+table))
		if err != nil {
			t.Fatal(err)
		}
		var d *diagnostic.Diagnostic
		if e, err := duckdb.Open(t.Context(), c, duckdb.Options{Temp: t.TempDir()}); !errors.As(err, &d) || d.Code != "D101" {
			t.Errorf("#%s: %v, %v", table, e, err)
		}
	}
	for _, table := range []string{"t", "T"} {
		c := sourceOf(t, path)
		c.Tables[0].Source.Table = table
		if got := rows(t, c); len(got) != 1 {
			t.Errorf("#%s has the rows %v", table, got)
		}
	}
}
