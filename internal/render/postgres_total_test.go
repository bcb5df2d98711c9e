//go:build cgo

package render_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"

	"pgregory.net/rapid"
)

// wildest are the values at the ends of PostgreSQL's types that a table may hold when it has
// been read (engine/postgres): no NaN, no infinity, no timestamp beyond 64 bits since 1970.
var wildest = map[string][]string{
	"boolean":   {"true", "false"},
	"smallint":  {"-32768", "32767", "0", "-1", "1"},
	"integer":   {"-2147483648", "2147483647", "0", "-1", "1", "30"},
	"bigint":    {"-9223372036854775808", "9223372036854775807", "0", "-1", "1"},
	"real":      {"-3.4028235e38", "3.4028235e38", "1e-45", "0", "-1.5", "0.1"},
	"double":    {"-1.7976931348623157e308", "1.7976931348623157e308", "5e-324", "-5e-324", "0", "-1", "4.5e15", "1e19", "709.8", "-745.2", "1e-160", "1e160"},
	"text":      {"''", "👍🏽", "1e999999999", "1e-999999999", "-", "%_\\", "0000-01-01", "24:00:01", "9999-99-99", " 12 ", ".", "+"},
	"date":      {"4713-11-24 BC", "5874897-12-31", "1970-01-01", "0001-01-01", "10000-01-01"},
	"timestamp": {"4713-11-24 00:00:00 BC", "294247-01-10 04:00:54.775806", "1970-01-01", "0001-12-31 BC"},
	"time":      {"00:00:00", "24:00:00"},
}

// total: in PostgreSQL's rendering no expression raises, whatever a table holds.
func (p *pair) total(t *testing.T) {
	exec := func(text string) {
		t.Helper()
		if _, err := p.postgres.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	exec("CREATE SCHEMA wild")
	exec("SET search_path = wild")
	defer exec("SET search_path = public")
	var columns []string
	values := make([][]string, len(nasty))
	for i, c := range nasty {
		columns = append(columns, c.name+" "+strings.ReplaceAll(c.typ, "double", "double precision"))
		kind, _, _ := strings.Cut(c.typ, "(")
		if values[i] = wildest[kind]; kind == "decimal" {
			typ, err := sqltype.Parse(c.typ)
			if err != nil {
				t.Fatal(err)
			}
			most := strings.Repeat("9", int(typ.Precision-typ.Scale)) + "." + strings.Repeat("9", int(typ.Scale))
			values[i] = []string{most, "-" + most, "0", "0." + strings.Repeat("0", int(typ.Scale)-1) + "1"}
		}
		values[i] = append(values[i][:len(values[i]):len(values[i])], "")
	}
	exec("CREATE TABLE t (" + strings.Join(columns, ", ") + ")")
	for n := range 150 {
		row := []string{fmt.Sprint(n)}
		for i := range nasty[1:] {
			v := values[i+1][(n*(i+2)+n/len(values[i+1]))%len(values[i+1])]
			switch v {
			case "":
				v = "NULL"
			case "''":
			default:
				v = "'" + v + "'"
			}
			row = append(row, v)
		}
		exec("INSERT INTO t VALUES (" + strings.Join(row, ", ") + ")")
	}
	exec("CREATE TABLE o AS SELECT * FROM public.o")
	run := func(t check, statement string) {
		n, err := compile(p.catalog, statement)
		if err != nil {
			return // refused
		}
		text, err := render.Postgres.Relation(n)
		if err != nil {
			return // refused in PostgreSQL
		}
		if _, _, err := p.pgRows(text); err != nil {
			t.Errorf("%s: %v\n%s", statement, err, text)
		}
	}
	list, err := os.ReadFile("testdata/postgres/expressions")
	if err != nil {
		t.Fatal(err)
	}
	for _, expr := range strings.Split(string(list), "\n") {
		if expr != "" && !strings.HasPrefix(expr, "--") {
			run(t, "SELECT "+expr+" FROM t")
		}
	}
	for _, c := range nasty {
		for _, f := range []string{"count(DISTINCT %s)", "sum(%s)", "avg(%s)", "min(%s)", "max(%s)", "bool_and(%s)"} {
			run(t, "SELECT q, "+fmt.Sprintf(f, c.name)+" FROM t GROUP BY q")
		}
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"int", "bigint", "decimal", "double", "approx", "bool", "text", "date", "timestamp"}).Draw(t, "kind")
		expr := grammar{t}.expr(kind, 4)
		t.Log(expr)
		run(t, "SELECT "+expr+" FROM t")
	})
}
