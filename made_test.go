//go:build cgo

package discreet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/sqltype"
)

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
