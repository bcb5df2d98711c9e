//go:build cgo

package duckdb_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// An undeclared column of a file with types of its own is read as its text.
func TestDerivedOfTypedSources(t *testing.T) {
	for _, c := range []struct{ name, selected, declared, is, want string }{
		{"cents", "12345::BIGINT UNION ALL SELECT NULL", "decimal(10,2)", "c::bigint / 100.0", "123.45 ~"},
		{"double", "1e30::DOUBLE UNION ALL SELECT 'nan'", "double", "c::double precision * 2", "2e+30 ~"},
		{"zone", "'2024-01-01 12:00:00+02'::TIMESTAMPTZ", "timestamp", "left(c, 19)::timestamp + interval '1 hour'", "2024-01-01 11:00:00"},
		{"date", "'2024-03-01'::DATE UNION ALL SELECT 'infinity'", "integer", "extract(month FROM c::date)", "3 ~"},
		{"boolean", "true UNION ALL SELECT false", "boolean", "not c::boolean", "false true"},
		{"list", "[1, 2]", "integer", "length(c)", "6"},
		{"enumeration", "'a'::ENUM('a', 'b')", "text", "c || '!'", "a!"},
	} {
		for format, statements := range map[string][]string{
			"t.parquet":  {"COPY (SELECT 1 AS id, c AS \"C\" FROM (SELECT " + c.selected + ") AS t(c)) TO '%/t.parquet'"},
			"t.duckdb#t": {"ATTACH '%/t.duckdb' AS f", "CREATE TABLE f.t AS SELECT 1 AS id, c AS \"C\" FROM (SELECT " + c.selected + ") AS t(c)", "DETACH f"},
		} {
			t.Run(c.name+" "+format, func(t *testing.T) {
				_, cat := write(t, publicTable(format, fmt.Sprintf("y = { type = %q, is = %q }", c.declared, c.is)), statements...)
				if got := strings.Join(rows(t, cat), " "); got != c.want {
					t.Errorf("read %s, want %s", got, c.want)
				}
			})
		}
	}
}

// A column that a source has not is said when the source is opened, with the column that
// is derived of it. No expression reaches what is beside the source, or what DuckDB knows
// of it and is no column: the place of a row tells of the rows before it.
func TestDerivedOfNothing(t *testing.T) {
	_, cat := write(t, publicTable("t.duckdb#t", `x = { type = "bigint", from = "rowid" }`), "ATTACH '%/t.duckdb' AS f", "CREATE TABLE f.t AS SELECT 1 AS x")
	if _, err := duckdb.Open(t.Context(), cat, duckdb.Options{Temp: t.TempDir()}); err == nil {
		t.Error("the place of a row is read as a column")
	}
	for source, statements := range map[string][]string{
		"t.csv":      nil,
		"t.parquet":  {"COPY (SELECT 1 AS x) TO '%/t.parquet'"},
		"t.duckdb#t": {"ATTACH '%/t.duckdb' AS f", "CREATE TABLE f.t AS SELECT 1 AS x", "CREATE TABLE f.u AS SELECT 1 AS secret"},
	} {
		for _, is := range []string{"secret", "rowid", "file_row_number", "file_index", `\"f0\"`, `\"filename\"`, `\"x, secret\"`, `\"x\"\"y\"`} {
			texts := publicTable(source, `x = { type = "bigint" }`, `y = { type = "text", is = "`+is+`" }`)
			if source == "t.csv" {
				texts["t.csv"] = "x\n1\n"
			}
			_, cat := write(t, texts, statements...)
			_, err := duckdb.Open(t.Context(), cat, duckdb.Options{Temp: t.TempDir()})
			var d *diagnostic.Diagnostic
			if !errors.As(err, &d) || d.Code != "D101" || !strings.Contains(d.Why, `which the derived column "y" uses`) {
				t.Errorf("%s, %s: %v", source, is, err)
			}
		}
	}
}
