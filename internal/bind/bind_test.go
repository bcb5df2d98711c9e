package bind_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/diagnostic/diagnostictest"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// clinic is the catalog of the tests.
func clinic(t testing.TB) *catalog.Catalog {
	table := func(name string, columns ...string) *catalog.Table {
		out := &catalog.Table{Name: name}
		for i := 0; i < len(columns); i += 2 {
			typ, err := sqltype.Parse(columns[i+1])
			if err != nil {
				t.Fatal(err)
			}
			out.Columns = append(out.Columns, &catalog.Column{Name: columns[i], Type: typ})
		}
		return out
	}
	return &catalog.Catalog{Tables: []*catalog.Table{
		table("visits", "patient_id", "bigint", "department", "text", "age", "integer", "cost", "double",
			"paid", "decimal(10,2)", "seen_at", "timestamp", "day", "date", "urgent", "boolean", "ratio", "real"),
		table("patients", "patient_id", "bigint", "name", "text", "born", "date"),
		table("departments", "name", "text", "floor", "smallint"),
	}}
}

func check(t testing.TB) func(sql string) error {
	cat := clinic(t)
	return func(sql string) error {
		q, err := sqlparse.Parse(sql)
		if err != nil {
			return err
		}
		_, err = bind.Bind(q, cat)
		var d *diagnostic.Diagnostic
		if errors.As(err, &d) {
			return d.In("query", sql)
		}
		return err
	}
}

// TestRefusals runs the refusals that are written inside the statements.
func TestRefusals(t *testing.T) {
	diagnostictest.Run(t, "testdata/refuse/*.sql", check(t))
}

// TestCatalogue shows that every code's smallest example gives that code.
func TestCatalogue(t *testing.T) {
	bound := check(t)
	for _, e := range diagnostic.Entries() {
		if e.Code < "D010" || e.Code > "D039" {
			continue
		}
		var d *diagnostic.Diagnostic
		if err := bound(e.Example); !errors.As(err, &d) || d.Code != e.Code {
			t.Errorf("%s: %s gives %v", e.Code, e.Example, err)
		}
	}
}

// TestUnknownAlike: what the catalog doesn't declare is unknown in the same
// words, whatever a file may hold (attack E12).
func TestUnknownAlike(t *testing.T) {
	bound := check(t)
	for _, pair := range [][2]string{
		{"SELECT zq17 FROM visits", "SELECT zq18 FROM visits"},
		{"SELECT count(*) FROM zq17", "SELECT count(*) FROM zq18"},
		{"SELECT count(*) FROM pg_class", "SELECT count(*) FROM zq_class"},
		{"SELECT count(*) FROM duckdb_tables", "SELECT count(*) FROM zuckdb_tables"},
		{"SELECT rowid FROM visits", "SELECT rowxx FROM visits"},
	} {
		a, b := bound(pair[0]), bound(pair[1])
		if a == nil || b == nil {
			t.Fatalf("%q: %v, %q: %v", pair[0], a, pair[1], b)
		}
		words := func(sql string, err error) string {
			var d *diagnostic.Diagnostic
			errors.As(err, &d)
			name := sql[d.Span.Start:d.Span.End]
			return strings.ReplaceAll(d.Code+d.Message+d.Why+d.Hint, name, "NAME")
		}
		if x, y := words(pair[0], a), words(pair[1], b); x != y {
			t.Errorf("%q is refused with %q, but %q with %q", pair[0], x, pair[1], y)
		}
	}
}

// TestLarge: no short text makes binding run away.
func TestLarge(t *testing.T) {
	bound := check(t)
	nested := "age"
	for range 60 {
		nested = "CASE " + nested + " WHEN 1 THEN 2 WHEN 3 THEN 4 END"
	}
	between := "urgent"
	for range 60 {
		between = "(" + between + " BETWEEN false AND true)"
	}
	nullif := "age"
	for range 60 {
		nullif = "nullif(" + nullif + ", 1.5)"
	}
	for sql, code := range map[string]string{
		"SELECT " + nested + " FROM visits":  "D028",
		"SELECT " + between + " FROM visits": "D028",
		"SELECT " + nullif + " FROM visits":  "",
	} {
		var d *diagnostic.Diagnostic
		err := bound(sql)
		if errors.As(err, &d); err != nil && d.Code != code || err == nil && code != "" {
			t.Errorf("%.60s...: %v, want %q", sql, err, code)
		}
	}
}

// FuzzBind looks for statements that make the binder panic.
func FuzzBind(f *testing.F) {
	for _, e := range diagnostic.Entries() {
		f.Add(e.Example)
	}
	for _, file := range []string{"testdata/refuse/names.sql", "testdata/refuse/types.sql", "testdata/refuse/queries.sql"} {
		cases, err := diagnostictest.Read(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			f.Add(c.SQL)
		}
	}
	bound := check(f)
	f.Fuzz(func(t *testing.T, sql string) {
		var d *diagnostic.Diagnostic
		if err := bound(sql); err != nil && !errors.As(err, &d) {
			t.Errorf("%q fails without a diagnostic: %v", sql, err)
		}
	})
}
