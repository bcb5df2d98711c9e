//go:build cgo

package duckdb_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// A statement may ask for as many rows as it likes: it fails neither where there are rows nor where there are none.
func TestAnyNumberOfPlaces(t *testing.T) {
	_, c := write(t, publicTable("t.csv", `u = { type = "bigint" }`, `x = { type = "bigint" }`), `COPY (SELECT mod(i, 3) AS u, i AS x FROM range(9) AS r(i)) TO '%/t.csv'`)
	e := open(t, c, duckdb.Options{Memory: "100MiB"})
	s, err := e.Scratch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bigint := sqltype.Of(sqltype.Bigint)
	if err := s.Load(t.Context(), "t", []engine.Column{{Name: "u", Type: bigint}, {Name: "x", Type: bigint}}, [][]sqltype.Value{{int64(1), int64(2)}, {int64(1), int64(3)}}); err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n < 1e18; n *= 1000 {
		for _, order := range []string{"x", "x DESC"} {
			for among, want := range map[string][]int64{"x >= 0": {3 * min(n, 3), min(n, 2)}, "x < 0": {0, 0}} {
				text := fmt.Sprintf("SELECT count(*) FROM (SELECT u, x, row_number() OVER (PARTITION BY u ORDER BY %s) AS place FROM t WHERE %s) AS r WHERE place <= %d", order, among, n)
				x, err := e.Exact(t.Context(), engine.Query{SQL: text, Tables: []string{"t"}, Values: 1})
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				rows, err := s.Query(t.Context(), text, []sqltype.Type{bigint})
				if err != nil {
					t.Fatalf("scratch: %s: %v", text, err)
				}
				if got := []int64{x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64(), rows[0][0].(int64)}; !slices.Equal(got, want) {
					t.Fatalf("%s: %v, want %v", text, got, want)
				}
			}
		}
	}
}
