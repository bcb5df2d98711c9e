//go:build cgo

package attack_test

// I: one thing by many names, where the owner's SQL makes them.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
)

// Views of one table are that table: whose rows are units are not counted twice, and
// those of units meet on their unit alone.
func TestI14ViewsHideNoIdentity(t *testing.T) {
	w := newWorld(t, `[domains.d]
measure = "pure"
epsilon = 1000.0
[defaults]
epsilon = 1.0
[tables.t]
source = "t.csv"
domain = "d"
unit = "row"
columns.x = { type = "bigint", lower = 0, upper = 9 }
columns.k = { type = "bigint", is = "x + 1" }
[tables.v]
source = "v.csv"
domain = "d"
unit = "who"
max_groups_per_unit = 1
max_rows_per_group = 1
columns.who = { type = "text" }
columns.x = { type = "bigint" }
[tables.public]
source = "p.csv"
public = true
columns.x = { type = "bigint" }
[views.a]
sql = "SELECT k AS id, x FROM t"
[views.b]
sql = "SELECT id - 1 AS x FROM a"
[views.c]
sql = "SELECT who AS other, x FROM v"
[views.released]
sql = "SELECT count(*) AS n FROM t"
`, files{"t.csv": "x\n1\n2\n", "v.csv": "who,x\na,1\nb,1\n", "p.csv": "x\n1\n"})
	for _, sql := range []string{
		"SELECT count(*) FROM (SELECT x FROM t UNION ALL SELECT x FROM a) AS s",
		"SELECT count(*) FROM (SELECT x FROM a UNION ALL SELECT x FROM b) AS s",
		"SELECT count(*) FROM a JOIN b ON a.x = b.x",
		"SELECT count(*) FROM a WHERE x IN (SELECT x FROM b)",
		"SELECT count(*) FROM t JOIN b ON t.k = b.x",
		"SELECT count(*) FROM c JOIN v ON c.x = v.x",
		"SELECT count(*) FROM c AS l JOIN c AS r ON l.x = r.x",
		"SELECT count(*) FROM c JOIN a ON c.x = a.x",
	} {
		w.refused(t, sql, "D046", "D053")
	}
	w.refused(t, "SELECT * FROM a", "D041")
	w.refused(t, "SELECT x, n FROM a, released", "D041")
	for view, inlined := range map[string]string{
		"SELECT count(*) FROM b": "SELECT count(*) FROM (SELECT id - 1 AS x FROM (SELECT k AS id, x FROM t) AS a) AS b",
		"SELECT n FROM released": "SELECT n FROM (SELECT count(*) AS n FROM t) AS released",
		"SELECT count(*) FROM c": "SELECT count(*) FROM (SELECT who AS other, x FROM v) AS c",
	} {
		if a, b := marshal(t, w.ask(t, view, nil).Cost), marshal(t, w.ask(t, inlined, nil).Cost); a != b {
			t.Errorf("%s costs %s, its text %s", view, a, b)
		}
	}
}

// Who is one unit by what is derived from its records counts as one, however many spellings
// those have; and two tables of one source have one derivation.
func TestI15DerivedUnit(t *testing.T) {
	var rows strings.Builder
	for i := range 64 { // one unit of 64 spellings
		mail := []byte("aaaaaa")
		for j := range mail {
			if i>>j&1 == 1 {
				mail[j] = 'A'
			}
		}
		fmt.Fprintf(&rows, "%s%s ,1\n", strings.Repeat(" ", i%3), mail)
	}
	text := `[domains.person]
measure = "pure"
epsilon = 1000000
[tables.t]
source = "t.csv"
domain = "person"
unit = "person"
max_groups_per_unit = 1
max_rows_per_group = 2
columns.person = { type = "text", is = "lower(trim(mail))" }
columns.x = { type = "bigint" }
`
	w := newWorld(t, text, files{"t.csv": "mail,x\n" + rows.String() + "b@c,1\n,1\n"})
	// Two rows of the one, one of the other; whose mail is NULL is nobody.
	for sql, want := range map[string]float64{"SELECT count(*) FROM t": 3, "SELECT count(DISTINCT person) FROM t": 2} {
		if got := w.measure(t, sql); got[0] < want-0.1 || got[0] > want+0.1 {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
	for _, is := range []string{`is = "trim(mail)"`, `from = "mail"`, `is = "lower(trim(mail)) "`} {
		_, err := catalog.Parse(w.dir+"/discreet.toml", text+`[tables.u]
source = "./t.csv"
domain = "person"
unit = "person"
columns.person = { type = "text", `+is+` }
columns.x = { type = "bigint" }
`)
		if err == nil || !strings.Contains(err.Error(), "two units") {
			t.Errorf("one source under a second unit, %s: %v", is, err)
		}
	}
}

// A unit that is derived from a partition is another one where the folder counts for less, or
// where a link leads to the file by another folder: then one record would be of two units.
func TestI15UnitOfAPartitionByTwoPatterns(t *testing.T) {
	const record = "id,year,x\n1,77,1\n"
	for source, refused := range map[string]bool{
		"v/year=*/*.csv":    false,
		"v/*/*.csv":         true, // year is the field of the record
		"v/year=2025/a.csv": true,
		"w/year=*/*.csv":    true, // a link
	} {
		text := "[domains.person]\nmeasure = \"pure\"\nepsilon = 1000000\n"
		for name, source := range map[string]string{"t": "v/year=*/*.csv", "u": source} {
			text += fmt.Sprintf(`[tables.%s]
source = %q
domain = "person"
unit = "person"
max_groups_per_unit = 1
max_rows_per_group = 1
columns.person = { type = "text", is = "id || '-' || year" }
columns.x = { type = "bigint" }
`, name, source)
		}
		dir := t.TempDir()
		at := filepath.Join(dir, "v", "year=2025", "a.csv")
		link := filepath.Join(dir, "w", "year=2024")
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(record), 0o600),
			os.MkdirAll(link, 0o700), os.Link(at, filepath.Join(link, "a.csv"))); err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), text); (err != nil) != refused || refused && !strings.Contains(err.Error(), "two units") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// One expression in two columns is two: a column's own name in it is the source's, and in
// another column it is that column.
func TestI15ExpressionOfTwoColumns(t *testing.T) {
	text := "[domains.person]\nmeasure = \"pure\"\nepsilon = 1000000\n"
	for name, unit := range map[string]string{"t": "p", "u": "q"} {
		text += fmt.Sprintf(`[tables.%s]
source = "t.csv"
domain = "person"
unit = %q
[tables.%[1]s.columns]
p = { type = "text", is = "substring(p, 2)" }
q = { type = "text", is = "substring(p, 2)" }
`, name, unit)
	}
	if _, err := catalog.Parse(filepath.Join(t.TempDir(), "discreet.toml"), text); err == nil || !strings.Contains(err.Error(), "two units") {
		t.Errorf("a unit of two columns with one expression: %v", err)
	}
}

// Columns whose names differ in case are two in JSON lines. In a Parquet file whose columns
// differ in the case of letters that DuckDB knows no case of, the first counts, whether its
// table has one file or several.
func TestI17UnitsThatDifferInCase(t *testing.T) {
	text := func(source, unit string) string {
		return fmt.Sprintf("source = %q\ndomain = \"d\"\nunit = %q\nmax_groups_per_unit = 1\nmax_rows_per_group = 1\ncolumns.%[2]q = { type = \"text\" }\n", source, unit)
	}
	head := "[domains.d]\nmeasure = \"pure\"\nepsilon = 1000000\n"
	_, err := catalog.Parse(filepath.Join(t.TempDir(), "discreet.toml"), head+"[tables.t]\n"+text("t.jsonl", "id")+"[tables.u]\n"+text("t.jsonl", "ID"))
	if err == nil || !strings.Contains(err.Error(), "two units") {
		t.Errorf("JSON: %v", err)
	}

	made := filepath.Join(t.TempDir(), "t.parquet")
	filepathOf(t, "COPY (SELECT 'u' || i AS \"ä\", 'one' AS \"Ä\" FROM range(5) t(i)) TO '"+made+"' (FORMAT parquet)")
	parquet, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, head+"[tables.t]\n"+text("t.parquet", "ä")+"[tables.u]\n"+text("t*.parquet", "Ä"), files{"t.parquet": string(parquet)})
	for _, table := range []string{"t", "u"} {
		if n := w.measure(t, "SELECT count(*) FROM "+table)[0]; n < 4.5 || n > 5.5 {
			t.Errorf("%s: %v units", table, n)
		}
	}
}

// What is derived from an undeclared column does not make it a column, by any spelling.
func TestI16UndeclaredColumn(t *testing.T) {
	w := newWorld(t, `[domains.d]
measure = "pure"
epsilon = 1000.0
[defaults]
epsilon = 1.0
[tables.t]
source = "t.csv"
domain = "d"
unit = "row"
columns.long = { type = "boolean", is = "length(\"Secret\") > 3" }
columns.own = { type = "text", is = "left(own, 1)" }
[tables.p]
source = "p.csv"
public = true
columns.long = { type = "boolean", is = "length(\"Secret\") > 3" }
[views.all]
sql = "SELECT * FROM t"
`, files{"t.csv": "Secret,own\nabcd,xyz\n", "p.csv": "Secret\nabcd\n"})
	for _, name := range []string{"secret", `"Secret"`, `"SECRET"`, "c0", "c2", "f0", "q0", "r0", "rowid", `"Secret" || ''`, "t.secret", `t."Secret"`, `"t.Secret"`, `U&"\0053ecret"`} {
		for _, form := range []string{"SELECT count(%s) FROM t", "SELECT count(*) FROM t WHERE %s IS NULL", "SELECT %s, count(*) FROM t GROUP BY 1",
			"SELECT count(*) FROM (SELECT %s FROM t) AS t", "SELECT count(%s) FROM \"all\" AS t", "SELECT %s FROM p AS t", "SELECT count(*) FROM t JOIN p ON t.long = p.long AND %s = ''"} {
			w.refused(t, fmt.Sprintf(form, name))
		}
	}
	w.refused(t, "SELECT count(*) FROM discreet_copies.copy_1")
	w.refused(t, `SELECT count(*) FROM "t.csv"`)
	if got := w.ask(t, "SELECT * FROM p", nil); len(got.Columns) != 1 {
		t.Errorf("* is %v", got.Columns)
	}
	// The column's own name is what is declared: one letter.
	if got := w.ask(t, "SELECT count(*) FROM t WHERE length(own) > 1", nil); len(got.Columns) != 1 {
		t.Errorf("answered %v", got)
	}
}
