//go:build cgo

package discreet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

const shelvedCatalog = `[domains.d]
measure = "MEASURE"
epsilon = 1e3
DELTAS
[tables.t]
source = "t.csv"
domain = "d"
unit = "who"
max_groups_per_unit = 3
max_rows_per_group = 4
columns.who = { type = "bigint" }
columns.k = { type = "text", domain = ["a", "b", "c"] }
columns.s = { type = "text", domain = ["F", "M"] }
columns.n = { type = "integer", lower = 0, upper = 4, step = 1 }
columns.x = { type = "bigint", lower = 0, upper = 9 }
columns.w = { type = "double", lower = 0, upper = 9, sum_lower = 0, sum_upper = 20 }
columns.free = { type = "text" }
[tables.p]
source = "p.csv"
public = true
columns.k = { type = "text" }
columns.name = { type = "text" }
[views.narrow]
sql = "SELECT who, k, x FROM t"
[views.viewed]
sql = "SELECT who, s AS sex, x AS v, k AS key, n + 0 - 0 AS m, n FROM t"
[views.bounded]
sql = "SELECT who, s, x, k FROM t"
columns.x = { type = "bigint", lower = 0, upper = 5 }
columns.k = { type = "text", domain = ["a", "b"] }
`

// A shelved database counts what its engine and its ledger are asked.
type shelved struct {
	testing.TB
	*Database
	recorder *recorder
}

func (w *shelved) spent() string {
	b, err := w.config.Ledger.Balance(w.Context(), "d")
	if err != nil {
		w.Fatal(err)
	}
	return fmt.Sprint(b.Spent)
}

func (w *shelved) version() {
	w.Helper()
	if _, err := w.config.Ledger.NewVersion(w.Context(), "", "", time.Now()); err != nil {
		w.Fatal(err)
	}
}

// at is options to ask at a cost; at none where it is 0.
func (w *shelved) at(cost string) *QueryOptions {
	o := &QueryOptions{Reuse: true, NoDefault: true, Analyst: "ann"}
	switch {
	case cost == "":
	case w.config.Catalog.Domains[0].Measure == "zcdp":
		o.Spend.Rho = must(privacy.ParseRho(cost))
	default:
		o.Spend.Epsilon = must(privacy.ParseEpsilon(cost))
	}
	return o
}

// told asks, and holds whether anything was charged, and whether private data was read, against what is wanted.
func (w *shelved) told(sql string, o *QueryOptions, free bool) *Answer {
	w.Helper()
	e, err := w.Explain(w.Context(), sql, o)
	if err != nil {
		w.Fatalf("%s\n%v", sql, err)
	}
	spent, asked := w.spent(), len(w.recorder.asked)
	a, err := w.Query(w.Context(), sql, o)
	if err != nil {
		w.Fatalf("%s\n%v", sql, err)
	}
	if e.Reused != free || a.Reused != free {
		w.Errorf("%s\nis explained as free: %v, and answered for nothing: %v, not %v", sql, e.Reused, a.Reused, free)
	}
	if free && (w.spent() != spent || len(w.recorder.asked) != asked || len(a.Cost.Events) > 0) {
		w.Errorf("%s\nis charged, %s after %s, or reads private data: %v", sql, w.spent(), spent, w.recorder.asked[asked:])
	}
	if e.Reused && (len(e.EngineSQL) > 0) != (len(e.Cost.Events) > 0) {
		w.Errorf("%s\nis explained as asked of an engine: %s", sql, e.EngineSQL)
	}
	if !free && w.spent() == spent {
		w.Errorf("%s\nis charged nothing", sql)
	}
	return a
}

// shelve opens a shelved database, of whose catalog some texts are others.
func shelve(t testing.TB, measure string, instead ...string) *shelved {
	t.Helper()
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("who,k,s,n,x,w,free\n")
	for u := range 300 {
		for i := range 4 {
			fmt.Fprintf(&rows, "%d,%c,%c,%d,%d,%d,%c\n", u, 'a'+(u+i)%4, "FMX"[u%3], i, (u*7+i)%10, i, 'p'+u%2)
		}
	}
	text := strings.NewReplacer("MEASURE", measure, "DELTAS", map[bool]string{false: "delta = 1e-3"}[measure == "pure"]).Replace(strings.NewReplacer(instead...).Replace(shelvedCatalog))
	for name, text := range map[string]string{"t.csv": rows.String(), "p.csv": "k,name\na,A\nb,B\n", "c.toml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Load(filepath.Join(dir, "c.toml"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	l, err := ledger.Create(t.Context(), filepath.Join(dir, "l"), ledger.Options{Domains: Budgets(c), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r := &recorder{Engine: e}
	db, err := Open(t.Context(), Config{Catalog: c, Engine: r, Ledger: l})
	if err != nil {
		t.Fatal(err)
	}
	return &shelved{t, db, r}
}

// cells are an answer's values by its first columns.
func cells(a *Answer, keys, column int) map[string]sqltype.Value {
	out := map[string]sqltype.Value{}
	for _, row := range a.Rows {
		out[fmt.Sprint(row[:keys])] = row[column]
	}
	return out
}

// decimal is a number as a double.
func decimal(v sqltype.Value) float64 {
	f, err := strconv.ParseFloat(sqltype.Format(v), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// A statement that asks no more than what was released is answered from that, at no cost and without a look at private rows, by
// values that are just what was released, or its sums.
func TestMade(t *testing.T) {
	for _, measure := range []string{"zcdp", "pure"} {
		t.Run(measure, func(t *testing.T) {
			w := shelve(t, measure)
			const fine = "SELECT k, s, count(*) AS secret, sum(x) AS total, avg(x) AS mean FROM t GROUP BY k, s"
			w.version()
			stored := w.told(fine, w.at("0.3"), false)
			count, total, mean := cells(stored, 2, 2), cells(stored, 2, 3), cells(stored, 2, 4)
			sum := func(of map[string]sqltype.Value, keys ...string) (n int64) {
				for _, k := range keys {
					switch v := of[k].(type) {
					case int64:
						n += v
					case sqltype.Decimal:
						n += v.Unscaled.Int64()
					}
				}
				return n
			}
			number := func(v sqltype.Value) int64 {
				switch v := v.(type) {
				case int64:
					return v
				case sqltype.Decimal:
					return v.Unscaled.Int64()
				}
				t.Fatalf("%v is no whole number", v)
				return 0
			}
			for _, c := range []struct {
				sql  string
				want map[string]int64 // by the first column
			}{
				{"SELECT s, count(*) FROM t GROUP BY s", map[string]int64{"F": sum(count, "[a F]", "[b F]", "[c F]"), "M": sum(count, "[a M]", "[b M]", "[c M]")}},
				{"SELECT k, sum(x) FROM t GROUP BY k ORDER BY 2 DESC", map[string]int64{"a": sum(total, "[a F]", "[a M]"), "b": sum(total, "[b F]", "[b M]"), "c": sum(total, "[c F]", "[c M]")}},
				{"SELECT k, count(*) FROM t WHERE s = 'F' GROUP BY k", map[string]int64{"a": sum(count, "[a F]"), "b": sum(count, "[b F]"), "c": sum(count, "[c F]")}},
				{"SELECT s, count(*) FROM t WHERE k IN ('a', 'c') AND NOT s = 'M' GROUP BY s", map[string]int64{"F": sum(count, "[a F]", "[c F]"), "M": 0}},
				{"SELECT 'all', count(*) FROM t", map[string]int64{"all": sum(count, "[a F]", "[b F]", "[c F]", "[a M]", "[b M]", "[c M]")}},
				{"SELECT 'one', sum(x) FROM t WHERE k = 'b' AND s = 'M'", map[string]int64{"one": sum(total, "[b M]")}},
				{"SELECT 'less', count(*) FROM t WHERE k < 'c' AND (s = 'M' OR k = 'a')", map[string]int64{"less": sum(count, "[a F]", "[a M]", "[b M]")}},
			} {
				a := w.told(c.sql, w.at(""), true)
				got := map[string]int64{}
				for i, row := range a.Rows {
					got[row[0].(string)] = number(row[1])
					if at := a.Intervals[i][1]; at == nil || number(at.Lower) > number(row[1]) || number(at.Upper) < number(row[1]) || number(at.Lower) == number(at.Upper) {
						t.Errorf("%s\n%v has the interval %v", c.sql, row, at)
					}
				}
				for k, v := range got {
					if want, there := c.want[k]; !there && k != "M" || v != want {
						t.Errorf("%s\nsays %v, and what was released is %v", c.sql, got, c.want)
						break
					}
				}
				if len(got) < len(c.want)-1 {
					t.Errorf("%s\nhas the groups %v", c.sql, got)
				}
				if words := fmt.Sprint(a.Notes, a.Mechanisms, a.Columns, a.Statement); strings.Contains(words, "secret") || strings.Contains(words, "mean") {
					t.Errorf("%s\nis told in others' words: %s", c.sql, words)
				}
			}
			// As it was released, by other post-processing.
			a := w.told("SELECT s AS sex, k, avg(x) AS a, count(*) AS n, row_number() OVER (ORDER BY k, s) FROM t GROUP BY k, s HAVING count(*) > -1000000 ORDER BY k, s LIMIT 4", w.at(""), true)
			if len(a.Rows) != 4 {
				t.Fatalf("%v", a.Rows)
			}
			for _, row := range a.Rows {
				key := fmt.Sprint([]sqltype.Value{row[1], row[0]})
				if row[2] != mean[key] || row[3] != count[key] {
					t.Errorf("%v is not what was released: %v, %v", row, mean[key], count[key])
				}
			}
			if a = w.told("SELECT k, sum(x) / count(*) FROM t GROUP BY k, s", w.at(""), true); len(a.Rows) != 6 || a.Intervals[0][1] == nil && measure == "zcdp" {
				t.Errorf("a share has %+v", a)
			}
			w.told("SELECT name, n FROM p JOIN (SELECT k, count(*) AS n FROM t GROUP BY k) AS c USING (k)", w.at(""), true)
			w.told("SELECT a.n - b.n FROM (SELECT count(*) AS n FROM t WHERE s = 'F') AS a, (SELECT count(*) AS n FROM t WHERE s = 'M') AS b", w.at(""), true)
			// Each grouping set is sums of the groups.
			for _, sets := range []string{"ROLLUP (k, s)", "CUBE (s, k)", "GROUPING SETS ((k), (s))", "GROUPING SETS ((k, s), s, ())"} {
				a := w.told("SELECT k, s, count(*), sum(x), avg(x) FROM t GROUP BY "+sets, w.at(""), true)
				for i, row := range a.Rows {
					n, t0 := int64(0), int64(0)
					for _, k := range []string{"a", "b", "c"} {
						for _, s := range []string{"F", "M"} {
							if (row[0] == nil || row[0] == k) && (row[1] == nil || row[1] == s) {
								n, t0 = n+sum(count, "["+k+" "+s+"]"), t0+sum(total, "["+k+" "+s+"]")
							}
						}
					}
					if number(row[2]) != n || number(row[3]) != t0 || row[4] == nil || a.Intervals[i][2] == nil || a.Intervals[i][3] == nil {
						t.Errorf("%s\nsays %v, and what was released is %d, %d", sets, row, n, t0)
					}
				}
				if len(a.Rows) < 3 {
					t.Errorf("%s\nhas %v", sets, a.Rows)
				}
			}
			// An average is made of a sum and a count of the same values, and these of what was released for an average.
			for i, c := range [][2]string{{"count(x), sum(x)", "avg(x)"}, {"avg(x)", "count(x), sum(x)"}} {
				from := fmt.Sprintf("FROM t WHERE w > -%d AND n < 3 GROUP BY k, n", 1+i)
				w.told("SELECT k, n, "+c[0]+" "+from, w.at("0.9"), false)
				both := w.told("SELECT count(x), sum(x), avg(x), k, n "+from, w.at(""), true)
				for i, row := range both.Rows {
					value, has := decimal(row[1])/decimal(row[0]), decimal(row[2])
					if decimal(row[0]) < 1 {
						value = 4
					}
					if value = min(max(value, 0), 9); math.Abs(value-has) > 1e-6 {
						t.Errorf("%s of %s: the average is %v, and the others say %v", c[1], c[0], row, value)
					}
					for j := range 3 {
						at := both.Intervals[i][j]
						if at == nil || decimal(at.Lower) > decimal(row[j]) || decimal(at.Upper) < decimal(row[j]) || j < 2 && decimal(at.Upper)-decimal(at.Lower) < 1 {
							t.Errorf("%s of %s: %v has the interval %v", c[1], c[0], row[j], at)
						}
					}
				}
				coarse := w.told("SELECT k, count(x), sum(x), avg(x) "+strings.Replace(from, "k, n", "k", 1), w.at(""), true)
				for _, row := range coarse.Rows {
					n, s := 0.0, 0.0
					for _, fine := range both.Rows {
						if fine[3] == row[0] {
							n, s = n+decimal(fine[0]), s+decimal(fine[1])
						}
					}
					if decimal(row[1]) != n || decimal(row[2]) != s || n >= 1 && math.Abs(min(max(s/n, 0), 9)-decimal(row[3])) > 1e-6 {
						t.Errorf("%s of %s: %v is not %v, %v", c[1], c[0], row, n, s)
					}
				}
			}
			// Through a view or a subquery it is the question that it stands for.
			for _, sql := range []string{
				"SELECT key, count(*), sum(v) FROM viewed GROUP BY key",
				"SELECT key, avg(v) FROM viewed WHERE sex = 'F' GROUP BY key, sex",
				"SELECT key, sex, count(*) AS m, sum(v), avg(v) FROM viewed GROUP BY key, sex",
				"SELECT c, count(*) FROM (SELECT s AS c, k AS d FROM t WHERE s <> 'M') AS q WHERE d > 'a' GROUP BY c",
			} {
				a, b := w.told(sql, w.at(""), true), w.told(strings.NewReplacer("FROM viewed", "FROM t", "key", "k", "sex", "s", "v)", "x)",
					"(SELECT s AS c, k AS d FROM t WHERE s <> 'M') AS q", "t", "WHERE d", "WHERE s <> 'M' AND k", "c,", "s,", "BY c", "BY s").Replace(sql), w.at(""), true)
				if fmt.Sprint(a.Rows) != fmt.Sprint(b.Rows) || !bytes.Equal(must(json.Marshal(a.Intervals)), must(json.Marshal(b.Intervals))) {
					t.Errorf("%s\nsays %v, and without a view %v", sql, a.Rows, b.Rows)
				}
			}
			w.told("SELECT s, var_pop(x) FROM t GROUP BY s", w.at("0.01"), false) // no squares were released
			// Of several releases each is made of one over the same relation.
			const both = " FROM (SELECT count(*) AS n FROM t JOIN p ON p.k = t.k) AS a, (SELECT count(*) AS n FROM t) AS b"
			first := w.told("SELECT a.n, b.n"+both, w.at("0.9"), false).Rows[0]
			if again := w.told("SELECT b.n AS m, a.n AS l"+both, w.at(""), true).Rows[0]; again[0] != first[1] || again[1] != first[0] {
				t.Errorf("%v is not %v", again, first)
			}
		})
	}
}

// What was not released, or is not as precise, is charged; without a cost it is refused.
func TestNotMade(t *testing.T) {
	w := shelve(t, "zcdp")
	w.version()
	w.told("SELECT k, s, count(*), count(DISTINCT who), sum(w) FROM t WHERE x > 2 GROUP BY k, s", w.at("0.3"), false)
	chosen := w.told("SELECT k, free, count(DISTINCT who) FROM t GROUP BY k, free", w.at("0.3"), false)
	if !slices.ContainsFunc(chosen.Mechanisms, func(m Mechanism) bool { return m.Threshold > 0 }) {
		t.Errorf("no count decides: %+v", chosen.Mechanisms)
	}
	w.told("SELECT k, free, count(*) FROM t GROUP BY k, free", w.at("0.3"), false)
	w.told("SELECT k, s, count(x), sum(x), count(DISTINCT n) FROM t WHERE x > 4 GROUP BY k, s", w.at("0.3"), false)
	w.told("SELECT k, s, count(x), sum(x) FILTER (WHERE n > 1) FROM t WHERE x > 5 GROUP BY k, s", w.at("0.3"), false)
	none := func(sql string) {
		t.Helper()
		spent, asked := w.spent(), len(w.recorder.asked)
		for _, ask := range []func() error{
			func() error { _, err := w.Query(t.Context(), sql, w.at("")); return err },
			func() error { _, err := w.Explain(t.Context(), sql, w.at("")); return err },
		} {
			if err := ask(); err == nil || !strings.Contains(err.Error(), "D070") {
				t.Errorf("%s\nis not refused: %v", sql, err)
			}
		}
		if w.spent() != spent || len(w.recorder.asked) != asked {
			t.Errorf("%s\nis charged, or reads private data", sql)
		}
	}
	for _, sql := range []string{
		"SELECT k, count(*) FROM t GROUP BY k",                                                       // of more rows
		"SELECT k, count(*) FROM t WHERE x > 3 GROUP BY k",                                           // of fewer
		"SELECT k, count(*) FROM t WHERE x > 2 AND n = 1 GROUP BY k",                                 // by what is no key
		"SELECT k, count(*) FROM t WHERE x > 2 OR s = 'F' GROUP BY k",                                // likewise
		"SELECT n, count(*) FROM t WHERE x > 2 GROUP BY n",                                           // by another key
		"SELECT CASE WHEN n > 1 THEN 'a' ELSE 'b' END AS c, count(*) FROM t WHERE x > 2 GROUP BY c",  // likewise, of values that a key has
		"SELECT k, count(DISTINCT who) FROM t WHERE x > 2 GROUP BY k",                                // units do not add up
		"SELECT k, sum(w) FROM t WHERE x > 2 GROUP BY k",                                             // nor what is clamped for each
		"SELECT k, sum(x) FROM t WHERE x > 2 GROUP BY k",                                             // another value
		"SELECT k, count(*) FILTER (WHERE s = 'F') FROM t WHERE x > 2 GROUP BY k",                    // another count
		"SELECT k, count(*) FROM t WHERE x > 2 AND s IS NULL GROUP BY k",                             // of rows that no group has
		"SELECT k, count(*) FROM t WHERE x > 2 AND s = 'X' GROUP BY k",                               // likewise
		"SELECT k, avg(x) FROM t WHERE x > 2 GROUP BY k",                                             // a count alone
		"SELECT k, avg(x) FILTER (WHERE n > 1) FROM t WHERE x > 5 GROUP BY k",                        // a count of more rows than the sum has
		"SELECT k, count(DISTINCT n) FROM t WHERE x > 4 GROUP BY k",                                  // distinct values do not add up
		"SELECT k, n, s, count(*) FROM t WHERE x > 2 GROUP BY ROLLUP (k, n, s)",                      // finer groups
		"SELECT k, s, count(DISTINCT who) FROM t WHERE x > 2 GROUP BY CUBE (k, s)",                   // units do not add up
		"SELECT k, count(*) FROM t WHERE x > 2 AND upper(s) = 'F' GROUP BY k",                        // by a condition that is not known here
		"SELECT free, count(*) FROM t GROUP BY free",                                                 // groups that were chosen hide others
		"SELECT count(*) FROM t",                                                                     // likewise
		"SELECT k, free, count(*) FROM t WHERE k = 'a' GROUP BY k, free",                             // likewise
		"SELECT sum(n) FROM (SELECT k, free, count(DISTINCT who) AS n FROM t GROUP BY k, free) AS c", // of counts that were chosen for their noise
		"SELECT k, median(x) FROM t GROUP BY k",                                                      // a tree
		"SELECT mode() WITHIN GROUP (ORDER BY k) FROM t",                                             // a choice
		"SELECT count(*) FROM t WHERE x > (SELECT avg(x) FROM t)",                                    // by what was released
		"SELECT k, count(*) FROM narrow WHERE x > 2 GROUP BY k, who > 3",                             // by the unit, or what follows from it
		"SELECT p.k, count(*) FROM t JOIN p ON p.k = t.k WHERE t.x > 2 GROUP BY p.k",                 // another relation
		"SELECT k, sum(x) FROM bounded WHERE x > 4 GROUP BY k",                                       // within other bounds
		"SELECT k, avg(x) FROM bounded WHERE x > 4 GROUP BY k",                                       // likewise
		"SELECT k, s, count(*) FROM bounded WHERE x > 2 AND s || k > 'Fa' GROUP BY k, s",             // by a condition that is not known here
	} {
		none(sql)
	}
	w.told("SELECT k, count(DISTINCT who), sum(w) FROM t WHERE x > 2 AND s = 'F' GROUP BY k", w.at(""), true) // each group is one
	w.told("SELECT count(*), free, k FROM t GROUP BY k, free HAVING count(*) > 0", w.at(""), true)

	// With a cost it must be as precise as what would be paid for.
	w.told("SELECT s, k, count(*) FROM t WHERE x > 2 GROUP BY s, k", w.at("0.01"), true)
	w.told("SELECT s, k, count(*) FROM t WHERE x > 2 GROUP BY s, k", w.at("0.2"), false)
	w.told("SELECT s, k, count(*), count(DISTINCT who) FROM t WHERE x > 2 GROUP BY s, k", func() *QueryOptions { o := w.at("0.01"); o.Fresh = true; return o }(), false)
	// Bounds that an analyst has tightened are not those of whoever has not.
	w.told("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1) n, s, count(*) FROM t GROUP BY n, s", w.at("0.3"), false)
	none("SELECT n, s, count(*) FROM t GROUP BY n, s")
	none("SELECT n, count(*) FROM t GROUP BY n")
	// What was paid for under a key is its analyst's alone.
	keyed := w.at("0.3")
	keyed.IdempotencyKey = "k"
	w.told("SELECT k, n, count(*) FROM t GROUP BY k, n", keyed, false)
	none("SELECT n, count(*) FROM t GROUP BY n")
	// Another version has answers of its own, and before the first there are none.
	w.version()
	none("SELECT s, count(*) FROM t WHERE x > 2 GROUP BY s")
	before := shelve(t, "zcdp")
	before.told("SELECT k, s, count(*) FROM t GROUP BY k, s", before.at("0.3"), false)
	before.version()
	if _, err := before.Query(t.Context(), "SELECT k, s, count(*) FROM t GROUP BY k, s HAVING count(*) > 0", before.at("")); err == nil {
		t.Error("an answer of before any version serves")
	}
}

// With a cost, what is made leaves out no more than what would be charged: neither by bounds of finer groups, nor by the domain of a key that is
// left out. It may be told for nothing all the same.
func TestMadeCutsNoMore(t *testing.T) {
	const three, row = "unit = \"who\"\nmax_groups_per_unit = 3\nmax_rows_per_group = 4", "unit = \"row\""
	const many, one, kept = "unit = \"who\"\nmax_groups_per_unit = 6\nmax_rows_per_group = 4", "unit = \"who\"\nmax_groups_per_unit = 1\nmax_rows_per_group = 4", "unit = \"who\"\nmax_rows_per_unit = 4"
	const fine = "SELECT k, s, count(*), sum(x), sum(w), count(DISTINCT who) FROM t GROUP BY k, s"
	for _, c := range []struct {
		bounds, stored, sql string
		free                bool
	}{
		{three, fine, "SELECT k, s, count(*), sum(x) FROM t GROUP BY k, s", true}, // the same groups
		{three, fine, "SELECT k, s, count(DISTINCT who) FROM t GROUP BY k, s", true},
		{three, fine, "SELECT k, s, sum(w) FROM t GROUP BY k, s", false}, // all rows of a unit, not four
		{three, fine, "SELECT s, count(*) FROM t GROUP BY s", false},
		{three, fine, "SELECT k, s, count(*), sum(x) FROM t GROUP BY ROLLUP (k, s)", true}, // bounded by the same groups
		{three, fine, "SELECT k, s, count(*) FROM t GROUP BY GROUPING SETS (s, k)", true},
		{one, "SELECT n, count(*) FROM t GROUP BY n", "SELECT count(*) FROM t", false},
		{one, "SELECT k, count(*), sum(x) FROM t GROUP BY k", "SELECT k, count(*) FROM t GROUP BY k", true},
		{one, "SELECT k, count(*), sum(x) FROM t GROUP BY k", "SELECT k, count(*) FROM bounded GROUP BY k", false}, // whose groups are fewer: rows of others may have taken their place
		{kept, "SELECT k, count(*), sum(x) FROM t GROUP BY k", "SELECT k, count(*) FROM bounded GROUP BY k", true},
		{three, fine, "SELECT k, count(*) FROM t WHERE s = 'F' GROUP BY k", false}, // others may have taken the place of its groups
		{three, fine, "SELECT k, s, count(*) FROM t WHERE s = 'F' GROUP BY k, s", false},
		{three, fine, "SELECT count(DISTINCT who) FROM t WHERE s = 'F' AND k = 'a'", false},
		{many, fine, "SELECT k, count(*) FROM t WHERE s = 'F' GROUP BY k", true},
		{many, fine, "SELECT k, sum(x) FROM t WHERE 'F' = s AND k <> 'a' GROUP BY k", true},
		{many, fine, "SELECT count(DISTINCT who) FROM t WHERE s = 'F' AND k = 'a'", true},
		{many, fine, "SELECT k, sum(w) FROM t WHERE s = 'F' GROUP BY k", false},
		{many, fine, "SELECT k, count(*) FROM t WHERE s IN ('F', 'X') GROUP BY k", false}, // rows that no group has
		{many, fine, "SELECT k, count(*) FROM t WHERE s < 'M' GROUP BY k", false},
		{many, fine, "SELECT k, count(*) FROM t GROUP BY k", false},
		{row, "SELECT k, s, count(*) FROM t GROUP BY k, s", "SELECT s, count(*) FROM t WHERE k IN ('a', 'b') GROUP BY s", true},
		{row, "SELECT k, s, count(*) FROM t GROUP BY k, s", "SELECT s, count(*) FROM t GROUP BY s", false},
		{row, "SELECT s, CASE WHEN x > 5 THEN 'a' ELSE 'b' END AS c, count(*) FROM t GROUP BY s, c", "SELECT s, count(*) FROM t GROUP BY s", true}, // no row is without
		{row, "SELECT s, CASE WHEN x > 5 THEN 'a' WHEN x < 3 THEN 'b' END AS c, count(*) FROM t GROUP BY s, c", "SELECT s, count(*) FROM t GROUP BY s", false},
		{row, "SELECT s, CASE WHEN x > 5 THEN 'a' ELSE k END AS c, count(*) FROM t GROUP BY s, c", "SELECT s, count(*) FROM t GROUP BY s", false},
		{row, "SELECT s, NOT (x IS NULL AND w IS NOT NULL) AS c, count(*) FROM t GROUP BY s, c", "SELECT s, count(*) FROM t GROUP BY s", true},
		{row, "SELECT s, x > 5 AS c, count(*) FROM t GROUP BY s, c", "SELECT s, count(*) FROM t GROUP BY s", false},
		{kept, "SELECT k, s, count(*) FROM t GROUP BY k, s", "SELECT s, count(*) FROM t WHERE k IN ('a', 'b') GROUP BY s", true},
		{kept, "SELECT k, s, count(*) FROM t GROUP BY k, s", "SELECT s, count(*) FROM t GROUP BY s", false},
	} {
		t.Run(c.bounds+" "+c.sql, func(t *testing.T) {
			t.Parallel()
			w := shelve(t, "zcdp", three, c.bounds)
			w.version()
			w.told(c.stored, w.at("0.9"), false)
			w.told(c.sql, w.at(""), true)
			w.told(c.sql, w.at("0.001"), c.free)
		})
	}
}

// failing is an engine whose public tables cannot be read for a while.
type failing struct {
	engine.Engine
	fail func(ctx context.Context) error
}

func (f *failing) Public(ctx context.Context, table string) ([]engine.Column, [][]sqltype.Value, error) {
	if f.fail != nil {
		if err := f.fail(ctx); err != nil {
			return nil, nil, err
		}
	}
	return f.Engine.Public(ctx, table)
}

// A grouping set is bounded by keys that it does not show. Where a view gives one of these other values, other rows are left out, and it is
// another release.
func TestMadeOfSetsWithinOtherDomains(t *testing.T) {
	w := shelve(t, "zcdp", "[views.bounded]", "[views.fewer]\nsql = \"SELECT who, s, x, k FROM t\"\ncolumns.k = { type = \"text\", domain = [\"a\", \"b\"] }\n[views.bounded]")
	releases := func(from string) []*release.Comparable {
		s, err := w.plan(t.Context(), "SELECT s, k, avg(x) FROM "+from+" GROUP BY GROUPING SETS (s, k)", w.at("0.1"))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.releases) != 2 || s.releases[0].Within == nil {
			t.Fatalf("%d releases, within %v", len(s.releases), s.releases[0].Within)
		}
		return s.releases
	}
	all, fewer := releases("t"), releases("fewer")
	for i := range all {
		if x := release.Remake(fewer[i], all[i]); x != nil {
			t.Errorf("set %d leaves other rows out, and is made: %+v", i, x)
		}
		if x := release.Remake(all[i], releases("(SELECT * FROM t) AS q")[i]); x == nil || !x.Same() {
			t.Errorf("set %d is not the same", i)
		}
	}
}

// A view may give a key fewer values: its groups are some of those that were released.
func TestMadeThroughViewOfFewerValues(t *testing.T) {
	const view = "[views.fewer]\nsql = \"SELECT who, s, x, k FROM t\"\ncolumns.k = { type = \"text\", domain = [\"a\", \"b\"] }\n[views.bounded]"
	for name, c := range map[string]struct {
		bound string
		free  bool // at a cost too
	}{"a unit may be in all groups": {"max_groups_per_unit = 3", true}, "bounds cut groups, other ones than of fewer": {"max_groups_per_unit = 2", false}} {
		w := shelve(t, "pure", "[views.bounded]", view, "max_groups_per_unit = 3", c.bound)
		w.version()
		const of = " GROUP BY k ORDER BY k"
		stored := w.told("SELECT k, count(*) AS n, count(DISTINCT who) AS u FROM t"+of, w.at("9"), false)
		w.told("SELECT k, count(*) AS n, count(DISTINCT who) AS u FROM fewer"+of, w.at("0.001"), c.free)
		for _, sql := range []string{"SELECT k, count(*) AS n, count(DISTINCT who) AS u FROM fewer" + of, "SELECT k, count(*) AS n FROM (SELECT * FROM fewer) x" + of} {
			a := w.told(sql, w.at(""), true)
			if len(a.Rows) != 2 || fmt.Sprint(a.Rows) != fmt.Sprint([][]sqltype.Value{stored.Rows[0][:len(a.Columns)], stored.Rows[1][:len(a.Columns)]}) {
				t.Errorf("%s: %s\nsays %v of %v", name, sql, a.Rows, stored.Rows)
			}
			if !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, "groups of a release that was made before") }) {
				t.Errorf("%s: notes %q", name, a.Notes)
			}
		}
		w.told("SELECT k, count(*) AS n FROM t GROUP BY k", w.at("0.001"), true)
		all := must(w.plan(t.Context(), "SELECT k, count(*) FROM t GROUP BY k", w.at("0.1"))).releases[0]
		fewer := all.Release.Comparable([][]sqltype.Value{{"a", "b"}}) // as of a public table that has lost a row
		if x := release.Remake(fewer, all); x == nil || x.Same() || !x.Group() || x.CutsNoMore(fewer.Release) != c.free {
			t.Errorf("%s: of fewer values than when it was released: %+v", name, x)
		}
	}
}

// Which groups are picked is found once for releases that pick alike, and anew for others.
func TestMadePicksAlike(t *testing.T) {
	w := shelve(t, "zcdp")
	one := func(sql string) *release.Comparable {
		return must(w.plan(t.Context(), sql, w.at("0.1"))).releases[0]
	}
	asked := one("SELECT k, count(*) FROM t WHERE s = 'F' GROUP BY k")
	picked := release.Remake(asked, one("SELECT k, s, count(*), sum(x) FROM t GROUP BY k, s"))
	if !picked.Group() || picked.Most != 1 {
		t.Fatalf("%+v", picked)
	}
	if x := release.Remake(asked, one("SELECT k, s, count(*) FROM t GROUP BY k, s")); !x.GroupAs(picked) || x.Most != 1 {
		t.Errorf("the same groups are not picked: %+v", x)
	}
	if x := release.Remake(asked, one("SELECT k, s, count(*) FROM t WHERE s = 'F' GROUP BY k, s")); x.GroupAs(picked) {
		t.Errorf("other groups are picked: %+v", x)
	}
}

// What fails while a stored statement is planned again, such as for a request that is cancelled, is forgotten with it.
func TestMadeAfterFailures(t *testing.T) {
	w := shelve(t, "zcdp", `columns.k = { type = "text", domain = ["a", "b", "c"] }`, `columns.k = { type = "text", domain = { from = "p.k" } }`)
	f := &failing{Engine: w.recorder.Engine}
	w.recorder.Engine = f
	w.version()
	w.told("SELECT k, s, count(*) FROM t GROUP BY k, s", w.at("0.3"), false)
	for name, failure := range map[string]func(cancel func()) error{
		"cancelled": func(cancel func()) error { cancel(); return context.Canceled },
		"failed":    func(func()) error { return errors.New("no such table now") },
	} {
		for at := range 3 { // in the statement itself, and in the stored one
			w.shelf = &shelf{}
			ctx, cancel := context.WithCancel(t.Context())
			read := 0
			f.fail = func(context.Context) error {
				if read++; read == at+1 {
					return failure(cancel)
				}
				return nil
			}
			_, _ = w.Query(ctx, "SELECT k, count(*) FROM t GROUP BY k", w.at(""))
			f.fail = nil
			cancel()
			if a, err := w.Query(t.Context(), "SELECT k, count(*) FROM t GROUP BY k", w.at("")); err != nil || !a.Reused {
				t.Errorf("after reading number %d %s: %v", at, name, err)
			}
		}
	}
}

// Under an idempotency key nothing is told of which nothing would be recorded; neither is that explained.
func TestNothingMadeUnderAKey(t *testing.T) {
	w := shelve(t, "zcdp")
	w.version()
	w.told("SELECT k, s, count(*) FROM t GROUP BY k, s", w.at("0.3"), false)
	for _, sql := range []string{"SELECT k, s, count(*) FROM t GROUP BY k, s", "SELECT s, k, count(*) FROM t GROUP BY s, k"} {
		o := w.at("0.01")
		w.told(sql, o, true)
		o.IdempotencyKey = sql
		first := w.told(sql, o, false)
		if again, err := w.Query(t.Context(), sql, o); err != nil || !again.Reused || fmt.Sprint(again.Rows) != fmt.Sprint(first.Rows) {
			t.Errorf("%s\nis %v again, not %v: %v", sql, again, first, err)
		}
	}
}

// What may cost nothing costs nothing, whatever else is said; and where no books are asked it is refused.
func TestFreeCostsNothing(t *testing.T) {
	w := shelve(t, "zcdp")
	w.version()
	w.told("SELECT k, s, count(*) FROM t GROUP BY k, s", w.at("0.3"), false)
	for name, more := range map[string]func(*QueryOptions){
		"a cost":              func(o *QueryOptions) { o.Spend.Rho = must(privacy.ParseRho("0.1")) },
		"another's measure":   func(o *QueryOptions) { o.Spend.Epsilon = must(privacy.ParseEpsilon("1")) },
		"an accuracy":         func(o *QueryOptions) { o.Accuracy = must(ParseAccuracy("50")) },
		"a relative accuracy": func(o *QueryOptions) { o.Accuracy = must(ParseAccuracy("2%")) },
		"a pilot": func(o *QueryOptions) {
			o.Accuracy, o.AtMost.Rho = must(ParseAccuracy("2%")), must(privacy.ParseRho("0.5"))
		},
		"the default": func(o *QueryOptions) { o.NoDefault = false },
		"a bound":     func(o *QueryOptions) { o.AtMost.Rho = must(privacy.ParseRho("0.5")) },
	} {
		o := w.at("")
		o.Free = true
		more(o)
		w.told("SELECT s, count(*) FROM t GROUP BY s", o, true)
		spent := w.spent()
		for _, without := range []func(*QueryOptions){func(*QueryOptions) {}, func(o *QueryOptions) { o.Reuse = false }, func(o *QueryOptions) { o.Fresh = true }} {
			alone := *o
			without(&alone)
			if _, err := w.Query(t.Context(), "SELECT n, count(*) FROM t GROUP BY n", &alone); err == nil || !strings.Contains(err.Error(), "may cost nothing") || w.spent() != spent {
				t.Errorf("with %s %+v is not refused, or charged %s after %s: %v", name, alone, w.spent(), spent, err)
			}
		}
	}
	o := w.at("")
	o.Free, o.Reuse = true, false
	if _, err := w.Query(t.Context(), "SELECT k, count(*) FROM p GROUP BY k", o); err != nil {
		t.Errorf("public rows: %v", err)
	}
}

// How many groups of stored answers are looked at is bounded for a whole statement: none where the noise alone says that they do not serve,
// none a second time where they did not, and of twenty answers with seven releases each no more than mostLooked.
func TestMadeLooksAtFewGroups(t *testing.T) {
	const groups = 12_000
	w := shelve(t, "zcdp", `n = { type = "integer", lower = 0, upper = 4, step = 1 }`, `n = { type = "integer", lower = 0, upper = 1999, step = 1 }`,
		"max_groups_per_unit = 3", "max_groups_per_unit = 12000")
	w.version()
	statement := func(sql, cost string) *Statement {
		t.Helper()
		s, err := w.plan(t.Context(), sql, w.at(cost))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	looked := func(s *Statement) (groups int64, ways int) {
		t.Helper()
		before := s.looked.Load()
		all, err := s.makes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.looked.Load() - before, len(all)
	}
	reserve := func(sql, cost string) { // as one whose answer is still computed
		t.Helper()
		if _, err := w.config.Ledger.Reserve(t.Context(), statement(sql, cost).Request(Payer{})); err != nil {
			t.Fatal(err)
		}
	}
	reserve("SELECT k, s, n, count(*) FROM t WHERE w > 1 GROUP BY k, s, n", "0.2")
	few := statement("SELECT k, count(*) FROM t WHERE w > 1 AND s = 'F' AND n IN (1, 2) GROUP BY k", "0.00001")
	if n, ways := looked(few); n != groups || ways != 1 {
		t.Errorf("%d groups are looked at, in %d ways", n, ways)
	}
	few = statement("SELECT k, count(*) FROM t WHERE w > 1 AND s = 'F' AND n IN (1, 2) GROUP BY k", "0.000035") // two noises are wider
	if n, ways := looked(few); n != groups || ways != 0 {
		t.Errorf("%d groups are looked at, in %d ways, where there is none", n, ways)
	}
	if n, ways := looked(few); n != 0 || ways != 0 {
		t.Errorf("%d groups are looked at again, in %d ways", n, ways)
	}
	const releases, sums = 7, 3
	fine := func(i int) string {
		var parts []string
		for j := range releases {
			all := []string{fmt.Sprintf("sum(x + %d)", 1000*i+100+j)}
			for k := range sums {
				all = append(all, fmt.Sprintf("sum(x + %d)", k))
			}
			parts = append(parts, fmt.Sprintf("(SELECT sum(c) FROM (SELECT k, s, n, %s AS c FROM t GROUP BY k, s, n) AS q)", strings.Join(all, " + ")))
		}
		return "SELECT " + strings.Join(parts, ", ")
	}
	coarse := "SELECT "
	for i := range releases {
		coarse += fmt.Sprintf("%s(SELECT sum(c) FROM (SELECT %s, sum(x + %d) AS c FROM t WHERE k IN ('a', 'b', 'c') AND s IN ('F', 'M') AND n IN (1, 2, 3) GROUP BY 1) AS q)", map[bool]string{false: ", "}[i == 0], []string{"k", "s", "n"}[i%3], i/3)
	}
	for i := range mostTried {
		reserve(fine(i), "0.01")
	}
	if n, ways := looked(statement(coarse, "1")); n != 0 || ways != 0 {
		t.Errorf("%d groups are looked at that are not precise, in %d ways", n, ways)
	}
	start := processorTime()
	n, ways := looked(statement(coarse, ""))
	if n > mostLooked || n < mostLooked-groups || ways == 0 {
		t.Errorf("%d groups are looked at, in %d ways", n, ways)
	}
	t.Logf("%d groups in %v of processor time, with %d statements planned", n, processorTime()-start, mostTried)
}

func compared(t *rapid.T) string {
	return rapid.SampledFrom([]string{" < ", " <= ", " > ", " >= ", " = ", " <> "}).Draw(t, "compared")
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // 0 where it fails
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Whatever conditions and keys pick, what is made says of each group what SQL says of the cells that were released: for conditions that
// are read here, and read by the engine.
func TestMadeIsWhatSQLSays(t *testing.T) {
	w := shelve(t, "zcdp")
	w.version()
	const fine = "SELECT k, s, n, count(*) AS c, sum(x) AS t, count(x) AS v FROM t GROUP BY k, s, n"
	w.told(fine, w.at("0.3"), false)
	spent, asked := w.spent(), len(w.recorder.asked)
	rapid.Check(t, func(t *rapid.T) {
		var condition func(deep int) string
		condition = func(deep int) string {
			switch n := rapid.IntRange(0, 8).Draw(t, "condition"); {
			case n == 0 && deep > 0:
				return "NOT (" + condition(deep-1) + ")"
			case n == 1 && deep > 0:
				return "(" + condition(deep-1) + " AND " + condition(deep-1) + ")"
			case n == 2 && deep > 0:
				return "(" + condition(deep-1) + " OR " + condition(deep-1) + ")"
			case n == 3:
				return "k IN ('a', " + rapid.SampledFrom([]string{"'b'", "'c'", "'z'"}).Draw(t, "k") + ")"
			case n == 4:
				return rapid.SampledFrom([]string{"s = 'F'", "s <> 'F'", "'M' = s"}).Draw(t, "s")
			case n == 5:
				return "n BETWEEN 1 AND " + fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "n"))
			case n == 6:
				return "n" + compared(t) + "2"
			default:
				return "k" + compared(t) + "'b'"
			}
		}
		where := ""
		for i := range rapid.IntRange(0, 2).Draw(t, "conditions") {
			where += map[bool]string{true: " WHERE ", false: " AND "}[i == 0] + condition(2)
		}
		keys := rapid.SampledFrom([]string{"k", "s", "n", "k, s", "n, k", "k, s, n"}).Draw(t, "keys")
		width, by := strings.Count(keys, ",")+1, keys
		if width > 1 { // some of the grouping sets
			by = fmt.Sprintf(rapid.SampledFrom([]string{"%[1]s", "GROUPING SETS ((%[1]s), %[2]s)", "GROUPING SETS (%[2]s)"}).Draw(t, "sets"), keys, keys)
		}
		from := "t"
		if rapid.Bool().Draw(t, "through a view") {
			from = "(SELECT key AS k, v AS x, n, sex AS s FROM viewed) AS q"
		}
		ask := func(sql string) (*Answer, error) { return w.Query(context.Background(), sql, w.at("")) }
		want, err := ask("SELECT " + keys + ", sum(c), sum(t), sum(v) FROM (" + fine + ") AS f" + where + " GROUP BY " + by)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		sql := "SELECT " + keys + ", count(*), sum(x), avg(x) FROM " + from + where + " GROUP BY " + by
		got, err := ask(sql)
		if err != nil {
			if strings.Contains(err.Error(), "D070") && len(want.Rows) == 0 {
				return // no group is left
			}
			t.Fatalf("%s\n%v, and SQL says %v", sql, err, want.Rows)
		}
		values := cells(want, width, width+2)
		for key, mean := range cells(got, width, width+2) { // from 0 to 9
			if n := decimal(values[key]); n >= 1 && math.Abs(min(max(decimal(cells(want, width, width+1)[key])/n, 0), 9)-decimal(mean)) > 1e-6 {
				t.Fatalf("%s\nhas the average %v at %s, and SQL says %v of %v values", sql, mean, key, cells(want, width, width+1)[key], n)
			}
		}
		for column := range 2 {
			of, there := cells(want, width, width+column), 0
			for key, v := range cells(got, width, width+column) {
				if said, is := of[key]; is {
					if there++; sqltype.Format(said) != sqltype.Format(v) {
						t.Fatalf("%s\nis %v at %s, and SQL says %v", sql, v, key, said)
					}
				} else if sqltype.Format(v) != "0" {
					t.Fatalf("%s\nis %v at %s, of which no cell is left", sql, v, key)
				}
			}
			if there != len(of) {
				t.Fatalf("%s\nlacks groups: %v of %v", sql, got.Rows, want.Rows)
			}
		}
	})
	if w.spent() != spent || len(w.recorder.asked) != asked {
		t.Errorf("%s is spent after %s, or private data was read", w.spent(), spent)
	}
}

// BenchmarkMade compares the processor time of statements over one relation: charged without a version, and with one, where each is held
// against twenty before it that do not serve, and its noisy numbers are stored; and made of one of these.
func BenchmarkMade(b *testing.B) {
	const fine, coarse = "SELECT k, s, count(*), sum(x), avg(x) FROM t WHERE x > %d AND n < %d GROUP BY k, s", "SELECT k, count(*) FROM t WHERE x > %d AND n < %d GROUP BY k"
	run := func(name string, version, made bool) {
		b.Run(name, func(b *testing.B) {
			w, next := shelve(b, "zcdp"), 0
			if version {
				w.version()
			}
			ask := func(sql string, i int, cost string) {
				if a, err := w.Query(b.Context(), fmt.Sprintf(sql, i%9, i), w.at(cost)); err != nil || a.Reused != (cost == "") {
					b.Fatal(err)
				}
			}
			for ; next < 25; next++ {
				ask(fine, next, "0.001")
			}
			start := processorTime()
			for b.Loop() {
				if made {
					ask(coarse, 10+next%15, "")
				} else {
					ask(fine, next, "0.001")
				}
				next++
			}
			b.ReportMetric(float64((processorTime()-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
	run("charged", false, false)
	run("charged with a version", true, false)
	run("made", true, true)
}
