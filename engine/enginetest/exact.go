package enginetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

const visitsCatalog = `
[domains.p]
measure = "pure"
neighbours = "add-remove"
epsilon = 1.0
[tables.visits]
source = "visits.csv"
domain = "p"
unit = "u"
max_groups_per_unit = 2
max_rows_per_group = 3
[tables.visits.columns]
u = { type = "bigint" }
k = { type = "text" }
v = { type = "bigint", lower = -100, upper = 100 }
x = { type = "double", lower = 0, upper = 1 }
`

// numbers are many and different, no more.
type numbers struct{ state uint64 }

func (r *numbers) next(n int) int {
	r.state = r.state*6364136223846793005 + 1442695040888963407
	return int(r.state>>33) % n
}

// visits are the records of 300 units: most have a few, ten have hundreds.
func visits() []string {
	r := &numbers{1}
	var records []string
	for u := range 300 {
		n := 1 + r.next(12)
		if u%30 == 0 {
			n = 400
		}
		for range n {
			records = append(records, fmt.Sprintf("%d,k%d,%d,%v", u, r.next(7), r.next(201)-100, float64(r.next(1000))/1000))
		}
	}
	return append(records, ",k1,1,0.5", "1000,,1,0.5", "5,k1,,")
}

func visitsIn(t testing.TB, records []string) *catalog.Catalog {
	return files(t, map[string]string{"discreet.toml": visitsCatalog, "visits.csv": "u,k,v,x\n" + strings.Join(records, "\n") + "\n"})
}

// bounded aggregates visits by k.
func bounded(t testing.TB, e engine.Engine, c *catalog.Catalog, maxGroups, maxRows int64) engine.Query {
	t.Helper()
	q, err := render.Dialect(e.Dialect()).Release(boundedPlan(c, maxGroups, maxRows))
	if err != nil {
		t.Fatal(err)
	}
	q.Salt = 42
	return q
}

func boundedPlan(c *catalog.Catalog, maxGroups, maxRows int64) *plan.Bounded {
	table, boolean := c.Tables[0], sqltype.Of(sqltype.Boolean)
	ref := func(i int) plan.Expr {
		return &plan.Ref{Index: i, Name: table.Columns[i].Name, T: table.Columns[i].Type}
	}
	known := &plan.Filter{Input: &plan.Scan{Table: table}, Condition: &plan.Call{Function: plan.Not, T: boolean,
		Args: []plan.Expr{&plan.Call{Function: plan.IsNull, Args: []plan.Expr{ref(0)}, T: boolean}}}}
	return &plan.Bounded{
		Input: known, Unit: 0, Keys: []plan.Expr{ref(1)}, Names: []string{"k"}, MaxGroups: maxGroups, MaxRows: maxRows,
		Contributions: []plan.Contribution{
			{Kind: plan.Added, Value: &plan.Literal{Value: int64(1), T: sqltype.Of(sqltype.Bigint)}},
			{Kind: plan.Added, Value: ref(2)},
			{Kind: plan.Clamped, Value: ref(2), Lower: big.NewInt(-50), Upper: big.NewInt(50)},
			{Kind: plan.UnitCount},
		}}
}

func exact(t testing.TB, e engine.Engine, q engine.Query) [][]sqltype.Value {
	t.Helper()
	x, err := e.Exact(t.Context(), q)
	if err != nil {
		t.Fatal(cause(err))
	}
	return x.RevealExact()
}

func cause(err error) error {
	var f *engine.Failure
	if errors.As(err, &f) {
		return f.Cause()
	}
	return err
}

// choice: of 4,000 units that are in 8 groups each, every group keeps 3/8, in every form of
// the query: whether or not its rows are chosen among, and its keys are listed. By
// Hoeffding's inequality a count is 250 off with probability 2·exp(-2·250²/4000), so that
// the test fails for nothing with probability 64·2·exp(-31.25), below 1e-11.
func choice(t *testing.T, open Open) {
	const units, groups, kept, off = 4000, 8, 3, 250
	var records, list []string
	for k := range groups {
		list = append(list, fmt.Sprintf("k%d", k))
		for u := range units {
			records = append(records, fmt.Sprintf("%d,k%d,%d,0", u, k, u%7))
		}
	}
	c := visitsIn(t, records)
	e := open(t, c, 1)
	for name, listed := range map[string][]string{"listed": list, "not listed": nil} {
		for form, contributions := range map[string][]int{"summed": {0, 3}, "clamped": {2, 3}, "chosen": {1, 3}} {
			b := boundedPlan(c, kept, 3)
			all := b.Contributions
			b.Contributions = nil
			for _, i := range contributions {
				b.Contributions = append(b.Contributions, all[i])
			}
			if listed != nil {
				b.Listed = [][]string{listed}
			}
			q, err := render.Dialect(e.Dialect()).Release(b)
			if err != nil {
				t.Fatal(err)
			}
			q.Salt = 42
			rows := exact(t, e, q)
			sum := int64(0)
			for _, row := range rows {
				n := row[len(row)-1].(sqltype.Decimal).Unscaled.Int64()
				if sum += n; n < units*kept/groups-off || n > units*kept/groups+off {
					t.Errorf("%s, %s: %v keeps %d of %d units", name, form, row[0], n, units)
				}
			}
			if len(rows) != groups || sum != units*kept {
				t.Errorf("%s, %s: %d groups keep %d units", name, form, len(rows), sum)
			}
		}
	}
}

// determinism: the records' order and the number of threads change no bit.
func determinism(t *testing.T, open Open) {
	records := visits()
	var want []string
	for order, threads := range []int{1, 2, 4} {
		r := &numbers{uint64(order)}
		for i := range records {
			j := r.next(i + 1)
			records[i], records[j] = records[j], records[i]
		}
		c := visitsIn(t, records)
		e := open(t, c, threads)
		for range 2 {
			got := show(exact(t, e, bounded(t, e, c, 2, 3)))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d threads, order %d:\n%v\nwant\n%v", threads, order, got, want)
			}
		}
	}
	if len(want) != 8 { // seven keys and NULL
		t.Errorf("%d groups: %v", len(want), want)
	}
}

// bounds: with wide ones nothing is lost; else no unit exceeds any, and with
// another salt others are kept.
func bounds(t *testing.T, open Open) {
	records := visits()
	c := visitsIn(t, records)
	e := open(t, c, 2)
	type group struct{ u, k string }
	rows := map[group]int64{}
	sums := map[group]int64{}
	for _, rec := range records {
		var g group
		var v int64
		parts := strings.Split(rec, ",")
		if g = (group{parts[0], parts[1]}); g.u == "" {
			continue
		}
		if parts[2] != "" {
			if _, err := fmt.Sscan(parts[2], &v); err != nil {
				t.Fatal(err)
			}
		}
		rows[g]++
		sums[g] += v
	}
	for _, b := range []struct{ groups, rows int64 }{{100, 1000}, {2, 3}, {1, 1}, {100, 1}, {1, 1000}} {
		var count, sum, clamped, units int64
		for _, row := range exact(t, e, bounded(t, e, c, b.groups, b.rows)) {
			for i, into := range []*int64{&count, &sum, &clamped, &units} {
				if d, ok := row[i+1].(sqltype.Decimal); ok {
					*into += d.Unscaled.Int64()
				}
			}
		}
		perUnit := map[string][]int64{}
		var all, allSum, allClamped int64
		for g, n := range rows {
			perUnit[g.u] = append(perUnit[g.u], min(n, b.rows))
			all += min(n, b.rows)
			allSum += sums[g]
			allClamped += max(-50, min(50, sums[g]))
		}
		var fewest, most, kept int64 // of counts that some choice of groups gives
		for _, counts := range perUnit {
			slices.Sort(counts)
			n := min(int64(len(counts)), b.groups)
			kept += n
			for i := range n {
				fewest += counts[i]
				most += counts[int64(len(counts))-1-i]
			}
		}
		if units != kept || count < fewest || count > most {
			t.Errorf("bounds %+v: %d units, %d rows, want %d and %d to %d", b, units, count, kept, fewest, most)
		}
		if b.groups == 100 && (count != all || clamped != allClamped || b.rows == 1000 && sum != allSum) {
			t.Errorf("bounds %+v: count %d sum %d clamped %d, want %d, %d, %d", b, count, sum, clamped, all, allSum, allClamped)
		}
	}
	q := bounded(t, e, c, 1, 1)
	first := show(exact(t, e, q))
	q.Salt++
	if slices.Equal(first, show(exact(t, e, q))) {
		t.Error("another salt keeps the same rows")
	}
}

const canary = "canary5417"

// parameters are all that a query of a dialect may have.
var parameters = map[string]string{"duckdb": "$salt + $slices + $slice", "postgres": "$1", "trino": "$salt"}

// failures are constant, say nothing of the data, and end when told to.
func failures(t *testing.T, open Open) {
	c := visitsIn(t, []string{"1," + canary + ",1,0.5"})
	e := open(t, c, 2)
	for name, text := range map[string]string{
		"an error that quotes a cell": `SELECT CAST(k AS BIGINT), 1 FROM visits WHERE ` + parameters[e.Dialect()] + ` >= 0`,
		"no such table":               `SELECT canary5417, 1 FROM canary5417`,
		"no SQL":                      `canary5417`,
		"nothing":                     ``,
	} {
		x, err := e.Exact(t.Context(), engine.Query{SQL: text, Tables: []string{"visits"}, Keys: []sqltype.Type{sqltype.Of(sqltype.Bigint)}, Values: 1})
		if x != nil || !errors.Is(err, engine.ErrResource) || err.Error() != engine.ErrResource.Error() {
			t.Errorf("%s: %v, %v", name, x, err)
			continue
		}
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Error("x", "err", err)
		if said := fmt.Sprintf("%v %+v %s %q", err, err, log.String(), err); strings.Contains(said, canary) {
			t.Errorf("%s: the error says %s", name, said)
		}
		if errors.Unwrap(err) != nil {
			t.Errorf("%s: the cause can be unwrapped", name)
		}
		if cause(err) == nil {
			t.Errorf("%s: the owner learns nothing", name)
		}
	}
	for _, table := range []string{"visits", "nothing", ""} {
		if _, _, err := e.Public(t.Context(), table); err == nil {
			t.Errorf("table %q is read as public", table)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Exact(ctx, bounded(t, e, c, 1, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	exact(t, e, bounded(t, e, c, 1, 1)) // and goes on
}

// concurrency: queries at the same time do not disturb each other.
func concurrency(t *testing.T, open Open) {
	c := visitsIn(t, visits())
	e := open(t, c, 2)
	queries := []engine.Query{bounded(t, e, c, 2, 3), bounded(t, e, c, 1, 1), bounded(t, e, c, 100, 100)}
	var want [][][]sqltype.Value
	for _, q := range queries {
		want = append(want, exact(t, e, q))
	}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			x, err := e.Exact(t.Context(), queries[i%3])
			if err != nil {
				t.Error(cause(err))
			} else if !reflect.DeepEqual(x.RevealExact(), want[i%3]) {
				t.Errorf("query %d differs when others run", i%3)
			}
		})
	}
	all.Wait()
}
