//go:build cgo

package render_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

type nastyColumn struct {
	name, typ string
	values    []string // as PostgreSQL's input takes them; "" is NULL, '' the empty text
}

// nasty is the table of the differential tests: its columns hold the values
// that go wrong, each in its own cycle so that they meet in pairs.
var nasty = []nastyColumn{
	{"id", "integer", nil},
	{"s", "smallint", []string{"0", "1", "-1", "", "32767", "-32768", "7", "100", "-5"}},
	{"i", "integer", []string{"0", "", "1", "-1", "2147483647", "-2147483648", "7", "-7", "100", "46341", "2"}},
	{"j", "integer", []string{"3", "0", "-3", "", "10", "2147483647", "-1", "1", "-2147483648", "5"}},
	{"b", "bigint", []string{"0", "1", "-1", "9223372036854775807", "-9223372036854775808", "", "1000000007", "-42", "3037000500"}},
	{"c", "bigint", []string{"2", "-1", "0", "", "9223372036854775807", "10", "-9223372036854775808"}},
	{"r", "real", []string{"0", "1.5", "-2.5", "3.4e38", "-3.4e38", "1e-37", "", "0.1", "1234567.5", "16777216", "100000", "1e6"}},
	{"f", "double", []string{"0", "1", "-1", "0.5", "-0.5", "1.5", "2.5", "-2.5", "", "1e308", "-1.7976931348623157e308", "2.2250738585072014e-308",
		"1e15", "123456789012345680", "0.1", "1e-7", "3.141592653589793", "1e22", "-1e16", "9007199254740993", "2147483647.5", "9.3e18", "12345.678", "999999999999999.9"}},
	{"g", "double", []string{"2", "0", "-3", "", "0.5", "1e300", "-0.3333333333333333", "700", "1e-300", "10"}},
	{"d", "decimal(10,2)", []string{"0", "0.01", "-0.01", "99999999.99", "-99999999.99", "", "2.50", "-2.50", "3.45", "10", "0.05", "-0.05", "1234.56"}},
	{"e", "decimal(12,4)", []string{"1", "0", "-1.5", "", "0.0001", "99999999.9999", "3.1415", "-0.0050", "10", "7.25"}},
	{"h", "decimal(38,6)", []string{"0", "99999999999999999999999999999999.999999", "-99999999999999999999999999999999.999999", "", "1.5", "-123.456789", "1000000"}},
	{"p", "decimal(3,3)", []string{"0", "0.5", "-0.125", "", "0.999", "0.001"}},
	{"q", "boolean", []string{"true", "false", ""}},
	{"u", "boolean", []string{"true", "true", "", "false"}},
	{"x", "text", []string{"''", "", "abc", "ABC", "a%c", "a_c", `a\c`, "O'Hara", "naïve café", "日本語", "👍🏽x", "  pad  ", "123", "-45.60", "1e3", " 7 ", "true",
		"2025-02-30", "2025-02-28", "NaN", "line\nbreak", "\ttab", "aaa", "a,b,,c", "0x1F", "1_000", "9999999999", "Yes", "off", "é", "I", "+5", ".5", "2024-02-29 23:59:59.5", "12:30", "1e400", "t "}},
	{"y", "text", []string{"a", "''", "", "b", "c", "é", "%", "語", "A", ",", "abc"}},
	{"day", "date", []string{"1970-01-01", "2024-02-29", "2025-01-31", "0001-01-01", "9999-12-31", "", "1999-12-31", "2000-01-01", "2025-12-29", "1900-03-01"}},
	{"day2", "date", []string{"2024-02-28", "", "1970-01-02", "9999-12-31", "0001-01-01", "2025-03-01", "2021-01-03"}},
	{"at", "timestamp", []string{"1970-01-01 00:00:00", "2024-02-29 23:59:59.999999", "2025-01-31 12:30:45.5", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "", "1969-12-31 23:59:59.25", "2025-03-30 02:30:00"}},
	{"at2", "timestamp", []string{"2024-02-28 12:00:00", "", "2025-01-31 12:30:45.5", "1969-07-20 20:17:40", "9999-12-31 00:00:00"}},
	{"tm", "time", []string{"00:00:00", "23:59:59.999999", "12:30:45.5", "", "24:00:00", "00:00:01"}},
}

const nastyRows = 60

func nastyCatalog(t testing.TB) *catalog.Catalog {
	table := &catalog.Table{Name: "t"}
	for _, c := range nasty {
		typ, err := sqltype.Parse(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		table.Columns = append(table.Columns, &catalog.Column{Name: c.name, Type: typ})
	}
	other := &catalog.Table{Name: "o", Columns: []*catalog.Column{
		{Name: "k", Type: sqltype.Of(sqltype.Integer)}, {Name: "label", Type: sqltype.Of(sqltype.Text)}, {Name: "w", Type: sqltype.DecimalOf(6, 2)},
	}}
	return &catalog.Catalog{Tables: []*catalog.Table{table, other}}
}

// otherRows are the rows of the second table, o(k, label, w).
var otherRows = []string{"(1, 'one', 1.00)", "(2, 'two', 2.50)", "(NULL, 'none', NULL)", "(7, 'seven', -7.25)", "(7, 'siete', 0)", "(100, NULL, 3.33)", "(-1, 'minus', 9999.99)"}

// nastyValue returns the text of a column's value in a row, and whether it is
// not NULL.
func nastyValue(column, row int) (string, bool) {
	c := nasty[column]
	if c.values == nil {
		return fmt.Sprint(row), true
	}
	v := c.values[row%len(c.values)]
	if v == "''" {
		return "", true
	}
	return v, v != ""
}

// A pair is a PostgreSQL and a DuckDB with the same tables.
type pair struct {
	catalog  *catalog.Catalog
	postgres *pgx.Conn
	version  int // PostgreSQL's, such as 150018
	duck     *sql.DB
}

func openPair(t testing.TB) *pair {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, postgrestest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	p := &pair{catalog: nastyCatalog(t), postgres: conn, duck: openDuck(t)}
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::integer").Scan(&p.version); err != nil {
		t.Fatal(err)
	}
	p.create(t)
	return p
}

func openDuck(t testing.TB) *sql.DB {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// create makes both tables in both databases. PostgreSQL gets the texts,
// DuckDB the literals of the parsed values, which tests render.Literal too.
func (p *pair) create(t testing.TB) {
	exec := func(pg, duck string) {
		if pg != "" && p.postgres != nil {
			if _, err := p.postgres.Exec(context.Background(), pg); err != nil {
				t.Fatalf("%s: %v", pg, err)
			}
		}
		if _, err := p.duck.Exec(duck); err != nil {
			t.Fatalf("%s: %v", duck, err)
		}
	}
	var pgColumns, duckColumns []string
	for _, c := range nasty {
		pgType := strings.ReplaceAll(c.typ, "double", "double precision")
		pgColumns = append(pgColumns, c.name+" "+pgType)
		duckColumns = append(duckColumns, `"`+c.name+`" `+c.typ)
	}
	exec("CREATE TABLE t ("+strings.Join(pgColumns, ", ")+")", "CREATE TABLE t ("+strings.Join(duckColumns, ", ")+")")
	for row := range nastyRows {
		var pgValues, duckValues []string
		for i, c := range nasty {
			text, ok := nastyValue(i, row)
			typ := p.catalog.Tables[0].Columns[i].Type
			var v sqltype.Value
			if !ok {
				pgValues = append(pgValues, "NULL")
			} else {
				pgValues = append(pgValues, "'"+strings.ReplaceAll(text, "'", "''")+"'")
				var err error
				if typ.Kind == sqltype.TimeKind && text == "24:00:00" {
					v = sqltype.Time(86_400_000_000)
				} else if v, err = sqltype.ParseValue(typ, text); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
			duckValues = append(duckValues, render.Literal(v, typ))
		}
		exec("INSERT INTO t VALUES ("+strings.Join(pgValues, ", ")+")", "INSERT INTO t VALUES ("+strings.Join(duckValues, ", ")+")")
	}
	exec("CREATE TABLE o (k integer, label text, w numeric(6,2))", "CREATE TABLE o (k integer, label text, w decimal(6,2))")
	rows := "INSERT INTO o VALUES " + strings.Join(otherRows, ", ")
	exec(rows, rows)
}

// duckRows runs a plan in DuckDB. An error is always a fault of the renderer.
func (p *pair) duckRows(n plan.Node) ([][]sqltype.Value, error) {
	text, err := render.Relation(n)
	if err != nil {
		return nil, err
	}
	return duckQuery(p.duck, text, n.Columns())
}

func duckQuery(db *sql.DB, text string, columns []plan.Column) ([][]sqltype.Value, error) {
	// The driver reads the time 24:00:00 as midnight.
	var outer []string
	for i, c := range columns {
		name := fmt.Sprintf("c%d", i)
		if c.Type.Kind == sqltype.TimeKind {
			name = fmt.Sprintf("epoch_us(%s)", name)
		}
		outer = append(outer, name)
	}
	rows, err := db.Query("SELECT " + strings.Join(outer, ", ") + " FROM (" + text + ") AS t")
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		if c.Type.Kind == sqltype.TimeKind {
			continue
		}
		if got := types[i].DatabaseTypeName(); got != duckName(c.Type) {
			return nil, fmt.Errorf("column %d is %s, want %s\n%s", i, got, duckName(c.Type), text)
		}
	}
	var out [][]sqltype.Value
	for rows.Next() {
		values := make([]any, len(columns))
		pointers := make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			return nil, err
		}
		row := make([]sqltype.Value, len(columns))
		for i, v := range values {
			if row[i], err = fromDuck(v, columns[i].Type); err != nil {
				return nil, fmt.Errorf("%w\n%s", err, text)
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return out, nil
}

func duckName(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.Real:
		return "FLOAT"
	case sqltype.DecimalKind:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case sqltype.Text:
		return "VARCHAR"
	}
	return strings.ToUpper(t.String())
}

// fromDuck converts a driver's value and fails on one that is not canonical.
func fromDuck(v any, t sqltype.Type) (sqltype.Value, error) {
	switch v := v.(type) {
	case int64:
		if t.Kind == sqltype.TimeKind {
			return sqltype.Time(v), nil
		}
		return v, nil
	case nil, bool, string:
		return v, nil
	case int16:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case float32:
		return canonical(float64(v))
	case float64:
		return canonical(v)
	case duckdb.Decimal:
		return sqltype.Decimal{Unscaled: v.Value, Scale: v.Scale}, nil
	case duckdb.Interval:
		return sqltype.Interval{Months: v.Months, Days: v.Days, Micros: v.Micros}, nil
	case time.Time:
		if t.Kind == sqltype.DateKind {
			return sqltype.Date(v.Unix() / 86400), nil
		}
		return sqltype.Timestamp(v.UnixMicro()), nil
	}
	return nil, fmt.Errorf("a %T for %s", v, t)
}

func canonical(f float64) (sqltype.Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 && math.Signbit(f) {
		return nil, fmt.Errorf("%v is not canonical", f)
	}
	return f, nil
}

// A pgResult is a value of PostgreSQL's: its text, NULL, or an error.
type pgResult struct {
	text  string
	valid bool
	err   *pgconn.PgError
}

func (r pgResult) String() string {
	switch {
	case r.err != nil:
		return "error " + r.err.Code + " " + r.err.Message
	case !r.valid:
		return "NULL"
	}
	return fmt.Sprintf("%q", r.text)
}

// pgRows runs a statement and returns its values and type names.
func (p *pair) pgRows(text string) (rows [][]pgResult, types []string, err error) {
	result := p.postgres.PgConn().ExecParams(context.Background(), text, nil, nil, nil, nil)
	for _, f := range result.FieldDescriptions() {
		name := fmt.Sprint(f.DataTypeOID)
		if t, ok := p.postgres.TypeMap().TypeForOID(f.DataTypeOID); ok {
			name = t.Name
		}
		types = append(types, name)
	}
	for result.NextRow() {
		var row []pgResult
		for _, v := range result.Values() {
			row = append(row, pgResult{text: string(v), valid: v != nil})
		}
		rows = append(rows, row)
	}
	_, err = result.Close()
	return rows, types, err
}

// agree reports whether our value is PostgreSQL's. Doubles may differ in the
// last digits: the libraries' ln and power do.
func agree(ours sqltype.Value, t sqltype.Type, pg pgResult) bool {
	if pg.err != nil || !pg.valid || !finiteText(pg.text, t) {
		return ours == nil
	}
	if ours == nil {
		// A numeric of PostgreSQL's that is a double here may not fit one.
		want, ok := new(big.Float).SetString(pg.text)
		return ok && t.Kind == sqltype.Double && want.Abs(want).Cmp(big.NewFloat(math.MaxFloat64)) > 0
	}
	switch v := ours.(type) {
	case bool:
		return pg.text == map[bool]string{true: "t", false: "f"}[v]
	case float64:
		want, ok := new(big.Float).SetString(pg.text)
		if !ok {
			return false
		}
		w, _ := want.Float64()
		tolerance := 1e-12
		if t.Kind == sqltype.Real {
			tolerance = 1e-6
		}
		// A numeric of PostgreSQL's has digits to a certain place.
		_, digits, _ := strings.Cut(pg.text, ".")
		last := 0.0
		if digits != "" && !strings.Contains(digits, "e") {
			last = math.Pow10(-len(digits))
		}
		return v == w || math.Abs(v-w) <= max(last, tolerance*max(math.Abs(v), math.Abs(w)))
	case sqltype.Decimal:
		want, ok := new(big.Rat).SetString(pg.text)
		return ok && want.Cmp(v.Rat()) == 0
	}
	return sqltype.Format(ours) == pg.text
}

func finiteText(s string, t sqltype.Type) bool {
	return !t.IsNumeric() || s != "NaN" && s != "Infinity" && s != "-Infinity"
}
