//go:build cgo && unix

package release_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
)

// orderedCatalog has a table whose units are in more groups than they may be, and have more rows in them.
const orderedCatalog = `[domains.add]
measure = "zcdp"
epsilon = 1.0
delta = 1e-6
[domains.replace]
measure = "zcdp"
epsilon = 1.0
delta = 1e-6
neighbours = "replace-one"
[tables.t]
source = "t.parquet"
domain = %q
unit = "u"
max_groups_per_unit = 2
max_rows_per_group = 2
[tables.t.columns]
u = { type = %q }
g = { type = "text", domain = ["a", "b", "c", "d", "a text that is longer than twelve bytes"] }
k = { type = "bigint", lower = 0, upper = 1 }
x = { type = "double", lower = -1, upper = 4 }
y = { type = "bigint", lower = 0, upper = 3 }
p = { type = "bigint", lower = 0, upper = 3, sum_lower = 0, sum_upper = 4 }
d = { type = "date", lower = "2025-01-01", upper = "2025-01-31" }
z = { type = "bigint" }
`

// Statements, and whether they are answered from rows in the order of their units.
var orderedStatements = []struct {
	sql     string
	ordered bool
}{
	{"SELECT g, count(*) FROM t GROUP BY g", true},
	{"SELECT g, count(*), sum(x), sum(y) FROM t GROUP BY g", true},
	{"SELECT g, k, avg(x), sum(y) FILTER (WHERE x > 0) FROM t WHERE y < 3 GROUP BY g, k", true},
	{"SELECT var_pop(x), count(y) FROM t", true},
	{"SELECT count(*), sum(x) FROM t WHERE z % 4 = 1", true},
	{"SELECT g, count(DISTINCT u), sum(p), count(*) FROM t GROUP BY g", true},
	{"SELECT g, sum(p), sum(x) FROM t GROUP BY g", true},
	{"SELECT y, count(*), sum(x) FROM t GROUP BY y", true},
	{"SELECT y / 2, k, count(*) FROM t GROUP BY y / 2, k", true},
	{"SELECT d, count(*) FROM t GROUP BY d", true},
	{"SELECT x > 1, count(*) FROM t GROUP BY x > 1", true},
	{"SELECT z % 50, count(*) FROM t GROUP BY z % 50", true}, // groups are selected by their units
	{"SELECT g, k, count(*), sum(y) FROM t GROUP BY ROLLUP (g, k)", true},
	{"SELECT count(DISTINCT y) FROM t", false},
	{"SELECT count(*) FROM t AS a JOIN t AS b USING (u)", false},
}

// orderedWorld is a table as text, for both ways and in two orders, and its neighbour: copied, each, by the owner.
type orderedWorld struct {
	catalog   *catalog.Catalog
	base      *duckdb.Engine // D
	same      *duckdb.Engine // D, its rows in another order in the file
	neighbour *duckdb.Engine // D'
	allowed   int64
}

// orderedRows selects rows of units of all sizes, so that runs, chunks and row groups of the copy end within units: unit 7
// has more rows than a row group, thousands have a few. Unit changed is the one that neighbours differ in.
func orderedRows(unit string, rows, changed int, order string) string {
	return fmt.Sprintf(`SELECT %s AS u, (['a', 'b', 'c', 'd', 'a text that is longer than twelve bytes', 'none', NULL])[1 + (hash(i, 2) %% 7)::BIGINT] AS g,
	(hash(i, 3) %% 2)::BIGINT AS k, CASE WHEN hash(i, 4) %% 9 > 0 THEN (hash(i, 5) %% 80) / 10 - 2 END AS x, (hash(i, 6) %% 4)::BIGINT AS y,
	CASE WHEN hash(i, 7) %% 9 > 0 THEN (hash(i, 8) %% 4)::BIGINT END AS p, DATE '2025-01-01' + (hash(i, 9) %% 40)::INTEGER AS d, (i // 700)::BIGINT AS z
	FROM (SELECT i, CASE WHEN i < %d THEN 7 WHEN hash(i, 0) %% 1000 = 0 THEN NULL WHEN i %% 5 = 0 THEN hash(i, 1) %% 40 ELSE hash(i, 1) %% 9000 END::BIGINT AS n FROM range(%d) AS t(i))
	WHERE n IS DISTINCT FROM %d ORDER BY %s`, unit, rows*2/5, rows, changed, order)
}

func openOrdered(t *testing.T, unit string, rows, changed, threads int) orderedWorld {
	t.Helper()
	typ, expr, domain, allowed := "bigint", "n", "add", int64(1)
	if unit == "text" {
		typ, expr = "text", "'person ' || CASE WHEN n % 3 = 0 THEN 'with a long name ' ELSE '' END || n"
	}
	dir := t.TempDir()
	o, err := duckdb.OpenOwner(t.Context(), duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	w := orderedWorld{allowed: allowed}
	var engines []*duckdb.Engine
	for i, from := range []string{orderedRows(expr, rows, -1, "hash(i)"), orderedRows(expr, rows, -1, "hash(i, 1)"), orderedRows(expr, rows, changed, "hash(i, 2)")} {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := o.Rows(t.Context(), "COPY ("+from+") TO '"+filepath.Join(folder, "t.parquet")+"' (FORMAT parquet)"); err != nil {
			t.Fatal(err)
		}
		c, err := catalog.Parse(filepath.Join(folder, "catalog.toml"), fmt.Sprintf(orderedCatalog, domain, typ))
		if err != nil {
			t.Fatal(err)
		}
		e, err := duckdb.Open(t.Context(), c, duckdb.Options{Memory: "1GiB", Threads: threads, Temp: t.TempDir(), Lazy: true, Copies: filepath.Join(folder, "copies")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		w.catalog, engines = c, append(engines, e)
	}
	for _, e := range engines {
		if _, err := e.MakeCopy(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
	}
	w.base, w.same, w.neighbour = engines[0], engines[1], engines[2]
	return w
}

// check holds the ordered way against the ordinary one, with the hashes that both share, and, with its own, against the certificate
// and another order of the same rows, for the first statements. spoil changes what is asked.
func (w orderedWorld) check(t *testing.T, statements int, spoil func(*engine.Ordered)) (wrong []string) {
	t.Helper()
	for _, s := range orderedStatements[:statements] {
		certificate, err := certify(s.sql, w.catalog)
		if err != nil {
			t.Fatalf("%s: %v", s.sql, err)
		}
		for _, r := range certificate.Releases {
			if !rewrite.Summed(r) {
				continue
			}
			agreed, err := render.DuckDB.Compared(rewrite.Release(r, nil))
			if err != nil {
				t.Fatal(err)
			}
			own, err := render.DuckDB.Release(rewrite.Release(r, nil))
			if err != nil {
				t.Fatal(err)
			}
			if (own.Ordered != nil) != s.ordered || (agreed.Ordered != nil) != s.ordered {
				t.Fatalf("%s: ordered %t", s.sql, own.Ordered != nil)
			}
			if !s.ordered {
				continue
			}
			ask := func(e *duckdb.Engine, q engine.Query) groups {
				q.Salt = 7919
				got, err := revealed(t.Context(), e, q)
				if err != nil {
					t.Fatalf("%s: %v", s.sql, hidden(err))
				}
				return got
			}
			ordinary := agreed
			ordinary.Ordered = nil
			want := ask(w.base, ordinary)
			none, without := agreed, *agreed.Ordered
			without.Rows += " WHERE FALSE" // an answer without rows is not the ordinary way's
			none.Ordered = &without
			if ask(w.base, none).differs(want) == "" {
				t.Fatalf("%s: it is not answered in order", s.sql)
			}
			for _, q := range []*engine.Query{&agreed, &own} {
				spoil(q.Ordered)
			}
			if why := want.differs(ask(w.base, agreed)); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s: in order and anyhow: %s", s.sql, why))
			}
			d, same, e := ask(w.base, own), ask(w.same, own), ask(w.neighbour, own)
			if why := d.differs(same); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s: in another order: %s", s.sql, why))
			}
			if m := measure(summed(r), d, e, w.allowed); m.broken != "" {
				wrong = append(wrong, fmt.Sprintf("%s: %s", s.sql, m.broken))
			}
		}
	}
	return wrong
}

// TestOrderedRowsAreBounded holds statements over copies in the order of units, which a function of ours bounds, against the ordinary way: what
// both keep by the same hashes is the same for every group. With its own hashes, its results move between neighbours by no more than the certificate says, and
// do not depend on the order of rows. It also sees bounds that are wider than they should be.
func TestOrderedRowsAreBounded(t *testing.T) {
	t.Parallel()
	for i, unit := range []string{"bigint", "text"} {
		w := openOrdered(t, unit, soak(130_000, 3_000_000), []int{7, 12}[i], 4)
		if wrong := w.check(t, len(orderedStatements), func(*engine.Ordered) {}); wrong != nil {
			t.Fatalf("%s units:\n%s", unit, strings.Join(wrong, "\n"))
		}
		for name, spoil := range map[string]func(*engine.Ordered){
			"a group too many": func(o *engine.Ordered) { o.MaxGroups += min(o.MaxGroups, 1) },
			"a row too many":   func(o *engine.Ordered) { o.MaxRows++ },
		} {
			if wrong := w.check(t, 2, spoil); len(wrong) < 2 {
				t.Errorf("%s is not seen: %v", name, wrong)
			}
		}
	}
}
