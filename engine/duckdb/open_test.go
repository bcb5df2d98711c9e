//go:build cgo

package duckdb_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/discreet-dp/discreet/sqltype"
)

// publicTable declares one public table t.
func publicTable(source string, columns ...string) map[string]string {
	return map[string]string{"discreet.toml": fmt.Sprintf("[tables.t]\nsource = %q\npublic = true\n[tables.t.columns]\n%s\n", source, strings.Join(columns, "\n"))}
}

func rows(t *testing.T, c *catalog.Catalog) (out []string) {
	t.Helper()
	_, all, err := open(t, c, duckdb.Options{Threads: 2}).Public(t.Context(), "t")
	if err != nil {
		t.Fatal(err.(*engine.Failure).Cause())
	}
	return shown(all)
}

// shown are rows as texts, in their order.
func shown(all [][]sqltype.Value) (out []string) {
	for _, row := range all {
		var fields []string
		for _, v := range row {
			if v == nil {
				fields = append(fields, "~")
			} else {
				fields = append(fields, sqltype.Format(v))
			}
		}
		out = append(out, strings.Join(fields, "|"))
	}
	slices.Sort(out)
	return out
}

// Files with types of their own are cast totally to the declared ones.
func TestTypedSources(t *testing.T) {
	for _, c := range []struct{ name, selected, declared, want string }{
		{"same", "1::BIGINT UNION ALL SELECT NULL", "bigint", "1 ~"},
		{"narrower", "1::BIGINT UNION ALL SELECT 9223372036854775807", "smallint", "1 ~"},
		{"text to number", "'1' UNION ALL SELECT 'x'", "integer", "1 ~"},
		{"number to text", "1.50::DECIMAL(4,2)", "text", "1.50"},
		{"not finite", "'nan'::DOUBLE UNION ALL SELECT 'inf' UNION ALL SELECT '-inf' UNION ALL SELECT 1.5", "double", "1.5 ~ ~ ~"},
		{"not finite to integer", "'nan'::DOUBLE UNION ALL SELECT 'inf' UNION ALL SELECT 1e30", "bigint", "~ ~ ~"},
		{"negative zero", "'-0'::DOUBLE UNION ALL SELECT 0", "double", "0 0"},
		{"negative zero of a float", "'-0'::FLOAT UNION ALL SELECT 0", "real", "0 0"},
		{"double to real", "1e300::DOUBLE UNION ALL SELECT 1e-300", "real", "0 ~"},
		{"infinite date", "'infinity'::DATE UNION ALL SELECT '-infinity' UNION ALL SELECT '2024-01-01'", "date", "2024-01-01 ~ ~"},
		{"infinite timestamp", "'infinity'::TIMESTAMP UNION ALL SELECT '-infinity'", "timestamp", "~ ~"},
		{"zone", "'2024-01-01 12:00:00+02'::TIMESTAMPTZ", "timestamp", "2024-01-01 10:00:00"},
		{"zone to date", "'2024-01-01 01:00:00+02'::TIMESTAMPTZ", "date", "2023-12-31"},
		{"enumeration", "'a'::ENUM('a', 'b')", "text", "a"},
		{"bytes", "'\\xFF'::BLOB", "text", "\\xFF"},
		{"list", "[1, 2]", "text", "[1, 2]"},
		{"list to number", "[1, 2]", "bigint", "~"},
	} {
		selected := "SELECT C FROM (SELECT " + c.selected + ") AS t(C)"
		for format, statements := range map[string][]string{
			"t.parquet":  {"COPY (" + selected + ") TO '%/t.parquet'"},
			"t.duckdb#t": {"ATTACH '%/t.duckdb' AS f", "CREATE TABLE f.t AS " + selected, "DETACH f"},
		} {
			t.Run(c.name+" "+format, func(t *testing.T) {
				_, cat := write(t, publicTable(format, `c = { type = "`+c.declared+`" }`), statements...)
				if got := strings.Join(rows(t, cat), " "); got != c.want {
					t.Errorf("read %s, want %s", got, c.want)
				}
			})
		}
	}
}

// What is wrong with a source is said when it is opened, in our own words.
func TestOpenErrors(t *testing.T) {
	id := `id = { type = "bigint" }`
	parquet := "COPY (SELECT 1 AS x) TO '%/t.parquet'"
	for _, c := range []struct {
		name, source, text string
		statements         []string
		want               string
	}{
		{"no file", "t.csv", "-", nil, "there is no such file"},
		{"no header", "t.csv", "", nil, "no first record"},
		{"column missing", "t.csv", "x\n1\n", nil, `no column "id"`},
		{"no Parquet", "t.parquet", "canary5417", nil, "not a Parquet file"},
		{"empty Parquet", "t.parquet", "", nil, "not a Parquet file"},
		{"Parquet column missing", "t.parquet", "-", []string{parquet}, `no column "id"`},
		{"no DuckDB file", "t.duckdb#t", "canary5417", nil, "not a DuckDB file"},
		{"no table", "t.duckdb#other", "-", []string{"ATTACH '%/t.duckdb' AS f", "CREATE TABLE f.t AS SELECT 1 AS id"}, "no such table"},
		{"times in a list", "t.duckdb#t", "-", []string{"ATTACH '%/t.duckdb' AS f", "CREATE TABLE f.t AS SELECT [TIME '12:00'] AS id"}, "times of day within"},
		{"times in a structure", "t.parquet", "-", []string{"COPY (SELECT {'a': 1, 'b': {'c': [TIME '12:00']}} AS id) TO '%/t.parquet'"}, "times of day within"},
		{"DuckDB column missing", "t.duckdb#t", "-", []string{"ATTACH '%/t.duckdb' AS f", "CREATE TABLE f.t AS SELECT 1 AS x"}, `no column "id"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			texts := publicTable(c.source, id)
			if c.text != "-" {
				file, _, _ := strings.Cut(c.source, "#")
				texts[file] = c.text
			}
			_, cat := write(t, texts, c.statements...)
			temp := t.TempDir()
			e, err := duckdb.Open(t.Context(), cat, duckdb.Options{Temp: temp})
			if err == nil {
				e.Close()
				t.Fatal("opened")
			}
			var d *diagnostic.Diagnostic
			if !errors.As(err, &d) {
				t.Fatal(err)
			}
			if said := fmt.Sprintf("%+v", *d); d.Code != "D101" || !strings.Contains(said, c.want) || strings.Contains(said, "canary5417") {
				t.Errorf("said %s, want %s", said, c.want)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left %v behind, %v", left, err)
			}
		})
	}
}

// Quotes in names are names.
func TestNames(t *testing.T) {
	dir, _ := write(t, publicTable("t.csv", `x = { type = "text" }`))
	source := filepath.Join(dir, `it's "odd"; DROP.parquet`)
	_, _ = write(t, publicTable("t.csv", `x = { type = "text" }`), `COPY (SELECT 'a' AS "a""b", 1 AS "select") TO '`+strings.ReplaceAll(source, "'", "''")+`'`)
	c := &catalog.Catalog{Tables: []*catalog.Table{{Name: `ta"b'le`, Public: true, Source: catalog.Source{Format: catalog.Parquet, Path: source},
		Columns: []*catalog.Column{{Name: `a"b`, Type: sqltype.Of(sqltype.Text)}, {Name: "select", Type: sqltype.Of(sqltype.Integer)}}}}}
	_, got, err := open(t, c, duckdb.Options{}).Public(t.Context(), `ta"b'le`)
	if err != nil || len(got) != 1 || got[0][0] != "a" || got[0][1] != int64(1) {
		t.Errorf("read %v, %v", got, err)
	}
}

// A query that does not fit the memory runs again over slices of units, with
// the same answer; one that cannot be sliced fails as every failure does.
func TestSlices(t *testing.T) {
	_, c := write(t, map[string]string{"discreet.toml": "[domains.p]\nmeasure = \"pure\"\nneighbours = \"add-remove\"\nepsilon = 1.0\n" +
		"[tables.t]\nsource = \"t.parquet\"\ndomain = \"p\"\nunit = \"u\"\nmax_groups_per_unit = 1\nmax_rows_per_group = 1\n[tables.t.columns]\nu = { type = \"bigint\" }\n"},
		"COPY (SELECT i AS u FROM range(4000000) t(i)) TO '%/t.parquet'")
	// list() keeps all its values in memory.
	q := engine.Query{SQL: `SELECT k, sum(CAST(len(l) AS BIGINT)) FROM (SELECT u % 3 AS k, list(u) AS l FROM t
		WHERE hash(u) % CAST($slices AS UBIGINT) = CAST($slice AS UBIGINT) GROUP BY k) GROUP BY k`,
		Keys: []sqltype.Type{sqltype.Of(sqltype.Bigint)}, Values: 1, Sliceable: true}
	e := open(t, c, duckdb.Options{Threads: 1, Memory: "40MiB"})
	x, err := e.Exact(t.Context(), q)
	if err != nil {
		t.Fatal(err.(*engine.Failure).Cause())
	}
	if got := fmt.Sprint(x.RevealExact()); got != "[[0 1333334] [1 1333333] [2 1333333]]" {
		t.Errorf("sliced to %s", got)
	}
	q.Sliceable = false
	if _, err := e.Exact(t.Context(), q); !errors.Is(err, engine.ErrResource) {
		t.Errorf("answered without the memory: %v", err)
	}
}

// Changes that a DuckDB file still has in its write-ahead log are read.
func TestWriteAheadLog(t *testing.T) {
	dir, c := write(t, publicTable("t.duckdb#t", `c = { type = "integer" }`), "ATTACH '%/t.duckdb' AS f",
		"CREATE TABLE f.t AS SELECT 1 AS c", "CHECKPOINT f", "PRAGMA disable_checkpoint_on_shutdown", "INSERT INTO f.t VALUES (2)")
	if _, err := os.Stat(filepath.Join(dir, "t.duckdb.wal")); err != nil {
		t.Fatal("there is no log to read: ", err)
	}
	if got := strings.Join(rows(t, c), " "); got != "1 2" {
		t.Errorf("read %s", got)
	}
}

// However often a query names a table, every scan of it reads the whole file.
func TestScansOfOneTable(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "%d,%d\n", i, i%10)
	}
	texts := publicTable("t.csv", `a = { type = "integer" }`, `b = { type = "integer" }`)
	texts["t.csv"] = text.String()
	_, c := write(t, texts)
	e := open(t, c, duckdb.Options{Threads: 4})
	for _, s := range []string{
		"SELECT 20000, count(*) FROM t",
		"SELECT 40000, count(*) FROM (SELECT a FROM t UNION ALL SELECT a FROM t)",
		"SELECT 20000, count(*) FROM t AS x JOIN t AS y ON x.a = y.a",
		"WITH x AS (SELECT a FROM t) SELECT 20000, count(*) FROM x JOIN x AS y ON x.a = y.a",
		"WITH x AS NOT MATERIALIZED (SELECT a FROM t) SELECT 40000, count(*) FROM (SELECT * FROM x UNION ALL SELECT * FROM x)",
		"WITH x AS MATERIALIZED (SELECT a FROM t) SELECT 40000, count(*) FROM (SELECT * FROM x UNION ALL SELECT * FROM x)",
		"SELECT 20000, count(*) FROM t WHERE EXISTS (SELECT 1 FROM t AS y WHERE y.a = t.a)",
		"SELECT 20000, count(*) FROM t AS x LEFT JOIN (SELECT b, count(*) AS n FROM t GROUP BY b) AS y ON x.b = y.b WHERE n = 2000",
		"SELECT 20000, count(*) FROM (SELECT row_number() OVER (PARTITION BY b ORDER BY a) AS r, count(*) OVER (PARTITION BY b) AS n FROM t) WHERE n = 2000",
		"SELECT 20000, (SELECT count(*) FROM t) FROM (SELECT count(DISTINCT a), count(DISTINCT b) FROM t)",
		"SELECT 20000, count(*) FROM (SELECT a FROM t ORDER BY a LIMIT 20000)",
		"SELECT 10, count(*) FROM (SELECT * FROM t WHERE b = 3 ORDER BY a DESC LIMIT 10)",
	} {
		x, err := e.Exact(t.Context(), engine.Query{SQL: s, Tables: []string{"t"}, Values: 2})
		if err != nil {
			t.Errorf("%s: %v", s, err.(*engine.Failure).Cause())
			continue
		}
		if row := x.RevealExact()[0]; sqltype.Compare(row[0], row[1]) != 0 {
			t.Errorf("%s: counted %v", s, row[1])
		}
	}
}

// A query that would run for days ends when its context does: given up by the
// caller it says so, out of time it fails as every failure does.
func TestEndsWithItsContext(t *testing.T) {
	_, c := write(t, publicTable("t.csv", `a = { type = "integer" }`))
	if err := os.WriteFile(c.Tables[0].Source.Path, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := open(t, c, duckdb.Options{Threads: 2})
	days := engine.Query{SQL: "SELECT count(*) FROM range(10000000) AS x(i), range(10000000) AS y(i) WHERE (x.i * y.i) % 7 = 3", Values: 1}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Exact(ctx, days); !errors.Is(err, engine.ErrResource) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("out of time: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := e.Exact(ctx, days); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if got := strings.Join(rows(t, c), " "); got != "1" {
		t.Errorf("afterwards read %s", got)
	}
}

// Zeros that compare equal are identical within DuckDB already, where they are
// hashed and printed.
func TestOneZero(t *testing.T) {
	for _, kind := range []string{"real", "double"} {
		_, c := write(t, publicTable("t.parquet", `c = { type = "`+kind+`" }`), "COPY (SELECT unnest(['-0'::DOUBLE, 0, -1e-300 * 1e-300]) AS c) TO '%/t.parquet'")
		x, err := open(t, c, duckdb.Options{}).Exact(t.Context(), engine.Query{SQL: "SELECT CAST(c AS VARCHAR), count(*) FROM t GROUP BY 1",
			Keys: []sqltype.Type{sqltype.Of(sqltype.Text)}, Values: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(x.RevealExact()); got != "[[0.0 3]]" {
			t.Errorf("%s: %s", kind, got)
		}
	}
}
