//go:build cgo

package release_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

const regressionCatalog = finiteCatalog + `
[tables.p]
source = "p.parquet"
public = true
[tables.p.columns]
g = { type = "integer" }
x = { type = "double" }
y = { type = "integer" }
`

// Aggregates of two numbers have the engine's own values, which are PostgreSQL's, over rows
// with NULL, without rows and without spread.
func TestRegressionsAreTheEngines(t *testing.T) {
	m := newMachines(t)
	if _, err := m.plain.ExecContext(t.Context(), `CREATE TABLE d.p AS SELECT CAST(n % 5 AS INTEGER) AS g, CASE WHEN n % 7 > 0 THEN CASE WHEN n % 5 = 3 THEN 2.5 ELSE n * 0.37 % 9 END END AS x,
		CASE WHEN n % 11 > 0 AND n % 5 <> 4 THEN CASE WHEN n % 5 = 2 THEN 7 ELSE CAST(n * 13 % 50 - 10 AS INTEGER) END END AS y FROM range(200) AS r(n)`); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Parse("catalog.toml", regressionCatalog)
	if err != nil {
		t.Fatal(err)
	}
	run := func(text string) map[string]any {
		rows, err := m.plain.QueryContext(t.Context(), text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		defer rows.Close()
		out := map[string]any{}
		for rows.Next() {
			var g, v any
			if err := rows.Scan(&g, &v); err != nil {
				t.Fatal(err)
			}
			out[fmt.Sprint(g)] = v
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, f := range []string{"covar_pop", "covar_samp", "corr", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy", "regr_slope", "regr_intercept", "regr_r2"} {
		for _, filter := range []string{"", " FILTER (WHERE y > 3)"} {
			call := f + "(y, x)" + filter
			tree, err := sqlparse.Parse("SELECT g, " + call + " FROM p GROUP BY g")
			if err != nil {
				t.Fatal(err)
			}
			n, err := bind.Bind(tree, cat)
			if err != nil {
				t.Fatal(err)
			}
			text, err := render.Relation(n)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.plain.ExecContext(t.Context(), "SET schema = 'd'"); err != nil {
				t.Fatal(err)
			}
			got, want := run(text), run("SELECT g, "+call+" FROM p GROUP BY g")
			for g, w := range want {
				v := got[g]
				if g == "3" && (f == "regr_r2" || f == "corr") { // DuckDB has 1 or NaN without a spread of x, PostgreSQL NULL
					w = nil
				}
				x, ok := v.(float64)
				y, also := w.(float64)
				if also && math.IsNaN(y) {
					w, also = nil, false
				}
				if ok && also && math.Abs(x-y) <= 1e-9*max(1, math.Abs(y)) || v == nil && w == nil || !ok && !also && fmt.Sprint(v) == fmt.Sprint(w) {
					continue
				}
				t.Errorf("%s of group %s is %v, want %v", call, g, v, w)
			}
		}
	}
}

// Of private rows they are released as one count and as few sums as they need, each less the
// middle of its column's bounds; those of one pair share them.
func TestRegressionsAreSums(t *testing.T) {
	cat, err := catalog.Parse("catalog.toml", regressionCatalog)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int{
		"SELECT covar_pop(cost, age) FROM t":                                                              4,
		"SELECT corr(cost, age) FROM t":                                                                   6,
		"SELECT regr_slope(cost, age), regr_intercept(cost, age) FROM t":                                  5,
		"SELECT corr(cost, age), regr_slope(cost, age), regr_r2(cost, age), covar_samp(cost, age) FROM t": 6,
		"SELECT regr_count(cost, age) FROM t":                                                             1,
		"SELECT avg(q), sum(q), countif(q), countif(age > 3 AND q) FROM t":                                4,
	} {
		c, err := certify(sql, cat)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := len(c.Releases[0].Components); got != want {
			t.Errorf("%s: %d noisy values, want %d", sql, got, want)
		}
	}
	// cost is within 2,500 of its middle, age within 60: a row moves Σxy by at most 150,000. Expressions have a middle, too.
	for of, want := range map[string]float64{
		"age":                            2500 * 60,
		"age * 2 - 7":                    2500 * 120,
		"-age / 4.0":                     2500 * 15,
		"day - DATE '2020-01-01'":        2500 * 215, // 430 days
		"extract(epoch FROM day)":        2500 * 215 * 86_400,
		"extract(epoch FROM seen)":       2500 * 182.5 * 86_400,
		"seen::date - DATE '2020-01-01'": 2500 * 182.5,
		"extract(epoch FROM seen - TIMESTAMP '2020-01-01') / 3600": 2500 * 182.5 * 24,
		"extract(month FROM seen)":                                 2500 * 5.5,
		"extract(isodow FROM seen)":                                2500 * 3,
	} {
		sql := "SELECT covar_pop(cost, " + of + ") FROM t"
		c, err := certify(sql, cat)
		if err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for _, comp := range c.Releases[0].Components {
			if comp.Arg != nil && comp.PerGroup != nil {
				moved, _ := new(big.Rat).Mul(new(big.Rat).SetInt(comp.PerGroup), comp.Grid).Float64()
				largest = max(largest, moved)
			}
		}
		if largest < want*0.99 || largest > want*1.01 {
			t.Errorf("%s: a unit moves a sum by %v, want %v", sql, largest, want)
		}
	}
	for _, sql := range []string{"SELECT corr(cost) FROM t", "SELECT corr(DISTINCT cost, age) FROM t", "SELECT corr(*) FROM t", "SELECT covar_pop(open, age) FROM t", "SELECT corr(note, age) FROM t", "SELECT countif(age) FROM t", "SELECT countif(DISTINCT q) FROM t", "SELECT if(age, 1, 2), count(*) FROM t GROUP BY 1"} {
		if _, err := certify(sql, cat); err == nil {
			t.Errorf("%s is admitted", sql)
		}
	}
}
