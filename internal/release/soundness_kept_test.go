//go:build cgo

package release_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
)

// keptCatalog has a table of which each unit has four rows at most, with bounds for each statement too: rows in three groups, of which
// four rows fill two.
const keptCatalog = `[domains.add]
measure = "zcdp"
epsilon = 1.0
delta = 1e-6
[domains.replace]
measure = "zcdp"
epsilon = 1.0
delta = 1e-6
neighbours = "replace-one"
[tables.t]
source = "t.csv"
domain = %q
unit = "u"
max_groups_per_unit = 3
max_rows_per_group = 2
max_rows_per_unit = 4
[tables.t.columns]
u = { type = "bigint" }
g = { type = "text", domain = ["a", "b", "c", "d"] }
k = { type = "bigint", lower = 0, upper = 1 }
x = { type = "double", lower = -1, upper = 4 }
y = { type = "bigint", lower = 0, upper = 3 }
p = { type = "bigint", lower = 0, upper = 3, sum_lower = 0, sum_upper = 4 }
`

// Statements, and whether the rows that a unit has can be all that bounds them.
var keptStatements = []struct {
	sql  string
	kept bool
}{
	{"SELECT g, count(*), sum(x), count(DISTINCT y) FROM t GROUP BY g", true},
	{"SELECT g, k, avg(x), sum(y) FILTER (WHERE x > 0) FROM t WHERE y < 3 GROUP BY g, k", true},
	{"SELECT var_pop(x), count(y) FROM t", true},
	{"SELECT g, k, count(*), sum(y) FROM t GROUP BY ROLLUP (g, k)", true},
	{"SELECT g, count(DISTINCT u), count(*), sum(y) FROM t GROUP BY g", false},
	{"SELECT g, sum(p), count(*) FROM t GROUP BY g", false},
	{"SELECT y, count(*) FROM t GROUP BY y", true},
	{"SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", true},
	{"SELECT k, mode() WITHIN GROUP (ORDER BY g) FROM t GROUP BY k", true},
	{"SELECT x, count(*) FROM t GROUP BY x", false}, // groups are selected by their units
}

// How a unit's rows lie: as it comes, all in one group with the values that move sums the most, or in several groups.
const (
	anyhow = iota
	together
	apart
	pairs // two in each group, with such values
)

// A keptRow is one of the table's.
type keptRow [6]string

// A keptFault is one of bounds of rows that are kept once; the zero value is none.
type keptFault struct {
	pipeline
	uncut   bool // the engine has all rows of a unit
	bounded bool // it is of bounds for the statement
}

// asked is a release's query: as it is, with its forms over copies, or with a fault.
func (f keptFault) asked(r *stability.Release) (engine.Query, error) {
	if !f.planted {
		return render.Release(rewrite.Release(r, nil))
	}
	_, q, _, err := f.query(r, nil)
	q.Whole, q.Totals = nil, nil
	return q, err
}

// TestRowsThatAreKeptOnce holds certificates of a table that has so many rows of each unit against what neighbouring files
// give through the adapter, whatever the order of their rows: of random units, of whom some have all their rows in one group,
// with the values that move sums the most. Each statement is bounded both ways. It also shows that the bounds are reached: smaller ones would be wrong.
func TestRowsThatAreKeptOnce(t *testing.T) {
	t.Parallel()
	reached := map[string]bool{}
	if broken := keptRows(t, soak(8, 400), keptFault{}, reached); broken != "" {
		t.Fatal(broken)
	}
	for _, kind := range []stability.ComponentKind{stability.Rows, stability.Sum} {
		for _, domain := range []string{"add", "replace"} {
			for _, kept := range []bool{true, false} {
				if !reached[fmt.Sprintf("%s %d %t", domain, kind, kept)] {
					t.Errorf("%s: no component of kind %d is as far apart as its certificate says, kept %t", domain, kind, kept)
				}
			}
		}
	}
	if !reached["on its grid"] {
		t.Error("no statement asks a copy for values on their grid")
	}
	if !reached["by units"] {
		t.Error("no statement bounds the kept rows of a copy by the numbers of their units")
	}
	t.Logf("reached: %v", reached)
}

// TestFaultsOfKeptRowsAreCaught plants what could be wrong where either way bounds a statement: the one is certified, and its noise is that
// of its bounds, and the other's are enforced, or none.
func TestFaultsOfKeptRowsAreCaught(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]keptFault{
		"the noise is of bounds for the statement, and kept rows are not cut for it": {bounded: true, pipeline: pipeline{plan: func(_ *stability.Release, b *plan.Bounded) { b.Whole = true }}},
		"R is not enforced": {bounded: true, pipeline: pipeline{plan: func(_ *stability.Release, b *plan.Bounded) { b.MaxRows = unlimited }}},
		"the noise is of T rows in groups of R, and a unit has more": {bounded: true, uncut: true, pipeline: pipeline{plan: func(*stability.Release, *plan.Bounded) {}}},
		"the noise is of rows that are kept, and a unit has more":    {uncut: true, pipeline: pipeline{plan: func(*stability.Release, *plan.Bounded) {}}},
	} {
		t.Run(name, func(t *testing.T) {
			f.planted = true
			broken := keptRows(t, 100, f, map[string]bool{})
			if broken == "" {
				t.Fatal("not found")
			}
			what, _, _ := strings.Cut(broken, "\n")
			t.Log(what)
		})
	}
}

// keptRows says what is wrong, or nothing.
func keptRows(t *testing.T, examples int, f keptFault, reached map[string]bool) string {
	state := uint64(2026)
	draw := func(n int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state >> 33 % uint64(n))
	}
	unit := func(id, how int) (rows []keptRow) {
		g, k, most := id%4, id%2, 6
		one := how == together
		switch how {
		case anyhow:
			one, most = draw(3) == 0, 1+draw(8)
		case pairs:
			most = 4
		}
		for i := range most {
			x, y := fmt.Sprint(draw(8)-2), fmt.Sprint(draw(4))
			if how == pairs {
				g = (id + i/2) % 4
			}
			if one || how == pairs {
				x, y = "4", "3"
			} else {
				g, k = draw(5), draw(2)
			}
			if !one && how != pairs && draw(9) == 0 {
				x = ""
			}
			rows = append(rows, keptRow{fmt.Sprint(id), string(rune('a' + g)), fmt.Sprint(k), x, y, y})
		}
		return rows
	}
	for i := range examples {
		var others []keptRow
		for id := range 2 {
			others = append(others, unit(id, anyhow)...)
		}
		domain, allowed := "add", int64(1)
		how := [...]int{together, together, apart, apart, pairs, pairs, anyhow}[min(i, 6)]
		changed, instead := unit(7, how), []keptRow(nil)
		if i%2 == 1 {
			domain, allowed, instead = "replace", 2, unit(8+i%4, how)
		}
		shuffled := slices.Concat(changed, others)
		for j := range shuffled {
			at := j + draw(len(shuffled)-j)
			shuffled[j], shuffled[at] = shuffled[at], shuffled[j]
		}
		text := fmt.Sprintf(keptCatalog, domain)
		prepared := i%4 == 2 // of neighbours, one of them: a copy says what the file says
		c, err := catalog.Parse("c.toml", text)
		if err != nil {
			t.Fatal(err)
		}
		if f.uncut {
			text = strings.Replace(text, "max_rows_per_unit = 4\n", "", 1)
		}
		engines := []engine.Engine{keptEngine(t, text, slices.Concat(others, changed), false), keptEngine(t, text, shuffled, prepared),
			keptEngine(t, text, slices.Concat(others, instead), prepared)}
		for _, s := range keptStatements {
			for _, bounded := range []bool{false, true} {
				certificate, err := certifyWith(s.sql, c, stability.Options{Bounded: bounded})
				if err != nil {
					t.Fatalf("%s: %v", s.sql, err)
				}
				if certificate.EitherWay != s.kept {
					t.Fatalf("%s: either way: %t", s.sql, certificate.EitherWay)
				}
				if bounded && !s.kept || f.planted && (bounded != f.bounded || !s.kept) {
					continue
				}
				for _, r := range certificate.Releases {
					if r.Kept != (s.kept && !bounded) {
						t.Fatalf("%s, bounded %t: kept %t", s.sql, bounded, r.Kept)
					}
					if !rewrite.Summed(r) {
						continue
					}
					q, err := f.asked(r)
					if err != nil {
						t.Fatal(err)
					}
					if !f.planted && r.Kept && q.Whole == nil {
						t.Fatalf("%s: no copy can be asked", s.sql)
					}
					if q.Whole != nil && strings.Contains(q.Whole.SQL, engine.FixedColumn) {
						reached["on its grid"] = true
					}
					reached["by units"] = reached["by units"] || q.Totals != nil
					q.Salt = int64(draw(1 << 20))
					var results []groups
					for _, over := range engines {
						got, err := revealed(t.Context(), over, q)
						if err != nil {
							t.Fatalf("%s: %v", s.sql, err)
						}
						results = append(results, got)
					}
					r = summed(r)
					if m := measure(r, results[0], results[1], 0); m.broken != "" {
						return fmt.Sprintf("example %d: in another order, %s\n%s\n%v", i, m.broken, s.sql, shuffled)
					}
					if m := measure(r, results[0], results[2], allowed); m.broken != "" {
						return fmt.Sprintf("example %d: %s\n%s\n%s\n%v\n%v", i, m.broken, s.sql, q.SQL, changed, instead)
					}
					for _, kind := range reaches(r, results[0], results[2], allowed) {
						reached[fmt.Sprintf("%s %d %t", domain, kind, r.Kept)] = true
					}
				}
			}
		}
	}
	return ""
}

// reaches are the kinds of components that are as far apart, in L2, as the certificate of a release says.
func reaches(r *stability.Release, d, e groups, allowed int64) (kinds []stability.ComponentKind) {
	for i, c := range r.Components {
		squares := new(big.Int)
		for key := range d {
			diff := new(big.Int).Set(d[key].values[i])
			if w, ok := e[key]; ok {
				diff.Sub(diff, w.values[i])
			}
			squares.Add(squares, diff.Mul(diff, diff))
		}
		for key, row := range e {
			if _, both := d[key]; !both {
				squares.Add(squares, new(big.Int).Mul(row.values[i], row.values[i]))
			}
		}
		_, l2 := r.Distances(c, 1, [...]privacy.Neighbours{1: privacy.AddRemove, 2: privacy.ReplaceOne}[allowed])
		if new(big.Rat).SetInt(squares).Cmp(l2) == 0 {
			kinds = append(kinds, c.Kind)
		}
	}
	return kinds
}

// keptEngine opens the adapter over a file with these rows.
func keptEngine(t *testing.T, text string, rows []keptRow, prepared bool) engine.Engine {
	t.Helper()
	dir := t.TempDir()
	var file strings.Builder
	file.WriteString("u,g,k,x,y,p\n")
	for _, row := range rows {
		file.WriteString(strings.Join(row[:], ",") + "\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Parse(filepath.Join(dir, "catalog.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	o := duckdb.Options{Memory: "256MiB", Threads: 1, Temp: dir, Lazy: true}
	if prepared {
		o.Copies = filepath.Join(dir, "copies")
	}
	e, err := duckdb.Open(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if prepared && prepare(t, e, c) != 1 { // waits until the file was left alone
		t.Fatal("no table was copied")
	}
	return e
}
