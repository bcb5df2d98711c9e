//go:build cgo

package attack_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// cells is a catalog of one table, a row a unit, with 400 public groups: many
// draws of a statement's noise for one query.
func cells(domain, column string) string {
	return "[domains.person]\n" + domain + `
[tables.t]
source = "t.csv"
domain = "person"
unit = "row"
[tables.t.columns]
g = { type = "integer", lower = 1, upper = 400, step = 1 }
x = ` + column + "\n"
}

// everyCell is a row with the value x for each group.
func everyCell(x string) files {
	var b strings.Builder
	b.WriteString("g,x\n")
	for g := 1; g <= 400; g++ {
		fmt.Fprintf(&b, "%d,%s\n", g, x)
	}
	return files{"t.csv": b.String()}
}

// draws asks for sums n times and returns all of them.
func (w *world) draws(t *testing.T, n int, o *discreet.QueryOptions) []float64 {
	t.Helper()
	var all []float64
	for range n {
		for _, row := range w.ask(t, "SELECT sum(x) FROM t GROUP BY g", o).Rows {
			all = append(all, row[0].(float64))
		}
	}
	return all
}

// lowBits returns the place of the lowest 1 in a double: of 12, 2; of 0.5, -1.
func lowBits(x float64) int {
	if x == 0 {
		return math.MaxInt
	}
	mantissa, exponent := math.Frexp(x)
	m := int64(mantissa * (1 << 53))
	e := exponent - 53
	for m%2 == 0 {
		m, e = m/2, e+1
	}
	return e
}

// far reports whether two samples of equal size differ in how often an event
// happens by more than chance, but for probability 2e-10 (Hoeffding, each side).
func far(a, b, n int) bool {
	return math.Abs(float64(a-b)) > 2*math.Sqrt(float64(n)*math.Log(2e10)/2)
}

// sameLowBits compares the lowest digits of two samples: of noise on a grid
// they do not depend on the value that the noise is added to.
func sameLowBits(a, b []float64) error {
	histogram := func(xs []float64) map[int]int {
		h := map[int]int{}
		for _, x := range xs {
			h[lowBits(x)]++
		}
		return h
	}
	ha, hb := histogram(a), histogram(b)
	for place := -1100; place < 1100; place++ {
		if far(ha[place], hb[place], len(a)) {
			return fmt.Errorf("the lowest digit is 2^%d in %d and in %d of %d answers", place, ha[place], hb[place], len(a))
		}
	}
	return nil
}

func TestA1SupportOfNoisySums(t *testing.T) {
	long(t)
	column := `{ type = "double", lower = 0, upper = 1 }`
	for name, o := range map[string]*discreet.QueryOptions{"laplace": pure("0.5"), "gaussian": concentrated("0.1")} {
		d := newWorld(t, cells(largeZCDP, column), everyCell("0"))
		neighbour := newWorld(t, cells(largeZCDP, column), everyCell("1"))
		if err := sameLowBits(d.draws(t, 25, o), neighbour.draws(t, 25, o)); err != nil {
			t.Errorf("%s: sums of 0 and of 1: %v", name, err)
		}
	}
	// The attack finds noise that is added to a float off its grid.
	var zero, one []float64
	for i := range 10_000 {
		noise := math.Tan(float64(i)) * 1e-3
		zero, one = append(zero, noise), append(one, 1+noise)
	}
	if sameLowBits(zero, one) == nil {
		t.Error("the test does not see the bits of floating-point noise")
	}
}

func TestA2PrecisionOfLargeAndSmallAnswers(t *testing.T) {
	long(t)
	column := `{ type = "double", lower = 0, upper = 1073741824 }`
	d := newWorld(t, cells(largePure, column), everyCell("0"))
	neighbour := newWorld(t, cells(largePure, column), everyCell("1073741824"))
	if err := sameLowBits(d.draws(t, 25, pure("0.5")), neighbour.draws(t, 25, pure("0.5"))); err != nil {
		t.Errorf("sums of 0 and of 2^30: %v", err)
	}
}

func TestA3PrecisionOfGaussianNoise(t *testing.T) {
	long(t)
	column := `{ type = "double", lower = 0, upper = 1073741824 }`
	d := newWorld(t, cells(largeZCDP, column), everyCell("0"))
	neighbour := newWorld(t, cells(largeZCDP, column), everyCell("1073741824"))
	if err := sameLowBits(d.draws(t, 25, concentrated("0.01")), neighbour.draws(t, 25, concentrated("0.01"))); err != nil {
		t.Errorf("sums of 0 and of 2^30: %v", err)
	}
}

func TestA5NoiseFromTheDatabase(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(5)})
	for _, sql := range []string{
		"SELECT setseed(0.5)", "SELECT setseed(0.5), count(*) FROM visits", "SET seed = 0.5", "PRAGMA seed = 1",
		"SELECT count(*) FROM visits WHERE random() < 0.5", "SELECT count(*) FROM visits ORDER BY random()",
		"SELECT count(*) FROM visits TABLESAMPLE SYSTEM (50) REPEATABLE (42)", "SELECT count(*) + random() FROM visits",
		"SELECT gen_random_uuid() FROM visits", "EXPLAIN SELECT count(*) FROM visits", "EXPLAIN ANALYZE SELECT count(*) FROM visits",
	} {
		w.refused(t, sql)
	}
}

func TestA6NoRandomInEngineSQL(t *testing.T) {
	w := newWorld(t, visits(largeZCDP), files{"visits.csv": crowd(5)})
	for _, sql := range []string{
		"SELECT city, count(*), sum(cost), avg(fee), count(DISTINCT name), sum(paid) FROM visits GROUP BY city",
		"SELECT name, count(DISTINCT person), variance(cost) FROM visits GROUP BY name",
	} {
		e := must(w.Explain(context.Background(), sql, concentrated("0.1")))
		for _, text := range append(e.EngineSQL, e.PostSQL) {
			for _, word := range []string{"random", "seed", "uuid", "now(", "current_"} {
				if strings.Contains(strings.ToLower(text), word) {
					t.Errorf("%s: the engine runs %s", sql, text)
				}
			}
		}
	}
}

func TestA7RepeatedAggregates(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(50)})
	const wide = "0.000000000001" // at this scale two of twenty draws are equal with odds below 1e-10
	spent := func() float64 {
		return must(w.ledger.Balance(context.Background(), "person")).Spent.Epsilon.Float64()
	}
	// The same aggregate in one statement is one number with one charge.
	before := spent()
	for _, sql := range []string{
		"SELECT count(*) AS a, count(*) AS b FROM visits",
		"SELECT (SELECT count(*) FROM visits) AS a, (SELECT count(*) FROM visits) AS b",
		"WITH v AS (SELECT count(*) AS n FROM visits) SELECT l.n, r.n FROM v AS l CROSS JOIN v AS r",
	} {
		if a := w.ask(t, sql, pure(wide)); a.Rows[0][0] != a.Rows[0][1] {
			t.Errorf("%s: one aggregate has two values: %v", sql, a.Rows)
		}
	}
	if got := spent() - before; got < 2.99e-12 || got > 3.01e-12 {
		t.Errorf("charged %v for three statements of %s", got, wide)
	}
	// The same statement again is charged again, with fresh noise.
	seen := map[sqltype.Value]bool{}
	for i := range 20 {
		before := spent()
		v := w.ask(t, []string{
			"SELECT count(*) FROM visits", "SELECT count(*) AS other FROM visits", "SELECT n FROM (SELECT count(*) AS n FROM visits) AS s",
			"WITH v AS (SELECT * FROM visits) SELECT count(*) FROM v",
		}[i%4], pure(wide)).Rows[0][0]
		if seen[v] {
			t.Errorf("the noise was used before: %v", v)
		}
		if seen[v] = true; spent() <= before {
			t.Error("a repetition was free")
		}
	}
	// No two groups share a draw.
	c := newWorld(t, cells(largePure, `{ type = "double", lower = 0, upper = 1 }`), files{"t.csv": "g,x\n"})
	distinct(t, c.draws(t, 1, pure("0.1")))
}

// distinct fails on equal values: at scales of 2^60 they have odds below 2^-40.
func distinct(t *testing.T, values []float64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(values))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			t.Errorf("the same noise twice: %v", sorted[i])
		}
	}
}

func TestA8NoiseOfParallelWorkers(t *testing.T) {
	w := newWorld(t, cells(largePure, `{ type = "double", lower = 0, upper = 1 }`), files{"t.csv": "g,x\n"})
	var mu sync.Mutex
	var all []float64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			values := w.draws(t, 3, pure("0.1"))
			mu.Lock()
			defer mu.Unlock()
			all = append(all, values...)
		})
	}
	group.Wait()
	distinct(t, all)
}

func TestA9ScalesAtTheEdges(t *testing.T) {
	text := strings.ReplaceAll(visits(largePure), "max_groups_per_unit = 2\nmax_rows_per_group = 3", "max_groups_per_unit = 2147483648\nmax_rows_per_group = 2147483648")
	w := newWorld(t, text, files{"visits.csv": crowd(5)})
	for _, bad := range []string{"1e308", "1e-308", "5e-324", "1e20", "-1", "0", "-0", "NaN", "Inf", "1e-400", "1000001"} {
		if e, err := privacy.ParseEpsilon(bad); err == nil && e.Sign() > 0 {
			t.Errorf("epsilon %s is admitted as %v", bad, e)
		}
	}
	for _, sql := range []string{"SELECT count(*) FROM visits", "SELECT city, sum(cost), avg(age), stddev(fee), count(DISTINCT name) FROM visits GROUP BY city"} {
		for _, epsilon := range []string{"1e-300", "1e-30", "1e-9", "1", "1000", "100000"} {
			a, err := w.Query(context.Background(), sql, pure(epsilon))
			var r *discreet.Refusal
			switch {
			case err == nil:
				for _, m := range a.Mechanisms {
					// L0·R·Δ is at least 2^31; the noise must match it.
					if want := m.Sensitivity / must(privacy.ParseEpsilon(epsilon)).Float64(); !(m.Sensitivity > 1<<30) || !(m.Scale >= want*(1-1e-9)) {
						t.Errorf("%s at %s: %+v", sql, epsilon, m)
					}
				}
			case !errors.As(err, &r):
				t.Errorf("%s at %s: %v\n%s", sql, epsilon, err, w.log)
			}
		}
	}
}

func TestA10GaussianBeyondEpsilonOne(t *testing.T) {
	w := newWorld(t, visits(largeApprox), files{"visits.csv": crowd(5)})
	for _, o := range []*discreet.QueryOptions{approx("0.5", "1e-6"), approx("4", "1e-6"), approx("20", "1e-9"), approx("1", "0.01")} {
		e := must(w.Explain(context.Background(), "SELECT name, count(*), sum(cost) FROM visits GROUP BY name", o))
		mu := 0.0
		for _, m := range e.Mechanisms {
			if m.Mechanism == "discrete_gaussian" {
				mu += m.Sensitivity * m.Sensitivity / (m.Scale * m.Scale)
			}
		}
		mu = math.Sqrt(mu)
		if mu == 0 {
			continue
		}
		// Balle and Wang 2018, Theorem 8: the exact δ of Gaussian noise at ε.
		at := o.Spend.Epsilon.Float64()
		normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		if delta := normal(mu/2-at/mu) - math.Exp(at)*normal(-mu/2-at/mu); delta > o.Spend.Delta.Float64() {
			t.Errorf("epsilon %v: the noise has delta %v, not %v", o.Spend.Epsilon, delta, o.Spend.Delta)
		}
	}
}

// The catalog refuses what a budget cannot be.
func TestA9BudgetsOfTheCatalog(t *testing.T) {
	for _, epsilon := range []string{"nan", "inf", "-inf", "-1.0", "0.0", "-0.0", "1e308", "1e-308", "5e-324", "0"} {
		if _, err := catalog.Parse("c.toml", visits("measure = \"pure\"\nepsilon = "+epsilon)); err == nil {
			t.Errorf("a budget of epsilon %s is admitted", epsilon)
		}
	}
}
