//go:build cgo && unix

package duckdb_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// anns asks how many rows of labs and of visits are ann's; over copies, where both have one.
func anns() engine.Query {
	count := func(labs, visits string) string {
		return fmt.Sprintf("SELECT CAST((SELECT count(*) FROM (%s) AS l WHERE name = 'ann') AS HUGEINT) AS x0, CAST((SELECT count(*) FROM (%s) AS v WHERE name = 'ann') AS HUGEINT) AS x1", labs, visits)
	}
	laid := func(table string) string {
		return fmt.Sprintf("SELECT %s AS name FROM %s", engine.UnitKey, engine.LaidName(table))
	}
	const visits = "visits AS v JOIN people AS p ON v.person = p.id"
	return engine.Query{Tables: []string{"labs", "visits", "people"}, Values: 2, SQL: count("SELECT name FROM labs AS l JOIN "+visits+" ON l.visit = v.visit", "SELECT name FROM "+visits),
		Held: &engine.Held{Copies: []string{"labs", "visits"}, SQL: count(laid("labs"), laid("visits"))}}
}

// A query over copies of several tables is answered from those of one state of all files on their ways, though one of these is replaced, and copied, when
// the first copy was found and before the second is, and though the query reads none of them.
func TestCopiesOfOneState(t *testing.T) {
	w := world{t.TempDir(), ".parquet", "", "bigint"}
	w.write(t, "people", "id, name", "(1, 'ann')")
	w.write(t, "visits", "visit, person", "(10, 1)")
	w.write(t, "labs", "visit, value", "(10, 1)")
	options := duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true, Copies: filepath.Join(t.TempDir(), "copies")}, restless)
	maker := open(t, w.catalog(t), options)
	prepare := func(table string) {
		if _, err := maker.MakeCopy(t.Context(), table); err != nil {
			t.Error(err)
		}
	}
	prepare("labs")
	prepare("visits")
	attached, replaced := false, false // seen and set where copies are looked for alone
	x, err := open(t, w.catalog(t), options).Exact(&stepping{Context: t.Context(), at: func(int64) {
		switch {
		case !within("held") || replaced:
		case within("attachCopy"):
			attached = true
		case attached:
			replaced = true
			w.write(t, "people", "id, name", "(1, 'bob')")
			prepare("visits")
		}
	}}, anns())
	if err != nil {
		t.Fatal(err)
	}
	var of [2]int64
	for i, v := range x.RevealExact()[0] {
		of[i] = v.(sqltype.Decimal).Unscaled.Int64()
	}
	if !replaced || of != [2]int64{0, 0} {
		t.Errorf("replaced %t: %d rows of labs, %d of visits", replaced, of[0], of[1])
	}
}
