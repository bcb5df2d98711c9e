//go:build cgo

package release_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// Windows within a unit whose rows are tied by what they are ordered by.
var windowStatements = []string{
	"SELECT i > 2, count(*), count(DISTINCT s) FROM (SELECT i, s, row_number() OVER (PARTITION BY u ORDER BY i > 3) AS n FROM t0) AS t WHERE n = 1 GROUP BY 1",
	"SELECT s < 'b', sum(least(greatest(d, -9), 9)) FROM (SELECT s, i - lag(i) OVER (PARTITION BY u ORDER BY s) AS d FROM t0) AS t GROUP BY 1",
	"SELECT sum(least(greatest(m, 0), 9.5)) FROM (SELECT avg(i * 0.1::double precision) OVER (PARTITION BY u ORDER BY s ROWS 2 PRECEDING) AS m FROM t0) AS t",
	"SELECT sum(least(greatest(m, 0), 1000)) FROM (SELECT sum(CASE WHEN i = 2 THEN 1e17 WHEN i = 5 THEN -1e17 ELSE i + 0.1 END::double precision) OVER (PARTITION BY u) AS m FROM t0) AS t",
	"SELECT n, count(*) FROM (SELECT ntile(3) OVER (PARTITION BY u ORDER BY s DESC) AS n FROM t0) AS t GROUP BY n",
	"SELECT count(*), count(DISTINCT f) FROM (SELECT rank() OVER (PARTITION BY s, u ORDER BY i) AS r, first_value(i) OVER (PARTITION BY u ORDER BY s) AS f FROM t0) AS t WHERE r <= 2",
}

// TestWindowsAreSound holds windows within a unit against neighbours, and plants faults that each break one of them.
func TestWindowsAreSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	holds := func(p pipeline) (broken string) {
		for _, statement := range windowStatements {
			if broken, _ = m.breaks(t, setExample(statement), p); broken != "" {
				break
			}
		}
		return broken
	}
	if why := holds(pipeline{}); why != "" {
		t.Fatal(why)
	}
	each := func(f func(*plan.WindowFunction)) func(*stability.Release, *plan.Bounded) {
		return eachNode(func(n plan.Node) plan.Node {
			w, ok := n.(*plan.Window)
			if !ok {
				return n
			}
			out := &plan.Window{Input: w.Input, Span: w.Span}
			for _, of := range w.Functions {
				f(&of)
				out.Functions = append(out.Functions, of)
			}
			return out
		})
	}
	for name, p := range map[string]pipeline{
		"tied rows lie as they lie":      {plan: each(func(f *plan.WindowFunction) { f.Order = f.Order[:min(1, len(f.Order))] })},
		"a window has rows of all units": {plan: each(func(f *plan.WindowFunction) { f.Partition = nil })},
		"rank numbers rows": {plan: each(func(f *plan.WindowFunction) {
			if f.Function == plan.RowNumber {
				f.Function, f.Order = plan.Rank, f.Order[:1]
			}
		})},
		"sums over windows run in floating point": {sql: replace(`\(CASE WHEN max\(abs\((a\d+)\)\)( OVER \([^)]*\)) <= \S+ THEN .*? / \S+ END\) AS s`, "sum($1)$2 AS s")},
		"row_number() <= 2 keeps one row": {plan: each(func(f *plan.WindowFunction) {
			if f.Function == plan.RowNumber { // as if every second row were numbered anew
				f.Partition = append(f.Partition, &plan.Call{Function: plan.Modulo, T: sqltype.Of(sqltype.Integer),
					Args: []plan.Expr{&plan.Ref{Index: 1, T: sqltype.Of(sqltype.Integer)}, &plan.Literal{Value: int64(2), T: sqltype.Of(sqltype.Integer)}}})
			}
		})},
	} {
		p.planted = true
		if why := holds(p); why == "" {
			t.Errorf("planted: %s: it is not caught", name)
		} else {
			t.Logf("planted: %s: %s", name, why)
		}
	}
}
