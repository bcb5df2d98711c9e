//go:build cgo

package attack_test

// I: one thing by many names, where the names are patterns of several files.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
)

// rowsOf declares tables a and b of patterns, whose rows are units.
func rowsOf(a, b string) string {
	text := "[domains.row]\nmeasure = \"pure\"\nepsilon = 1000000\n[defaults]\nepsilon = 1.0\n"
	for i, source := range []string{a, b} {
		text += fmt.Sprintf("[tables.%[1]c]\nsource = %[2]q\ndomain = \"row\"\nunit = \"row\"\n[tables.%[1]c.columns]\nid = { type = \"bigint\" }\n", 'a'+i, source)
	}
	return text
}

// Patterns that share a file: its rows would be two, and pay for one.
func TestI10RowsByTwoPatterns(t *testing.T) {
	all := files{"v/2024/a.csv": "id\n1\n2\n", "v/2025/a.csv": "id\n3\n", "v/2025/b.csv": "id\n4\n"}
	for _, test := range []struct {
		a, b   string
		shared bool
	}{
		{"v/*/*.csv", "v/2025/*.csv", true},
		{"v/*/a.csv", "v/2025/*.csv", true},
		{"v/**/*.csv", "v/2025/b.csv", true},
		{"v/2024/*.csv", "v/2025/*.csv", false},
		{"v/*/a.csv", "v/*/b.csv", false},
	} {
		w := newWorld(t, rowsOf(test.a, test.b), all)
		union := "SELECT count(*) FROM (SELECT id FROM a UNION ALL SELECT id FROM b) AS t"
		if !test.shared {
			if got := w.measure(t, union)[0]; got < 1.5 {
				t.Errorf("%s and %s: %v rows", test.a, test.b, got)
			}
			continue
		}
		for _, sql := range []string{union, "SELECT count(*) FROM a JOIN b ON a.id = b.id", "SELECT count(*) FROM a WHERE id IN (SELECT id FROM b)"} {
			w.refused(t, sql, "D053", "D046")
		}
		for _, table := range []string{"a", "b"} {
			w.ask(t, "SELECT count(*) FROM "+table, nil)
		}
	}
}

// A pattern that grows between the plan and the reading, or between statements: what
// comes is in no answer of this opening, and if it is another table's file, there is none.
func TestI11PatternThatGrowsBetweenStatements(t *testing.T) {
	text := visits(largePure) + "[tables.places]\nsource = \"places/*.csv\"\npublic = true\n[tables.places.columns]\ncity = { type = \"text\" }\n"
	text = strings.Replace(text, `"visits.csv"`, `"visits/*.csv"`, 1)
	all := files{"visits/a.csv": crowd(5), "places/a.csv": "city\nBonn\n"}
	cities := func(t *testing.T, w *world) int {
		t.Helper()
		return len(w.ask(t, "SELECT city FROM places", nil).Rows)
	}
	w := newWorld(t, text, all)
	before := w.measure(t, "SELECT count(*) FROM visits")[0]
	more := files{"visits/b.csv": crowd(5), "places/b.csv": "city\nKiel\n"}
	for name, of := range more {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(of), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if after := w.measure(t, "SELECT count(*) FROM visits")[0]; after < before-0.1 || after > before+0.1 {
		t.Errorf("%v rows, and with a file more %v", before, after)
	}
	if n := cities(t, w); n != 1 {
		t.Errorf("the public table has %d rows", n)
	}
	for name, link := range map[string]func(from, to string) error{"a symbolic link": os.Symlink, "a hard link": os.Link} {
		for _, of := range []string{"visits/a.csv", "visits/new.csv"} {
			for _, at := range []string{"places/a.csv", "places/c.csv"} {
				w := newWorld(t, text, all)
				cities(t, w)
				w.history(t)
				if of == "visits/new.csv" {
					if err := os.WriteFile(filepath.Join(w.dir, of), []byte(crowd(5)), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				os.Remove(filepath.Join(w.dir, at))
				if err := link(filepath.Join(w.dir, of), filepath.Join(w.dir, at)); err != nil {
					t.Fatal(err)
				}
				for _, sql := range []string{"SELECT city FROM places", "SELECT count(*) FROM visits"} {
					var r *discreet.Refusal
					if _, err := w.Query(context.Background(), sql, nil); !errors.As(err, &r) || r.Code != "D087" {
						t.Errorf("%s of %s at %s: %s: %v", name, of, at, sql, err)
					}
				}
				if _, rows, err := w.engine.Public(context.Background(), "places"); err == nil {
					t.Errorf("%s of %s at %s: the engine shows %d rows of it", name, of, at, len(rows))
				}
				if more := w.history(t); more != "[]" {
					t.Errorf("refused, but the ledger has %s", more)
				}
			}
		}
	}
}

// The last line of one file, without an end and with a quote left open, changes nothing
// of the next file; nor does a file of nothing, or a mark at the beginning of one.
func TestI12LineThatSwallowsTheNextFile(t *testing.T) {
	long(t)
	text := strings.Replace(visits(largePure), `"visits.csv"`, `"visits/part=*/*.csv"`, 1)
	for _, hostile := range []string{`99,"`, `99,Bonn,x,"1`, "99", `99,Bonn,x,1,1,1,1,2026-01-01,2026-01-01 10:00:00,1`, "\ufeff99,Bonn", "\xff,\""} {
		d := files{"visits/part=1/a.csv": crowd(10), "visits/part=2/a.csv": "\ufeff" + crowd(10), "visits/part=2/b.csv": visitsHeader}
		neighbour := files{"visits/part=1/a.csv": crowd(10) + hostile, "visits/part=2/a.csv": "\ufeff" + crowd(10), "visits/part=2/b.csv": visitsHeader}
		p := newPair(t, text, d, neighbour)
		p.within(t, "SELECT count(*) FROM visits", 3)
		p.within(t, "SELECT count(*) FROM visits GROUP BY city", 6)
		p.within(t, "SELECT sum(cost) FROM visits", 30)
	}
}
