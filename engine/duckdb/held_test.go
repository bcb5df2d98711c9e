//go:build cgo && unix

package duckdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// A world has labs, whose visits are people's: the last table has the unit.
type world struct {
	dir, ending string
	more        string // of labs' columns
	of          string // the type of a visit's reference
}

func (w world) write(t *testing.T, table, columns, rows string) {
	t.Helper()
	path := filepath.Join(w.dir, table+w.ending)
	format := map[string]string{".csv": "csv, HEADER", ".parquet": "parquet"}[w.ending]
	beside := path + ".new"
	execute(t, "COPY (SELECT * FROM (VALUES "+rows+") AS t("+columns+")) TO '"+beside+"' (FORMAT "+format+")")
	if err := os.Rename(beside, path); err != nil {
		t.Fatal(err)
	}
}

func (w world) catalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	const bounds = "max_groups_per_unit = 2\nmax_rows_per_group = 2\n"
	c, err := catalog.Parse(filepath.Join(w.dir, "discreet.toml"), fmt.Sprintf(`[domains.p]
measure = "pure"
epsilon = 1
[tables.people]
source = "people%[1]s"
domain = "p"
unit = "name"
%[2]scolumns = { id = { type = "integer" }, name = { type = "text" } }
[tables.visits]
source = "visits%[1]s"
domain = "p"
unit = { column = "person", references = "people.id" }
%[2]scolumns = { visit = { type = "bigint" }, person = { type = "%[4]s" } }
[tables.labs]
source = "labs%[1]s"
domain = "p"
unit = { column = "visit", references = "visits.visit" }
%[2]scolumns = { visit = { type = "integer" }, value = { type = "integer" }%[3]s }
`, w.ending, bounds, w.more, w.of))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// labsByUnit asks for the rows of labs that have a unit, and for what they are; over a copy that holds units less one million rows.
func labsByUnit() engine.Query {
	found := func(less int, rows string) string {
		return fmt.Sprintf("SELECT CAST(count(*) - %d AS HUGEINT) AS x0, CAST(sum(hash(value, unit) %% 1000003) AS HUGEINT) AS x1, "+
			"CAST(coalesce(sum(n), 0) + 0 * sum(hash(n, m)) AS HUGEINT) AS x2 FROM (%s) AS t", less, rows)
	}
	return engine.Query{Tables: []string{"labs", "visits", "people"}, Values: 3,
		SQL: found(0, "SELECT value, name AS unit, count(*) OVER (PARTITION BY name) AS n, 0 AS m FROM labs AS l JOIN visits AS v ON l.visit = v.visit JOIN people AS p ON v.person = p.id WHERE name IS NOT NULL"),
		Held: &engine.Held{Copies: []string{"labs"},
			SQL: found(1_000_000, fmt.Sprintf("SELECT value, %s AS unit, %s AS n, %s AS m FROM %s", engine.UnitKey, engine.UnitRows, engine.UnitNumber, engine.LaidName("labs")))}}
}

// A copy of a table whose units are found by references holds them: rows that lead nowhere or to nobody are not there, and those that lead to
// several are there for each. It is read while all files on the way are those that it is of, as they are declared.
func TestCopiesHoldUnits(t *testing.T) {
	for _, ending := range []string{".csv", ".parquet"} {
		t.Run(ending, func(t *testing.T) {
			w := world{t.TempDir(), ending, "", "bigint"}
			people := "(1, 'ann'), (2, 'bob'), (2, 'eve'), (3, NULL), (NULL, 'nil'), (4, 'ann')"
			w.write(t, "people", "id, name", people)
			w.write(t, "visits", "visit, person", "(10, 1), (11, 2), (12, 3), (13, 9), (14, NULL), (NULL, 1), (15, 4), (15, 1), (16, 2)")
			w.write(t, "labs", "visit, value", "(10, 1), (10, 1), (11, 2), (12, 3), (13, 4), (14, 5), (15, 6), (99, 7), (NULL, 8), (16, 9), (10, NULL)")
			folder := filepath.Join(t.TempDir(), "copies")
			options := duckdb.Restless(duckdb.Options{Threads: 2, Lazy: true, Copies: folder}, restless)
			ask := func(e *duckdb.Engine) (held bool, answer string) {
				t.Helper()
				x, err := e.Exact(t.Context(), labsByUnit())
				if err != nil {
					t.Fatal(err)
				}
				row := x.RevealExact()[0]
				n := row[0].(sqltype.Decimal).Unscaled.Int64()
				if held = n < 0; held {
					n += 1_000_000
				}
				return held, fmt.Sprint(n, row[1], row[2])
			}
			e := open(t, w.catalog(t), options)
			time.Sleep(2 * restless)
			held, want := ask(e)
			if held || !strings.HasPrefix(want, "9 ") { // 3 of visit 10, and 2 each of 11, 15 and 16
				t.Fatalf("without a copy: held %t, %s", held, want)
			}
			prepare := func() {
				t.Helper()
				if copy, err := e.MakeCopy(t.Context(), "labs"); err != nil || copy.State != engine.Copied {
					t.Fatalf("%+v, %v", copy, err)
				}
			}
			prepare()
			same := func(e *duckdb.Engine, wants bool, want string) {
				t.Helper()
				for range 2 { // planned, and by the plan
					if held, got := ask(e); held != wants || got != want {
						t.Errorf("held %t, %s; want %t, %s", held, got, wants, want)
					}
				}
			}
			if copies, err := e.CopiesOf("labs"); err != nil || copies[0].State != engine.Copied || copies[0].WithoutUnits || (len(copies) == 2) != (ending == ".csv") || len(copies) == 2 && !copies[1].WithoutUnits {
				t.Errorf("copies: %+v, %v", copies, err) // of text that was read there is another
			}
			reader := open(t, w.catalog(t), options)
			same(reader, true, want)
			same(e, false, want) // who has looked before does so when the files change
			other := w
			other.of = "integer"
			same(open(t, other.catalog(t), options), false, want) // a table on the way is declared otherwise

			// What changes on the way is seen, by who has read the copy and by others.
			w.write(t, "people", "id, name", strings.Replace(people, "eve", "adam", 1))
			changed := open(t, w.catalog(t), duckdb.Options{})
			_, want = ask(changed)
			time.Sleep(2 * restless)
			same(reader, false, want)
			same(open(t, w.catalog(t), options), false, want)
			if copies, err := e.CopiesOf("labs"); err != nil || copies[0].State == engine.Copied {
				t.Errorf("changed: %+v, %v", copies, err)
			}
			prepare()
			same(open(t, w.catalog(t), options), true, want)
			if n, err := e.RemoveCopies("people"); err != nil || n == 0 { // names of people are in it
				t.Errorf("removed %d, %v", n, err)
			}
			same(open(t, w.catalog(t), options), false, want)
		})
	}
}

// A table with a column of a name that copies use has a copy that holds no units.
func TestCopiesWithoutUnits(t *testing.T) {
	w := world{t.TempDir(), ".parquet", `, Discreet_Unit_Key = { type = "integer" }`, "bigint"}
	w.write(t, "people", "id, name", "(1, 'ann')")
	w.write(t, "visits", "visit, person", "(10, 1)")
	w.write(t, "labs", "visit, value, discreet_unit_key", "(10, 1, 5), (11, 2, 6)")
	e := open(t, w.catalog(t), duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless))
	if copy, err := e.MakeCopy(t.Context(), "labs"); err != nil || copy.State != engine.Copied {
		t.Fatalf("%+v, %v", copy, err)
	}
	x, err := e.Exact(t.Context(), labsByUnit())
	if err != nil {
		t.Fatal(err)
	}
	if n := x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64(); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// sourcesOf is a catalog of tables that are each NAME, SOURCE, DOMAIN and UNIT.
func sourcesOf(t *testing.T, dir string, tables ...[4]string) *catalog.Catalog {
	t.Helper()
	text := ""
	for _, domain := range []string{"p", "q", "r"} {
		text += "[domains." + domain + "]\nmeasure = \"pure\"\nepsilon = 1\n"
	}
	for _, of := range tables {
		text += fmt.Sprintf("[tables.%s]\nsource = %q\ndomain = %q\nunit = %s\nmax_groups_per_unit = 1\nmax_rows_per_group = 1\ncolumns = { id = { type = \"integer\" }, u = { type = \"integer\" } }\n", of[0], of[1], of[2], of[3])
	}
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const byParent = `{ column = "id", references = "parent.id" }`

// children counts the rows of table child that have a unit.
func children() engine.Query {
	return engine.Query{Tables: []string{"child", "parent"}, Values: 1, SQL: "SELECT CAST(count(*) AS HUGEINT) AS x0 FROM child JOIN parent USING (id)",
		Held: &engine.Held{Copies: []string{"child"}, SQL: "SELECT CAST(count(*) AS HUGEINT) AS x0 FROM " + engine.LaidName("child")}}
}

// A copy is of the files of each table: the same files in the same order, of which another table has some, are other tables.
func TestCopiesOfWhichTable(t *testing.T) {
	dir := t.TempDir()
	for file, row := range map[string]string{"a.x": "1 AS id, 1 AS u", "a.y": "1 AS id, 2 AS u", "b.y": "2 AS id, 3 AS u"} {
		execute(t, "COPY (SELECT "+row+") TO '"+filepath.Join(dir, file+".parquet")+"' (FORMAT parquet)")
	}
	of := func(child, parent string) *catalog.Catalog {
		return sourcesOf(t, dir, [4]string{"parent", parent + ".parquet", "p", `"u"`}, [4]string{"child", child + ".parquet", "p", byParent})
	}
	options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless)
	if _, err := open(t, of("a.*", "b.y"), options).MakeCopy(t.Context(), "child"); err != nil {
		t.Fatal(err)
	}
	x, err := open(t, of("a.x", "*.y"), options).Exact(t.Context(), children())
	if err != nil {
		t.Fatal(err)
	}
	if n := x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64(); n != 1 {
		t.Errorf("%d rows, by the copy of tables of other files", n)
	}
}

// A statement over copies is refused as one over files is: where the source of a table that it names has become another's, and not where that is said of others.
func TestCopiesOfSourcesThatBecomeOne(t *testing.T) {
	both := children()
	both.SQL = "SELECT CAST(count(*) AS HUGEINT) AS x0 FROM child JOIN parent USING (id) JOIN parent AS p USING (id)"
	held := *both.Held
	held.SQL, held.Tables, both.Held = "SELECT CAST(count(*) AS HUGEINT) AS x0 FROM "+engine.LaidName("child")+" JOIN parent USING (id)", []string{"parent"}, &held
	for i, test := range []struct {
		q       engine.Query
		is      string
		refused bool
	}{{children(), "child", true}, {children(), "another", false}, {both, "child", true}, {both, "another", false}} {
		dir := t.TempDir()
		var all [][4]string
		for j, name := range []string{"parent", "child", "other", "another"} {
			execute(t, "COPY (SELECT 1 AS id, 2 AS u) TO '"+filepath.Join(dir, name+".parquet")+"' (FORMAT parquet)")
			all = append(all, [4]string{name, name + ".parquet", []string{"p", "p", "q", "r"}[j], []string{`"u"`, byParent, `"u"`, `"u"`}[j]})
		}
		e := open(t, sourcesOf(t, dir, all...), duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless))
		if _, err := e.MakeCopy(t.Context(), "child"); err != nil {
			t.Fatal(err)
		}
		own := test.q
		test.q.SQL, own.Held = "SELECT", nil // so that no other form is asked
		for _, q := range []engine.Query{own, test.q} {
			if _, err := e.Exact(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		other := filepath.Join(dir, "other.parquet")
		if err := errors.Join(os.Remove(other), os.Symlink(filepath.Join(dir, test.is+".parquet"), other)); err != nil {
			t.Fatal(err)
		}
		for name, q := range map[string]engine.Query{"own": own, "held": test.q} {
			if _, err := e.Exact(t.Context(), q); (err != nil) != test.refused {
				t.Errorf("%d, %s: %v", i, name, err)
			}
		}
	}
}

// A query over several copies is asked while all of them are of the files as they are.
func TestCopiesOfSeveralTables(t *testing.T) {
	w := world{t.TempDir(), ".parquet", "", "bigint"}
	w.write(t, "people", "id, name", "(1, 'ann')")
	w.write(t, "visits", "visit, person", "(10, 1)")
	w.write(t, "labs", "visit, value", "(10, 1)")
	options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless)
	maker := open(t, w.catalog(t), options)
	q := labsByUnit()
	q.Held.Copies = []string{"visits", "labs"}
	count := func(e *duckdb.Engine) int64 {
		t.Helper()
		x, err := e.Exact(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64()
	}
	for _, table := range q.Held.Copies {
		if _, err := maker.MakeCopy(t.Context(), table); err != nil {
			t.Fatal(err)
		}
	}
	reader := open(t, w.catalog(t), options)
	if n := count(reader); n != 1-1_000_000 {
		t.Errorf("%d rows of copies", n)
	}
	w.write(t, "labs", "visit, value", "(10, 1), (10, 2)")
	time.Sleep(2 * restless)
	if n := count(reader); n != 2 {
		t.Errorf("%d rows, where one copy of two is of files that have changed", n)
	}
}
