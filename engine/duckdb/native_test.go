//go:build cgo

package duckdb_test

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// declarable are types that a column may be declared as, with decimals at their
// ends.
func declarable(t *testing.T) []sqltype.Type {
	var out []sqltype.Type
	for _, name := range sqltype.Names() {
		typ, err := sqltype.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, typ)
	}
	for _, d := range [][2]uint8{{1, 0}, {4, 2}, {9, 9}, {19, 0}, {38, 0}, {38, 10}, {38, 38}} {
		out = append(out, sqltype.DecimalOf(d[0], d[1]))
	}
	return out
}

// odd are extremes beside those of test_all_types, which has the least and the
// greatest value of every type that DuckDB has.
var odd = map[string][]string{
	"timestamp_tz": {"make_timestamptz(9223372036854775806)", "make_timestamptz(-9223372022400000000)", "'infinity'", "'-infinity'", "'0001-01-01 (BC) 00:00:00+00'"},
	"timestamp":    {"'infinity'", "'-infinity'", "make_timestamp(9223372036854775806)", "make_timestamp(-9223372022400000000)", "'0044-03-15 (BC)'"},
	"timestamp_s":  {"'infinity'", "'-infinity'", "'290000-01-01'::TIMESTAMP_S"},
	"timestamp_ms": {"'infinity'", "'-infinity'", "'290000-01-01'::TIMESTAMP_MS"},
	"timestamp_ns": {"'infinity'", "'-infinity'", "'1677-09-22'::TIMESTAMP_NS"},
	"date":         {"'infinity'", "'-infinity'", "'0044-03-15 (BC)'", "'10000-01-01'"},
	"time":         {"'24:00:00'"},
	"time_tz":      {"'00:00:00-15:59:59'", "'24:00:00+15:59:59'", "'23:59:59.999999-12'"},
	"time_ns":      {"'24:00:00'"},
	"float":        {"'nan'", "'inf'", "'-inf'", "'-0'", "1e-45", "16777217", "32767.5", "-32768.5"},
	"double":       {"'nan'", "'inf'", "'-inf'", "'-0'", "5e-324", "9223372036854775807", "9.223372036854776e18", "-9.223372036854777e18", "2147483647.5", "32767.5", "1e38", "9.9999999999999999e37", "3.4028235677973366e38", "0.5", "999.995"},
	"interval": {"to_months(-2147483648)", "to_months(2147483647)", "to_days(-2147483648)", "to_microseconds((-9223372036854775808)::BIGINT)",
		"to_months(2147483647) + to_days(2147483647) + to_microseconds(9223372036854775807)"},
	"varchar": {"''", "chr(0)", "repeat('9', 400)", "'0.' || repeat('9', 400)", "'1e400'", "'1e-400'", "'1e999999999999'", "'nan'", "'-inf'", "'infinity'", "'true'", "'0x7f'", "'1_000'", "' 12 '", "'-'",
		"'2024-02-30'", "'5877642-06-25 (BC)'", "'294247-01-10 04:00:54.775807'", "'290309-12-21 (BC) 00:00:00'", "'24:00:00'", "'25:00:00'", "'2024-01-01 00:00:00+15:59'", "'2024-01-01 Asia/Tokyo'",
		"'9999999999 years'", "'178956970 years 8 months'", "'-178956970 years'", "'1 century 1 fortnight'", "'9223372036854775807 microseconds'", "'2147483648 days'", "'👍🏽'", "repeat('ab', 100000)", "'[1, 2]'", "'{}'"},
	"blob":      {"''::BLOB", "'\\xFF'", "'\\x00\\x00'", "encode('12')", "encode(repeat('9', 50))"},
	"bit":       {"'0'", "'1'", "'10'", "'1111111'", "'11111111'", "'111111111'", "'101010101010'", "repeat('1', 16)::BIT", "repeat('1', 17)::BIT", "repeat('1', 31)::BIT", "repeat('1', 32)::BIT", "repeat('1', 33)::BIT", "repeat('1', 63)::BIT", "repeat('1', 64)::BIT", "repeat('0', 65)::BIT", "repeat('1', 127)::BIT", "repeat('1', 128)::BIT", "repeat('1', 129)::BIT", "repeat('1', 2000)::BIT"},
	"bignum":    {"(repeat('9', 38))::BIGNUM", "('-' || repeat('9', 38))::BIGNUM", "repeat('9', 400)::BIGNUM", "0::BIGNUM", "128::BIGNUM", "-32769::BIGNUM"},
	"uuid":      {"'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"},
	"geometry":  {"'POINT EMPTY'::GEOMETRY", "'POINT(1e308 -1e308)'::GEOMETRY"},
	"variant":   {"1::VARIANT", "'x'::VARIANT", "make_timestamptz(9223372036854775806)::VARIANT", "'101010101010'::BIT::VARIANT", "[1, NULL]::VARIANT", "{'a': 1}::VARIANT", "'inf'::DOUBLE::VARIANT", "repeat('9', 38)::DECIMAL(38,0)::VARIANT", "'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID::VARIANT"},
	"json":      {"'1'", "'\"x\"'", "'null'", "'1e400'", "'{\"a\": [1]}'", "'\"2024-01-01\"'", "'true'", "'12345678901234567890123456789012345678901234567890'"},
	"tz_list":   {"[make_timestamptz(9223372036854775806), NULL]"},
	"tz_struct": {"{'a': make_timestamptz(9223372036854775806), 'b': '101010101010'::BIT}"},
	"tz_map":    {"MAP {'a': make_timestamptz(9223372036854775806)}"},
	"tz_union":  {"union_value(z := make_timestamptz(9223372036854775806))", "union_value(b := '101010101010'::BIT)"},
	"dec_list":  {"[repeat('9', 38)::DECIMAL(38,0), 0]", "[]"},
	"bits":      {"['101010101010'::BIT, '1'::BIT]"},
	"nothing":   {"NULL"},
}

// some is a constant of each kind, to compare a column with.
var some = map[sqltype.Kind]string{sqltype.Boolean: "true", sqltype.Smallint: "1", sqltype.Integer: "1", sqltype.Bigint: "1", sqltype.Real: "0.5", sqltype.Double: "0.5",
	sqltype.DecimalKind: "0", sqltype.Text: "1", sqltype.DateKind: "2024-01-01", sqltype.TimeKind: "12:00:00", sqltype.TimestampKind: "2024-01-01 12:00:00", sqltype.IntervalKind: "1 day"}

// extra are the types of columns of odd that test_all_types lacks.
var extra = map[string]string{"variant": "VARIANT", "json": "JSON", "tz_list": "TIMESTAMPTZ[]", "tz_struct": "STRUCT(a TIMESTAMPTZ, b BIT)", "tz_map": "MAP(VARCHAR, TIMESTAMPTZ)",
	"tz_union": "UNION(z TIMESTAMPTZ, b BIT)", "bits": "BIT[]", "dec_list": "DECIMAL(38,0)[]", "nothing": "INTEGER"}

// derivedOf is a table with columns that are derived of an undeclared one, in each type
// that text casts to.
func derivedOf(t *catalog.Table) *catalog.Table {
	derived := &catalog.Table{Name: t.Name + "_derived", Public: true, Source: t.Source}
	for _, c := range t.Columns {
		if c.Type.Kind != sqltype.IntervalKind {
			derived.Columns = append(derived.Columns, &catalog.Column{Name: c.Name, Type: c.Type, Is: &catalog.SQL{Text: "undeclared"}})
		}
	}
	return derived
}

// Whatever type a column has in its file, and whatever value of that type is in
// it, it reads as whatever it is declared: a value that is none of the declared
// type is NULL, and no value makes a statement fail, which one record's presence
// would tell (attack L2). Every native type of DuckDB and Parquet meets every
// declared type, over the type's extremes, in SELECT, WHERE, GROUP BY and
// min, and the expressions of derived columns. CI reads every third type from Parquet, too, and by
// the rule that skips records; make soak reads all so, and has a table of each value alone, whose
// statistics are that value.
func TestNativeTypes(t *testing.T) {
	dir := t.TempDir()
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(connector)
	defer pool.Close()
	db := session(t, pool) // with a transaction
	exec := func(text string) error {
		_, err := db.ExecContext(t.Context(), text)
		return err
	}
	must := func(text string) {
		t.Helper()
		if err := exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	described, err := db.QueryContext(t.Context(), "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM test_all_types())")
	if err != nil {
		t.Fatal(err)
	}
	natives := map[string]string{}
	defer described.Close()
	for described.Next() {
		var name, typ string
		if err := described.Scan(&name, &typ); err != nil {
			t.Fatal(err)
		}
		natives[name] = typ
	}
	if err := described.Err(); err != nil || len(natives) < 50 {
		t.Fatalf("%d types, %v", len(natives), err)
	}
	all := slices.Collect(maps.Keys(natives))
	for name := range odd {
		if natives[name] == "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)

	declared := declarable(t)
	must("ATTACH '" + dir + "/n.duckdb' AS f (STORAGE_VERSION 'latest')")
	c := &catalog.Catalog{}
	sources := map[catalog.Format]int{}
	soak := os.Getenv("DISCREET_SOAK") != ""
	for i, native := range all {
		whole := soak || i%3 == 0
		must("BEGIN")
		if natives[native] != "" {
			must(fmt.Sprintf("CREATE TABLE f.n_%s AS SELECT \"%s\" AS v FROM test_all_types()", native, native))
		} else {
			must(fmt.Sprintf("CREATE TABLE f.n_%s (v %s)", native, extra[native]))
		}
		for _, v := range odd[native] {
			must(fmt.Sprintf("INSERT INTO f.n_%s VALUES (%s)", native, v))
		}
		must(fmt.Sprintf("INSERT INTO f.n_%s DEFAULT VALUES", native)) // NULL
		var copies []string
		for i := range declared {
			copies = append(copies, fmt.Sprintf("v AS v%d", i))
		}
		copies = append(copies, "v AS undeclared")
		must(fmt.Sprintf("COMMIT; CREATE TABLE f.n_%[1]s_all AS SELECT %[2]s FROM f.n_%[1]s", native, strings.Join(copies, ", ")))
		add := func(format catalog.Format, path, table string) {
			sources[format]++
			rules := []catalog.Malformed{catalog.NullField, catalog.SkipRecord}
			if !whole {
				rules = rules[:1]
			}
			for _, rule := range rules {
				made := &catalog.Table{Name: fmt.Sprintf("t%d_%s_%s", len(c.Tables), native, map[catalog.Format]string{catalog.DuckDB: "duckdb", catalog.Parquet: "parquet"}[format]), Public: true, Malformed: rule,
					Source: catalog.Source{Format: format, Path: path, Table: table, Text: path}}
				for i, typ := range declared {
					made.Columns = append(made.Columns, &catalog.Column{Name: fmt.Sprintf("v%d", i), Type: typ})
				}
				c.Tables = append(c.Tables, made)
				if rule == catalog.NullField {
					c.Tables = append(c.Tables, derivedOf(made))
				}
			}
		}
		add(catalog.DuckDB, filepath.Join(dir, "n.duckdb"), "n_"+native+"_all")
		if soak {
			for row := range len(odd[native]) + 4 {
				alone := fmt.Sprintf("n_%s_all_%d", native, row)
				must(fmt.Sprintf("CREATE TABLE f.%s AS FROM f.n_%s_all WHERE rowid = %d", alone, native, row))
				add(catalog.DuckDB, filepath.Join(dir, "n.duckdb"), alone)
			}
		}
		if !whole {
			continue
		}
		parquet := filepath.Join(dir, native+".parquet")
		if exec(fmt.Sprintf("COPY f.n_%s_all TO '%s'", native, parquet)) != nil {
			var writable []string // its writer lacks some values
			for row := range len(odd[native]) + 6 {
				if exec(fmt.Sprintf("COPY (SELECT v FROM f.n_%s WHERE rowid = %d) TO '%s'", native, row, parquet)) == nil {
					writable = append(writable, fmt.Sprint(row))
				}
			}
			if writable == nil {
				t.Logf("Parquet has no %s", native)
				continue
			}
			must(fmt.Sprintf("COPY (SELECT * FROM f.n_%s_all WHERE rowid IN (%s)) TO '%s'", native, strings.Join(writable, ", "), parquet))
		}
		add(catalog.Parquet, parquet, "")
	}
	must("DETACH f")
	if sources[catalog.DuckDB] < 60 || sources[catalog.Parquet] < 17 || soak && sources[catalog.Parquet] < 50 {
		t.Errorf("only %v types of each format", sources)
	}
	e := open(t, c, duckdb.Options{Threads: 2})
	failures := 0
	for _, table := range c.Tables {
		if table.Columns[0].Is != nil {
			if _, _, err := e.Public(t.Context(), table.Name); err != nil {
				t.Errorf("%s: %v", table.Name, err.(*engine.Failure).Cause())
			}
			continue
		}
		for _, f := range failing(t, e, table) {
			if failures++; failures <= 40 {
				t.Error(f)
			}
		}
	}
	if failures > 0 {
		t.Errorf("%d pairs fail", failures)
	}
}

// failing reads the columns of a table in several ways and says which fail. It
// asks for all at once; where that fails, for each alone.
func failing(t *testing.T, e *duckdb.Engine, table *catalog.Table) (out []string) {
	t.Helper()
	var ask func(form string, columns []*catalog.Column)
	ask = func(form string, columns []*catalog.Column) {
		var names, least, conditions []string
		var types []sqltype.Type
		for _, c := range columns {
			names, least, types = append(names, c.Name), append(least, "min("+c.Name+")"), append(types, c.Type)
			conditions = append(conditions, fmt.Sprintf("%[1]s = CAST('%[2]s' AS %[3]s) OR %[1]s > CAST('%[2]s' AS %[3]s)", c.Name, some[c.Type.Kind], c.Type))
		}
		text := strings.NewReplacer("NAMES", strings.Join(names, ", "), "LEAST", strings.Join(least, ", "),
			"CONDITIONS", strings.Join(conditions, " OR "), "TABLE", `"`+table.Name+`"`).Replace(form)
		_, err := e.Exact(t.Context(), engine.Query{SQL: text, Keys: types})
		switch {
		case err == nil:
		case len(columns) > 1:
			for i := range columns {
				ask(form, columns[i:i+1])
			}
		default:
			out = append(out, fmt.Sprintf("%s declared %s: %s: %v", table.Name, columns[0].Type, form, err.(*engine.Failure).Cause()))
		}
	}
	ask("SELECT NAMES FROM TABLE", table.Columns)
	if table.Malformed == catalog.NullField {
		ask("SELECT NAMES FROM TABLE GROUP BY NAMES", table.Columns)
		ask("SELECT LEAST FROM TABLE WHERE CONDITIONS", table.Columns)
	}
	return out
}
