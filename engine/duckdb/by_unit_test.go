//go:build cgo

package duckdb_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// A query is asked by its function where it names one, each time, and otherwise, or where that fails, by its own SQL.
func TestQueriesByUnit(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"t.parquet": "SELECT * FROM (VALUES (1::BIGINT, 5::BIGINT), (1, 6), (2, 7)) AS t(u, x)"})
	e := open(t, severalOf(t, dir, "t.parquet", `u = { type = "bigint" }`, `x = { type = "bigint" }`), duckdb.Options{})
	own := "SELECT CAST(-1 AS HUGEINT) AS x0 FROM t LIMIT 1"
	byUnit := func(groups, values int) *engine.Least {
		return &engine.Least{Groups: groups, Values: values, SQL: fmt.Sprintf("SELECT CAST(sum(len(kept)) AS HUGEINT) AS x0 FROM (SELECT discreet_least_%d_%d(x << 8) AS kept FROM t GROUP BY u) AS t", groups, values)}
	}
	ask := func(l *engine.Least) int64 {
		x, err := e.Exact(t.Context(), engine.Query{SQL: own, Least: l, Tables: []string{"t"}, Values: 1})
		if err != nil {
			t.Error(err)
			return 0
		}
		return x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64()
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				if got := ask(byUnit(1, 0)); got != 2 {
					t.Errorf("one group of each unit: %d groups", got)
				}
				if got := ask(byUnit(2, 0)); got != 3 {
					t.Errorf("two groups of each unit: %d groups", got)
				}
			}
		})
	}
	all.Wait()
	for name, l := range map[string]*engine.Least{
		"none": nil, "a shape that there is not": byUnit(1, 9), "another call": {Groups: 3, SQL: byUnit(4, 0).SQL}, "no SQL": {Groups: 1, SQL: "SELECT"},
	} {
		if got := ask(l); got != -1 {
			t.Errorf("%s: the answer is %d", name, got)
		}
	}
}
