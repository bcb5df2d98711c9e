//go:build cgo

package duckdb_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A table of another schema is read, and told from the one of its name in main.
func TestSchemas(t *testing.T) {
	table := func(name, source string) string {
		return fmt.Sprintf("[tables.%s]\npublic = true\nsource = \"clinic.duckdb#%s\"\n[tables.%[1]s.columns]\nx = { type = \"integer\", from = \"id\" }\n", name, source)
	}
	_, c := write(t, map[string]string{"discreet.toml": table("plain", "visits") + table("old", "Archive.visits") + table("dotted", "main.a.b")},
		"ATTACH '%/clinic.duckdb' AS f", "CREATE TABLE f.visits AS SELECT 1 AS id", "CREATE SCHEMA f.archive", "CREATE TABLE f.archive.visits AS SELECT 2 AS id",
		`CREATE TABLE f."a.b" AS SELECT 3 AS id`, "CREATE VIEW f.archive.seen AS SELECT * FROM f.visits", "DETACH f")
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i, name := range []string{"plain", "old", "dotted"} {
		if _, rows, err := e.Public(t.Context(), name); err != nil || fmt.Sprint(rows) != fmt.Sprintf("[[%d]]", i+1) {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
	o, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if r, err := check.Run(t.Context(), c, o, nil); err != nil || !r.Sound() || r.Tables[1].Rows != 1 {
		t.Errorf("check: %+v, %v", r, err)
	}
	_, c = write(t, map[string]string{"discreet.toml": table("seen", "archive.seen")},
		"ATTACH '%/clinic.duckdb' AS f", "CREATE TABLE f.visits AS SELECT 1 AS id", "CREATE SCHEMA f.archive", "CREATE VIEW f.archive.seen AS SELECT 1 AS id", "DETACH f")
	var d *diagnostic.Diagnostic
	if _, err := duckdb.Open(t.Context(), c, duckdb.Options{Temp: t.TempDir()}); !errors.As(err, &d) || !strings.Contains(d.Why, "it is a view") {
		t.Errorf("a view in a schema: %v", err)
	}
}
