//go:build cgo

package duckdb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestShapes: statements of one shape differ in digits of numbers, in nothing else.
func TestShapes(t *testing.T) {
	a := []engine.Table{{Name: "a", Columns: []engine.Column{{Name: "x", Type: sqltype.Of(sqltype.Double)}}}}
	b := []engine.Table{{Name: "a", Columns: []engine.Column{{Name: "x", Type: sqltype.Of(sqltype.Bigint)}}}}
	for _, same := range [][2]string{
		{"c5 >= 1.7005e+01", "c5 >= 9.0001e+01"}, {"c5 > 30 AND 'x1' <> c1", "c5 > 99 AND 'x1' <> c1"}, {"[1,2]", "[3,4]"}, {"left(c1,7)", "left(c1,8)"},
		{"123456789", "987654321"}, {"1234.56789", "9999.99999"},
	} {
		if one, other := duckdb.ShapeOf(same[0], a), duckdb.ShapeOf(same[1], a); one != other {
			t.Errorf("%q and %q differ", one, other)
		}
	}
	for _, apart := range [][2]string{
		{"c5 > 1", "c6 > 1"}, {"c5 > 1", "c5 > 10"}, {"c5 > 1.5", "c5 > 15"}, {"x > 1e+01", "x > 1e+99"}, {"1e1", "1e2"}, {"c1 = 'a1'", "c1 = 'a2'"}, {"\"c1\"", "\"c2\""}, {"'it''s 1'", "'it''s 2'"},
		{"2147483647", "2147483648"}, {"12345.678901", "12345.678902"}, {"$1", "$2"}, {"é1", "é2"}, {"1", "'1'"}, {"'", "'1"}, {"a_1", "a_2"}, {"- 1", "+ 1"},
	} {
		if one, other := duckdb.ShapeOf(apart[0], a), duckdb.ShapeOf(apart[1], a); one == other {
			t.Errorf("%q and %q are one", apart[0], apart[1])
		}
	}
	if duckdb.ShapeOf("SELECT x FROM a", a) == duckdb.ShapeOf("SELECT x FROM a", b) {
		t.Error("tables of other columns are one")
	}
}

// TestPlannedByShape: what was planned is not planned again, and what could not be is refused
// each time.
func TestPlannedByShape(t *testing.T) {
	e := open(t, &catalog.Catalog{}, duckdb.Options{})
	none := []engine.Table{{Name: "nothing", Columns: []engine.Column{{Name: "x", Type: sqltype.Of(sqltype.Text)}}}}
	for range 2 {
		if err := e.Prepare(t.Context(), "SELECT y FROM nothing WHERE 1 = 1", none); !errors.Is(err, engine.ErrPlan) {
			t.Errorf("a column that is not there: %v", err)
		}
		if err := e.Prepare(t.Context(), "SELECT regexp_matches(x, '(') FROM nothing WHERE 1 = 1", none); !errors.Is(err, engine.ErrPlan) {
			t.Errorf("a pattern that is none: %v", err)
		}
	}
	for _, sql := range []string{"SELECT x FROM nothing WHERE length(x) > 1", "SELECT x FROM nothing WHERE length(x) > 2"} {
		if err := e.Prepare(t.Context(), sql, none); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if n, _ := duckdb.Shapes(e); n != 1 {
		t.Errorf("%d shapes are known, not one", n)
	}
	for i := range 5 { // what is remembered is bounded
		if err := e.Prepare(t.Context(), "SELECT '"+strings.Repeat("xyzab"[i:i+1], duckdb.MaxShapes/3)+"'", nil); err != nil {
			t.Fatal(err)
		}
		if n, bytes := duckdb.Shapes(e); bytes > duckdb.MaxShapes || n == 0 {
			t.Errorf("%d shapes of %d bytes are kept", n, bytes)
		}
	}
}
