//go:build cgo && unix

package bind

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// try binds a statement over a table t whose columns x and y have the type.
func try(t *testing.T, statement, of string) *diagnostic.Diagnostic {
	t.Helper()
	typ, err := sqltype.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "x", Type: typ}, {Name: "y", Type: typ}}}
	q, err := sqlparse.Parse(statement)
	if err == nil {
		_, err = Bind(q, &catalog.Catalog{Tables: []*catalog.Table{table}})
	}
	var d *diagnostic.Diagnostic
	if err != nil && !errors.As(err, &d) {
		t.Fatalf("%s: %v", statement, err)
	}
	return d
}

// misleads says what is wrong with a refusal's way out, or "".
func misleads(d *diagnostic.Diagnostic) string {
	switch {
	case d == nil:
		return ""
	case d.Hint == "":
		return "no way out"
	case strings.Contains(d.Hint, "did you mean"):
		return "a word that exists elsewhere is taken for a misspelling: " + d.Hint
	}
	return ""
}

// Every function, type and keyword that PostgreSQL or DuckDB has is answered or
// refused with a way out, wherever it stands, and is never taken for a
// misspelling of another.
func TestWordsOfPostgreSQLAndDuckDBAreRefusedWithAWayOut(t *testing.T) {
	t.Run("DuckDB", func(t *testing.T) {
		functions, types, keywords := duckdbWords(t)
		words(t, functions, types, keywords)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		functions, types, keywords := postgresWords(t)
		words(t, functions, types, keywords)
	})
}

func words(t *testing.T, functions, types, keywords []string) {
	if len(functions) < 500 || len(types) < 50 || len(keywords) < 300 {
		t.Fatalf("%d functions, %d types and %d keywords are too few", len(functions), len(types), len(keywords))
	}
	own := 0
	report := func(statement, of string) {
		if why := misleads(try(t, statement, of)); why != "" {
			t.Errorf("%s: %s", statement, why)
		}
	}
	for _, f := range functions {
		for _, form := range []string{"SELECT %s(x) FROM t", "SELECT %s(x, y) FROM t", "SELECT %s(DISTINCT x) FROM t", "SELECT %s(x, 'a', 1) FROM t", "SELECT count(*) FROM %s('x')"} {
			report(fmt.Sprintf(form, f), "double")
		}
		if instead(f) != "" {
			own++
		}
	}
	t.Logf("of %d functions %d have a way out of their own", len(functions), own)
	for _, name := range types {
		report(fmt.Sprintf("SELECT CAST(x AS %s) FROM t", name), "text")
	}
	for _, k := range keywords { // which may be misspelt: VALUE for VALUES
		for _, form := range []string{"%s t", "SELECT x %s y FROM t", "SELECT x FROM t %s x", "SELECT x FROM t WHERE %s x", "SELECT x FROM t %s JOIN t AS u ON true", "SELECT * %s (x) FROM t"} {
			if d := try(t, fmt.Sprintf(form, k), "double"); d != nil && d.Hint == "" {
				t.Errorf("%s: no way out", fmt.Sprintf(form, k))
			}
		}
	}
}

var plain = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

func duckdbWords(t *testing.T) (functions, types, keywords []string) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	list := func(query string) (out []string) {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			if plain.MatchString(s) {
				out = append(out, s)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	return list("SELECT DISTINCT function_name FROM duckdb_functions() ORDER BY 1"),
		list("SELECT DISTINCT lower(type_name) FROM duckdb_types() ORDER BY 1"), list("SELECT DISTINCT keyword_name FROM duckdb_keywords() ORDER BY 1")
}

func postgresWords(t *testing.T) (functions, types, keywords []string) {
	conn, err := pgx.Connect(t.Context(), postgrestest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	list := func(query string) []string {
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		out, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(out, func(s string) bool { return !plain.MatchString(s) })
	}
	return list("SELECT DISTINCT proname::text FROM pg_proc ORDER BY 1"), list("SELECT DISTINCT typname::text FROM pg_type WHERE typname NOT LIKE 'pg%' AND typrelid = 0 ORDER BY 1"),
		list("SELECT word FROM pg_get_keywords() ORDER BY 1")
}

var (
	written   = regexp.MustCompile(`^write ((?:'[^']*'|::|[^;:])*)`)
	mentioned = regexp.MustCompile(`\b([a-z_0-9]+)\(`)
)

// What a refusal says to write is accepted, and no hint names a function that
// would be refused in its turn.
func TestReplacementsAreAnswered(t *testing.T) {
	accepted := functions()
	var hints []string
	for name, hint := range replacements {
		if accepted[name].bind != nil || aggregateFunctions[name] != "" {
			t.Errorf("%s is on the list and has a replacement", name)
		}
		hints = append(hints, hint)
	}
	for _, f := range families() {
		hints = append(hints, f.hint)
	}
	slices.Sort(hints)
	tried := 0
	for _, hint := range slices.Compact(hints) {
		for _, m := range mentioned.FindAllStringSubmatch(hint, -1) {
			if f := m[1]; accepted[f].bind == nil && aggregateFunctions[f] == "" && windowFunctions[f] == "" && f != "extract" && f != "numeric" && f != "nullif" {
				t.Errorf("%q names %s, which is refused", hint, f)
			}
		}
		m := written.FindStringSubmatch(hint)
		if m == nil {
			continue
		}
		first, _, _ := strings.Cut(m[1], ", in ")
		for _, part := range alternatives(first) {
			tried++
			var refused []string
			for _, of := range []string{"double", "integer", "text", "date", "timestamp", "boolean"} {
				d := try(t, "SELECT "+part+" FROM t", of)
				if d == nil {
					refused = nil
					break
				}
				refused = append(refused, d.Message)
			}
			if refused != nil {
				t.Errorf("%q: %s is refused: %s", hint, part, cmp.Or(refused...))
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d expressions were tried", tried)
	}
	if len(slices.Collect(maps.Keys(replacements))) < 100 {
		t.Error("the table is too small")
	}
}

// alternatives splits "a, or b" into its expressions, and drops what is said
// about them.
func alternatives(s string) []string {
	var out []string
	for _, part := range strings.Split(s, ", or ") {
		for _, end := range []string{", which ", ", once ", ", 1 is ", ", with ", ", the ", ", in ", ", as "} {
			part, _, _ = strings.Cut(part, end)
		}
		out = append(out, part)
	}
	return out
}
