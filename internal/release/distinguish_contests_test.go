//go:build cgo

package release

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A contest is a statement at a cost, over D and D'.
type contest struct {
	name, sql    string
	measure      filter.Measure
	neighbours   string
	spend        Spend
	rows, others string // the rows of the unit that D' has, and of the one that only D has
}

const contestCatalog = `
[domains.person]
neighbours = %q
measure = %q
epsilon = 1000.0
%s
[tables.t]
source = "t.csv"
domain = "person"
unit = "id"
max_groups_per_unit = 2
max_rows_per_group = 30
[tables.t.columns]
id = { type = "bigint" }
g = { type = "text", domain = ["a", "b", "c", "d"] }
k = { type = "text" }
x = { type = "double", lower = -10, upper = 10 }
n = { type = "integer", lower = 0, upper = 7 }
d = { type = "decimal(8,2)", lower = 0, upper = 99.5 }
s = { type = "double", lower = -1000, upper = 1000, sum_lower = -50, sum_upper = 40 }
`

// unitRows are 40 rows in each group that a unit may have, at the bounds.
func unitRows(id int, groups string, x, n, d, s string) string {
	var b strings.Builder
	for _, g := range groups {
		for i := range 40 {
			fmt.Fprintf(&b, "%d,%c,k%d-%d,%s,%s,%s,%s\n", id, g, id, i, x, n, d, s)
		}
	}
	return b.String()
}

// contests are all aggregates at all forms of cost.
func contests(t *testing.T) []contest {
	alone := unitRows(1000, "ab", "10", "7", "99.5", "-1000")
	low := unitRows(1000, "ab", "-10", "7", "99.5", "-1000")
	across := unitRows(2000, "cd", "10", "7", "99.5", "-1000")
	var all []contest
	for _, form := range []struct {
		measure filter.Measure
		spend   Spend
	}{
		{"pure", Spend{Epsilon: eps(t, "2")}},
		{"zcdp", Spend{Rho: rho(t, "0.5")}},
		{"approx", Spend{Epsilon: eps(t, "2"), Delta: del(t, "1e-6")}},
	} {
		for _, c := range []contest{
			{name: "count rows", sql: "SELECT count(*) FROM t"},
			{name: "count values", sql: "SELECT count(x) FROM t", measure: "pure"},
			{name: "count distinct", sql: "SELECT count(DISTINCT k) FROM t"},
			{name: "count units", sql: "SELECT count(DISTINCT id) FROM t", measure: "pure"}, // σ = 1 is too coarse for the Gaussian claim
			{name: "sum of doubles", sql: "SELECT sum(x) FROM t"},
			{name: "sum of integers", sql: "SELECT sum(n) FROM t", measure: "pure"},
			{name: "sum of decimals", sql: "SELECT sum(d) FROM t", measure: "zcdp"},
			{name: "sum within bounds", sql: "SELECT sum(s) FROM t"},
			{name: "average", sql: "SELECT avg(x) FROM t"},
			{name: "variance", sql: "SELECT var_samp(x) FROM t"},
			{name: "count by group", sql: "SELECT g, count(*) FROM t GROUP BY g"},
			{name: "several", sql: "SELECT count(*), sum(n) FROM t", measure: "zcdp"},
			{name: "replace rows", sql: "SELECT g, count(*) FROM t GROUP BY g", measure: "pure", neighbours: "replace-one", others: across},
			{name: "replace values", sql: "SELECT sum(x) FROM t", neighbours: "replace-one", others: low},
		} {
			if c.measure != "" && c.measure != form.measure || form.measure == "approx" && c.name != "average" && c.name != "count by group" && c.name != "count rows" {
				continue
			}
			c.measure, c.spend, c.rows = form.measure, form.spend, alone
			if c.neighbours == "" {
				c.neighbours = "add-remove"
			}
			c.name += ", " + string(form.measure)
			all = append(all, c)
		}
	}
	return all
}

// exactly computes a release exactly over rows, with a fixed salt, so that what
// is kept of all other units is the same on both sides.
func exactly(t *testing.T, text, sql string, spend Spend, rows string) (*Release, *engine.Exact, [][]sqltype.Value) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("id,g,k,x,n,d,s\n"+rows), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Parse(filepath.Join(dir, "c.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(context.Background(), c, duckdb.Options{Threads: 2, Temp: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	tree, err := sqlparse.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := bind.Bind(tree, c)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := stability.Analyze(bound)
	if err != nil {
		t.Fatal(err)
	}
	design, err := NewDesign(certificate, Options{Spend: spend})
	if err != nil {
		t.Fatal(err)
	}
	r := &design.Releases[0]
	query, err := render.Release(rewrite.Release(r.Release, nil))
	if err != nil {
		t.Fatal(err)
	}
	query.Salt = 7
	exact, err := e.Exact(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	return r, exact, (&workplace{catalog: c, engine: e}).domains(t, r)
}

// A side is one database of a contest, computed.
type side struct {
	exact   *engine.Exact
	domains [][]sqltype.Value
	bare    *Table
}

// arranged is a contest with its exact numbers.
type arranged struct {
	release      *Release
	d, neighbour side
	tellings     []telling
	m            int     // how many of them there are
	epsilon, mu  float64 // what the events claim: of Laplace noise, of Gaussian
}

func (c contest) arrange(t *testing.T) *arranged {
	t.Helper()
	delta := ""
	if c.measure != "pure" {
		delta = "delta = 0.1"
	}
	text := fmt.Sprintf(contestCatalog, c.neighbours, c.measure, delta)
	base := unitRows(1, "bc", "3", "2", "1.25", "4") + unitRows(2, "ad", "-3", "5", "2.5", "-1")
	a := &arranged{}
	for _, s := range []struct {
		side *side
		rows string
	}{{&a.d, base + c.others}, {&a.neighbour, base + c.rows}} {
		a.release, s.side.exact, s.side.domains = exactly(t, text, c.sql, c.spend, s.rows)
		s.side.bare = bare(t, a.release, s.side.exact, s.side.domains)
	}
	// The claim, and that these neighbours use it up: else the test is weak.
	loss, mu2 := 0.0, 0.0
	for _, l := range a.release.laws() {
		apart := l.apart(t, a)
		switch e := l.law.Event().(type) {
		case privacy.DiscreteLaplace:
			s, _ := new(big.Rat).Quo(e.Sensitivity, e.Scale).Float64()
			b, _ := e.Scale.Float64()
			a.epsilon += s
			for _, x := range apart {
				loss += math.Abs(x.d) / b
			}
		case privacy.DiscreteGaussian:
			s, _ := new(big.Rat).Quo(e.SensitivitySquared, e.Variance).Float64()
			v, _ := e.Variance.Float64()
			a.mu += s // squared, for now
			for i := range apart {
				mu2 += apart[i].d * apart[i].d / v
				apart[i].variance = v
			}
		default:
			t.Fatalf("%T", e)
		}
		a.tellings = append(a.tellings, apart...)
	}
	a.m = len(a.tellings)
	if got, want := loss+mu2, a.epsilon+a.mu; got > want*(1+1e-9) || got < want*0.98 {
		t.Fatalf("%s: neighbours are %v apart, the events claim %v", c.name, got, want)
	}
	a.mu = math.Sqrt(a.mu)
	return a
}
