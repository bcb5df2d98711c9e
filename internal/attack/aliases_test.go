//go:build cgo

package attack_test

// I: one thing by many names.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/datafile/datafiletest"
)

// rowsByName are catalogs of one file, whose rows are units, declared as tables a and b
// under any two of its names.
func rowsByName(t *testing.T, each func(how string, w *world)) {
	t.Helper()
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 50 {
		fmt.Fprintf(&rows, "%d,%d\n", i, i%10)
	}
	for name, text := range (files{"t.csv": "id,x\n" + rows.String(), "t.jsonl": `{"id": 1, "x": 1}` + "\n"}) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	owner, err := duckdb.OpenOwner(context.Background(), duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	for _, sql := range []string{
		"COPY (SELECT range AS id, range % 10 AS x FROM range(50)) TO '" + dir + "/t.parquet'",
		"ATTACH '" + dir + "/t.duckdb' AS made", "CREATE TABLE made.t AS SELECT range AS id, range % 10 AS x FROM range(50)", "DETACH made",
	} {
		if _, _, err := owner.Rows(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"t.csv", "t.jsonl", "t.parquet", "t.duckdb"} {
		tables := [][2]string{{"", ""}}
		if name == "t.duckdb" {
			tables = [][2]string{{"#t", "#t"}, {"#t", "#T"}}
		}
		for _, s := range datafiletest.Spellings(t, filepath.Join(dir, name)) {
			for _, table := range tables {
				text := "[domains.row]\nmeasure = \"pure\"\nepsilon = 1000000\n[defaults]\nepsilon = 1.0\n"
				for i, source := range []string{name + table[0], s.Path + table[1]} {
					text += fmt.Sprintf("[tables.%c]\nsource = %q\ndomain = \"row\"\nunit = \"row\"\n[tables.%c.columns]\n"+
						"id = { type = \"bigint\" }\nx = { type = \"bigint\", lower = 0, upper = 9 }\n", 'a'+i, source, 'a'+i)
				}
				c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), text)
				if err != nil {
					t.Fatal(err)
				}
				e, err := duckdb.Open(context.Background(), c, duckdb.Options{Threads: 1, Temp: dir})
				if err != nil {
					t.Fatal(err)
				}
				each(name+table[1]+" by "+s.How, newWorldOn(t, c, e, t.TempDir()))
				e.Close()
			}
		}
	}
}

// One file as two tables: a row would be two rows, and pay for one. Each pair of names is asked
// two of the statements in turn, with DISCREET_SOAK all: whether two names are one file is not
// decided by statements.
func TestI2RowsByTwoNames(t *testing.T) {
	seen := 0
	rowsByName(t, func(how string, w *world) {
		seen++
		for i, sql := range []string{
			"SELECT count(*) FROM (SELECT id FROM a UNION ALL SELECT id FROM b) AS t",
			"SELECT sum(x) FROM (SELECT x FROM a WHERE id < 5 UNION ALL SELECT x FROM b WHERE id > 2) AS t",
			"SELECT count(*) FROM a JOIN b ON a.id = b.id",
			"SELECT count(*) FROM a WHERE id IN (SELECT id FROM b)",
			"SELECT count(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id)",
			"SELECT count(*) FROM a FULL JOIN b ON a.id = b.id",
		} {
			if i/2 == seen%3 || os.Getenv("DISCREET_SOAK") != "" {
				t.Run(how, func(t *testing.T) { w.refused(t, sql, "D053", "D046") })
			}
		}
		for _, table := range []string{"a", "b"} { // each by itself is a table as any other
			w.ask(t, "SELECT count(*) FROM "+table, nil)
		}
	})
	if seen < 40 {
		t.Errorf("%d names only", seen)
	}
}

// Of files that are two, the rows are two.
func TestI2RowsOfTwoFiles(t *testing.T) {
	text := "[domains.row]\nmeasure = \"pure\"\nepsilon = 1000000\n"
	for _, name := range []string{"a", "b"} {
		text += fmt.Sprintf("[tables.%s]\nsource = \"%s.csv\"\ndomain = \"row\"\nunit = \"row\"\n[tables.%s.columns]\nid = { type = \"bigint\" }\n", name, name, name)
	}
	w := newWorld(t, text, files{"a.csv": "id\n1\n2\n", "b.csv": "id\n1\n"})
	if got := w.measure(t, "SELECT count(*) FROM (SELECT id FROM a UNION ALL SELECT id FROM b) AS t"); got[0] < 2.9 || got[0] > 3.1 {
		t.Errorf("3 rows of two files are %v", got[0])
	}
}

// A link that takes a file's place between one statement and the next: refused, free.
func TestI3LinkBetweenStatements(t *testing.T) {
	text := visits(largePure) + `[tables.places]
source = "places.csv"
public = true
[tables.places.columns]
city = { type = "text" }
`
	for _, link := range []func(from, to string) error{os.Link, os.Symlink} {
		w := newWorld(t, text, files{"visits.csv": crowd(5), "places.csv": "city\nBonn\n"})
		w.ask(t, "SELECT city FROM places", nil)
		w.ask(t, "SELECT count(*) FROM visits", nil)
		w.history(t)
		places := filepath.Join(w.dir, "places.csv")
		if err := errors.Join(os.Remove(places), link(filepath.Join(w.dir, "visits.csv"), places)); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{"SELECT city FROM places", "SELECT count(*) FROM visits", "SELECT count(*) FROM visits JOIN places ON visits.city = places.city"} {
			var r *discreet.Refusal
			if _, err := w.Query(context.Background(), sql, nil); !errors.As(err, &r) || r.Code != "D087" {
				t.Errorf("%s: %v", sql, err)
			}
		}
		if _, _, err := w.engine.Public(context.Background(), "places"); err == nil {
			t.Error("the engine shows the private file as a public table")
		}
		if more := w.history(t); more != "[]" {
			t.Errorf("refused, but the ledger has %s", more)
		}
	}
}

// A line that leaves its quotes open, or is otherwise no record, changes what is read of
// no other line: the distance of the worlds is that of one unit's rows.
func TestI5LineThatSwallowsOthers(t *testing.T) {
	long(t)
	for _, hostile := range []string{`99,"`, `99,Bonn,x,"1`, `"99,Bonn,x,1,1,1,1,2026-01-01,2026-01-01 10:00:00,1`} {
		lines := strings.SplitAfter(crowd(20), "\n")
		lines[40] = strings.Replace(lines[40], "ben", `"ben"`, 1) // somebody's quote, which could close another's
		for _, at := range []int{1, 11, len(lines) - 1} {
			d := strings.Join(lines, "")
			neighbour := strings.Join(lines[:at], "") + hostile + "\n" + strings.Join(lines[at:], "")
			p := newPair(t, visits(largePure), files{"visits.csv": d}, files{"visits.csv": neighbour})
			p.within(t, "SELECT count(*) FROM visits", 3)
			p.within(t, "SELECT count(*) FROM visits GROUP BY city", 6)
			p.within(t, "SELECT sum(cost) FROM visits", 30)
		}
	}
}
