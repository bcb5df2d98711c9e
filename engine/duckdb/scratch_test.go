//go:build cgo

package duckdb_test

import (
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// An instance serves one statement after another and holds nothing of the one before; one that
// failed serves no other, and two that are needed at once are two.
func TestScratchesAreEmptyAgain(t *testing.T) {
	e, err := duckdb.Open(t.Context(), &catalog.Catalog{}, duckdb.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	number := sqltype.Of(sqltype.Bigint)
	scratch := func() engine.Scratch {
		s, err := e.Scratch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	load := func(s engine.Scratch, name string, value int64) {
		t.Helper()
		if err := s.Load(t.Context(), name, []engine.Column{{Name: "x", Type: number}}, [][]sqltype.Value{{value}}); err != nil {
			t.Fatal(err)
		}
	}
	first := scratch()
	load(first, "released", 1)
	load(first, `odd "name`, 2)
	at := duckdb.DB(first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	second, third := scratch(), scratch()
	if duckdb.DB(second) != at {
		t.Error("an instance that is idle is not used again")
	}
	if duckdb.DB(third) == at {
		t.Error("two at once share an instance")
	}
	rows, err := second.Query(t.Context(), "SELECT count(*) FROM information_schema.tables", []sqltype.Type{number})
	if err != nil || rows[0][0] != int64(0) {
		t.Errorf("%v tables are left, %v", rows, err)
	}
	load(second, "released", 3)
	if rows, err := second.Query(t.Context(), "SELECT x FROM released", []sqltype.Type{number}); err != nil || len(rows) != 1 || rows[0][0] != int64(3) {
		t.Errorf("the table holds %v, %v", rows, err)
	}
	if _, err := second.Query(t.Context(), `SELECT x FROM "odd ""name"`, []sqltype.Type{number}); err == nil {
		t.Error("a table of the statement before is there")
	}
	if err := second.Close(); err != nil { // it has failed
		t.Fatal(err)
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	fourth, fifth := scratch(), scratch()
	for _, s := range []engine.Scratch{fourth, fifth} {
		if duckdb.DB(s) == at {
			t.Error("an instance that failed serves another statement")
		}
	}
	if err := fourth.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fifth.Close(); err != nil { // after its engine
		t.Error(err)
	}
	if err := duckdb.DB(fifth).PingContext(t.Context()); err == nil {
		t.Error("an instance outlives its engine")
	}
}
