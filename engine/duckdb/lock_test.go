//go:build cgo

package duckdb_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

const lockCatalog = `
[domains.p]
measure = "pure"
neighbours = "add-remove"
epsilon = 1.0
[tables.people]
source = "people.parquet"
domain = "p"
unit = "row"
[tables.people.columns]
name = { type = "text" }
[tables.visits]
source = "clinic.duckdb#visits"
domain = "p"
unit = "row"
[tables.visits.columns]
name = { type = "text" }
[tables.notes]
source = "notes.csv"
domain = "p"
unit = "row"
[tables.notes.columns]
name = { type = "text" }
`

// write makes a catalog's files: the texts as they are, the rest by statements
// in a bare DuckDB, in which % stands for the folder.
func write(t testing.TB, texts map[string]string, statements ...string) (dir string, c *catalog.Catalog) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), strings.ReplaceAll(s, "%", dir)); err != nil {
			t.Fatal(err)
		}
	}
	c, err = catalog.Load(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, c
}

// The second wall: were a statement of the analyst's own words to reach the
// engine, it could do nothing but read the catalog's tables.
func TestLocked(t *testing.T) {
	dir, c := write(t, map[string]string{"discreet.toml": lockCatalog, "notes.csv": "name\na\n", "other.csv": "name\nsecret\n"},
		"COPY (SELECT 'a' AS name) TO '%/people.parquet'", "COPY (SELECT 'secret' AS name) TO '%/other.parquet'",
		"ATTACH '%/clinic.duckdb' AS f", "CREATE TABLE f.visits AS SELECT 'a' AS name", "DETACH f")
	e := open(t, c, duckdb.Options{Threads: 2, Memory: "1GiB"})
	scratch, err := e.Scratch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	text := sqltype.Of(sqltype.Text)
	private := func(s string) error {
		_, err := e.Exact(t.Context(), engine.Query{SQL: s, Tables: []string{"people", "visits", "notes"}, Keys: []sqltype.Type{text}})
		return err
	}
	empty := func(s string) error {
		_, err := scratch.Query(t.Context(), s, []sqltype.Type{text})
		return err
	}
	for _, table := range []string{"people", "visits", "notes"} {
		if err := private("SELECT name FROM " + table); err != nil {
			t.Errorf("%s cannot be read: %v", table, err.(*engine.Failure).Cause())
		}
		if empty("SELECT name FROM "+table) == nil {
			t.Errorf("scratch knows %s", table)
		}
	}
	for _, s := range []string{
		"SELECT name FROM '%/other.parquet'", "SELECT name FROM read_parquet('%/other.parquet')", "SELECT name FROM read_csv('%/other.csv')",
		"SELECT name FROM '%/*.parquet'", "SELECT name FROM '%/people.parquet/../other.parquet'",
		"SELECT content FROM read_text('%/other.csv')", "SELECT content FROM read_text('/etc/passwd')", "SELECT filename FROM read_blob('%/*')",
		"SELECT file FROM glob('/etc/*')", "SELECT content FROM read_text('https://example.com')", "SELECT name FROM read_json('%/other.csv')",
		"SELECT getenv('HOME')",
		"COPY people TO '%/stolen.csv'", "COPY people TO '%/people.parquet'", "COPY (SELECT 1) TO '/dev/null'", "EXPORT DATABASE '%/stolen'", "IMPORT DATABASE '%/stolen'",
		"ATTACH '%/new.duckdb'", "ATTACH ':memory:' AS m", "DETACH discreet_file_0", "USE discreet_file_0",
		"INSTALL httpfs", "LOAD httpfs", "LOAD '%/other.csv'", "UPDATE EXTENSIONS",
		"SET memory_limit = '10GiB'", "SET threads = 8", "SET enable_external_access = true", "SET lock_configuration = false", "SET allowed_directories = ['/']",
		"SET temp_directory = '/tmp'", "RESET memory_limit", "SET TimeZone = 'Asia/Tokyo'", "SET search_path = 'discreet_file_0'", "PRAGMA enable_profiling", "PRAGMA database_list", "PRAGMA memory_limit = '10GiB'", "CALL pragma_version()",
		"CREATE TABLE t AS SELECT * FROM people", "CREATE VIEW v AS SELECT 1", "CREATE OR REPLACE VIEW people AS SELECT 1 AS name", "CREATE MACRO f() AS 1", "CREATE SECRET s (TYPE s3)",
		"DROP VIEW people", "INSERT INTO discreet_file_0.main.visits VALUES ('b')", "DELETE FROM discreet_file_0.main.visits", "ALTER VIEW people RENAME TO p", "VACUUM", "CHECKPOINT", "BEGIN", "ANALYZE",
		"PREPARE p AS SELECT 1", "EXECUTE p", "EXPLAIN SELECT 1", "EXPLAIN ANALYZE SELECT name FROM people",
		"SELECT 'a'; SELECT 'b'", "SELECT 'a') AS q(c0); COPY people TO '%/stolen.csv'; SELECT c0 FROM (SELECT 'a'",
		"VALUES ('a'); DROP VIEW people",
	} {
		s = strings.ReplaceAll(s, "%", dir)
		for where, run := range map[string]func(string) error{"private": private, "scratch": empty} {
			if err := run(s); !errors.Is(err, engine.ErrResource) {
				t.Errorf("%s: %s is answered with %v", where, s, err)
			}
		}
	}
	// Each wall stands without the other.
	for _, s := range []string{
		"SET threads = 8", "SET enable_external_access = true", "SET lock_configuration = false", "SET allowed_paths = []", "SET allowed_directories = ['/']",
		"RESET memory_limit", "PRAGMA memory_limit = '10GiB'", "ATTACH '%/new.duckdb'", "ATTACH '%/other.csv' AS o (TYPE sqlite)",
		"COPY (SELECT 1) TO '%/stolen.csv'", "COPY people FROM '%/other.csv'", "EXPORT DATABASE '%/stolen'", "INSTALL httpfs", "LOAD httpfs",
		"SELECT * FROM '%/other.parquet'", "SELECT * FROM read_text('%/other.csv')", "SELECT * FROM glob('%/*')",
		"INSERT INTO discreet_file_0.main.visits VALUES ('b')", "CREATE TABLE discreet_file_0.t (a INTEGER)",
	} {
		s = strings.ReplaceAll(s, "%", dir)
		if duckdb.Behind(t.Context(), e, nil, s) == nil {
			t.Errorf("private: %s goes through the lock", s)
		}
		if duckdb.Behind(t.Context(), e, scratch, s) == nil {
			t.Errorf("scratch: %s goes through the lock", s)
		}
	}
	for _, s := range []string{"COPY people TO '%/people.parquet'", "DROP VIEW people", "SELECT 'a'; DROP VIEW people", "CREATE TABLE t (a INTEGER)", "EXPLAIN SELECT 1", "CHECKPOINT"} {
		if duckdb.Unwrapped(t.Context(), e, strings.ReplaceAll(s, "%", dir)) == nil {
			t.Errorf("%s is run as a query", s)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		switch f.Name() {
		case "discreet.toml", "notes.csv", "other.csv", "people.parquet", "other.parquet", "clinic.duckdb":
		default:
			t.Errorf("%s was written", f.Name())
		}
	}
	for _, table := range []string{"people", "visits", "notes"} { // all as before
		if err := private("SELECT name FROM " + table); err != nil {
			t.Errorf("%s cannot be read any more: %v", table, err.(*engine.Failure).Cause())
		}
	}
}
