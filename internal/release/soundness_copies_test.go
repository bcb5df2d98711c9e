//go:build cgo

package release_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
)

// copiedCatalog has columns of which copies have values on their grid: with bounds at the ends of types, bounds that are one value, and several columns of one
// type and bounds. Names are those of the SQL's own columns.
const copiedCatalog = `[domains.add]
measure = "zcdp"
epsilon = 1.0
delta = 1e-6
[tables.t]
source = "t.parquet"
domain = "add"
unit = "u"
max_groups_per_unit = 2
max_rows_per_group = 2
%s
[tables.t.columns]
u = { type = "integer" }
g = { type = "text", domain = ["a", "b", "c", "", "é"] }
k = { type = "smallint", lower = -3, upper = 5 }
i = { type = "integer", lower = -2147483648, upper = 2147483647 }
b = { type = "bigint", lower = -4611686018427387903, upper = 4611686018427387903 }
n = { type = "bigint", lower = 7, upper = 7 }
r = { type = "real", lower = -2.5, upper = 1e30 }
x = { type = "double", lower = -1e300, upper = 12.345 }
z = { type = "double", lower = -0.0, upper = 0.0 }
d = { type = "decimal(4,1)", lower = -2.5, upper = 99.9 }
e = { type = "decimal(38,18)", lower = -1.5, upper = 1.25 }
f = { type = "decimal(18,0)", lower = -999999999999999999, upper = 999999999999999999 }
"we\"ird" = { type = "double", lower = 0, upper = 10 }
t = { type = "double", lower = 0, upper = 10, sum_lower = 0, sum_upper = 15 }
c0 = { type = "integer", lower = 0, upper = 10, step = 1 }
v0 = { type = "real", lower = 0, upper = 10 }
k0 = { type = "bigint", lower = 0, upper = 4 }
q = { type = "boolean" }
day = { type = "date", lower = "2020-01-01", upper = "2020-01-05" }
made = { type = "double", is = "x * 2 + 1", lower = -5, upper = 5 }
auto = { type = "double", from = "we\"ird", lower = 0, upper = 1000, bounds = "auto" }
`

var copiedStatements = []string{
	"SELECT g, count(*), sum(i), sum(b), sum(n), sum(r), sum(x), sum(z), sum(d), sum(e), sum(f) FROM t GROUP BY g",
	"SELECT count(*), sum(k), avg(x), var_pop(d), stddev_samp(r), count(x), count(q) FROM t",
	"SELECT sum(i), sum(r::double precision), sum(k::double precision), sum(d::decimal(6,1)), sum(d::double precision), sum(n::integer) FROM t",
	"SELECT g, sum(least(greatest(x, 0), 3)), sum(least(i, 2147483647)), sum(greatest(k, -3)), sum(least(k, 4)) FROM t GROUP BY g",
	"SELECT k, sum(CASE WHEN q THEN d END), sum(d) FILTER (WHERE x > 0), sum(CASE WHEN d IS NULL THEN 1 ELSE d END), sum(coalesce(x, 1)) FROM t GROUP BY k",
	"SELECT k0, g, count(*), sum(v0), sum(c0), sum(t) FROM t WHERE q IS NOT FALSE GROUP BY k0, g",
	`SELECT c0, sum("we""ird"), sum("we""ird") FROM t GROUP BY c0`,
	`SELECT day, sum("we""ird"), avg(v0), regr_slope(v0, "we""ird"), covar_pop(x, d) FROM t GROUP BY day`,
	"SELECT g, k, count(*), sum(e) FROM t GROUP BY ROLLUP (g, k)",
	"SELECT count(*), sum(d), sum(x) FROM t WHERE d IS NOT NULL",
	`SELECT g, count(*), sum(t), sum("we""ird") FROM t WHERE x IS NOT NULL GROUP BY g`,
	"SELECT g, k, count(*), sum(d) FROM t WHERE k IS NOT NULL AND u IS NOT NULL AND g IS NOT NULL GROUP BY g, k",
	"SELECT g, sum(d) FROM t WHERE g IS NULL OR g > 'a' GROUP BY g",
	"SELECT sum(d), count(*) FROM t WHERE false",
	"SELECT sum(d), count(*) FROM t WHERE u IS NULL",
	"SELECT g, sum(d) FROM t WHERE k = 99 GROUP BY g",
	"SELECT k % 2 AS m, count(*), sum(d) FROM t WHERE k % 2 >= 0 GROUP BY k % 2",
	"SELECT CASE WHEN k > 0 THEN 'a' WHEN k < 0 THEN 'b' END AS s, sum(d), count(d) FROM t WHERE k > -2 GROUP BY s",
	"SELECT extract(day FROM day)::integer AS m, count(*), sum(made) FROM t WHERE extract(day FROM day) BETWEEN 1 AND 3 GROUP BY m",
	"SELECT sum(made), sum(made + 1), avg(-made), sum(x * 2 + 1) FROM t",
	"SELECT sum(s.a), sum(s.b) FROM (SELECT d AS b, x AS a, g FROM t WHERE q) AS s",
	"SELECT s.x2, sum(s.x1) FROM (SELECT k AS x2, d AS x1, x AS d FROM t) AS s GROUP BY s.x2",
	"SELECT sum(d) + sum(d), sum(d) - count(*) FROM t",
	"SELECT count(DISTINCT u), sum(t), count(*) FROM t",
	"SELECT g, count(DISTINCT k), sum(k) FROM t GROUP BY g",
	"SELECT sum(a.d) FROM t AS a JOIN t AS c ON a.u = c.u",
	"SELECT g, sum(d) FROM (SELECT * FROM t UNION ALL SELECT * FROM t) AS s GROUP BY g",
	"SELECT sum(m) FROM (SELECT u, least(max(d), 10) AS m FROM t GROUP BY u) AS s",
	"SELECT g, count(*), sum(w) FROM (SELECT g, least(greatest(d, 0), 5) AS w FROM t) AS s GROUP BY g",
	"SELECT sum(abs(d)), sum(-d), sum(d * 2), sum(d * d), sum(round(x)), sum(floor(d)) FROM t",
	"SELECT sum(b), var_pop(b), var_pop(k), var_pop(n), var_pop(z), var_pop(r) FROM t",
	"SELECT g, max(k), median(x) FROM t GROUP BY g",
	"SELECT sum(auto), sum(auto) FILTER (WHERE q) FROM t",
	"SELECT g, count(*) FROM t GROUP BY g HAVING count(*) > 2",
	"SELECT q, sum(d), count(*) FROM t WHERE q GROUP BY q",
	"SELECT q, k, sum(d) FROM t WHERE q AND k > 0 AND q IS NOT NULL GROUP BY q, k",
	"SELECT k, sum(d) FROM t WHERE 1 = 1 AND k IN (1, 2, 99) GROUP BY k",
	"SELECT k, sum(d) FROM t WHERE NOT (k BETWEEN 1 AND 3) GROUP BY k",
	"SELECT d::integer AS w, count(*) FROM t WHERE d::integer BETWEEN 0 AND 9 GROUP BY w",
}

const copiedRows = `SELECT CAST(CASE WHEN row %% 11 > 0 THEN row * 7 %% 60 END AS INTEGER) AS u, g, k, i, b, n, r, x, z, d, e, f, w AS "we""ird", t, c0, v0, k0, q, day FROM (
SELECT row, nth(['a','b','c','','é','zz',NULL,'A'], 1) AS g,
 CAST(nth([-32768,32767,-3,5,0,1,2,3,NULL,6], 2) AS SMALLINT) AS k,
 CAST(nth([-2147483648,2147483647,0,1,NULL,-1], 3) AS INTEGER) AS i,
 CAST(nth([-9223372036854775808,9223372036854775807,4611686018427387904,-4611686018427387904,3,NULL], 4) AS BIGINT) AS b,
 CAST(nth([7,8,6,NULL], 5) AS BIGINT) AS n,
 CAST(nth(['nan','inf','-inf','-0','0.1','3.4e38','-3.4e38','1e-45','16777217','-2.5',NULL], 6) AS FLOAT) AS r,
 CAST(nth(['nan','inf','-inf','-0','0.1','1e308','-1e308','5e-324','12.345','12.3449999999999','9007199254740993',NULL], 7) AS DOUBLE) AS x,
 CAST(nth(['nan','inf','-0','0','1e-300',NULL], 8) AS DOUBLE) AS z,
 CAST(nth(['-999.9','999.9','0.1','-2.5','99.9','3.3',NULL], 9) AS DECIMAL(4,1)) AS d,
 CAST(nth(['99999999999999999999.999999999999999999','-99999999999999999999.999999999999999999','1.249999999999999999','0.000000000000000001','-1.5',NULL], 10) AS DECIMAL(38,18)) AS e,
 CAST(nth(['999999999999999999','-999999999999999999','1',NULL], 11) AS DECIMAL(18,0)) AS f,
 CAST(nth(['nan','inf','-inf','-0','0.1','10','3.7','-3',NULL], 12) AS DOUBLE) AS w,
 CAST(nth([0,1,2,10,11,-1,NULL], 13) AS INTEGER) AS c0,
 CAST(nth(['nan','10.5','9.25','0.1',NULL], 18) AS DOUBLE) AS t,
 CAST(nth(['nan','9.99','0.1','11','-1',NULL], 14) AS FLOAT) AS v0,
 CAST(nth([0,1,2,3,4,5,-1,NULL], 15) AS BIGINT) AS k0,
 nth([true,false,NULL], 16) AS q,
 CAST(nth(['2020-01-01','2020-01-02','2020-01-05','2020-01-06','infinity',NULL], 17) AS DATE) AS day
FROM range(%d) AS r(row)) AS s`

// TestAnswersOverCopies asks statements over a file and over its copy, of values at and beyond bounds and of such as are no numbers, of rows with and without a unit,
// and of no rows: each form that reads the copy says what the file says, where it is asked alone. A table with a column of the name of one of a copy's own is read as ever.
func TestAnswersOverCopies(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	if _, err := m.plain.ExecContext(t.Context(), "CREATE MACRO nth(l, s) AS l[1 + (hash(row * 31 + s * 7919) % len(l))::BIGINT]"); err != nil {
		t.Fatal(err)
	}
	whole, totals, onGrid := 0, 0, 0
	named := "\"Discreet_Fixed_9\" = { type = \"bigint\", from = \"b\" }\n" // as a copy would call its own column
	for _, bounds := range []string{"max_rows_per_unit = 3", ""} {
		for more, rows := range map[string]int{"": 400, "\n": 0, named: 60} {
			dir := t.TempDir()
			if _, err := m.plain.ExecContext(t.Context(), fmt.Sprintf("COPY ("+copiedRows+") TO '%s'", rows, filepath.Join(dir, "t.parquet"))); err != nil {
				t.Fatal(err)
			}
			c, err := catalog.Parse(filepath.Join(dir, "catalog.toml"), fmt.Sprintf(copiedCatalog, bounds)+more)
			if err != nil {
				t.Fatal(err)
			}
			open := func(copies string) *duckdb.Engine {
				e, err := duckdb.Open(t.Context(), c, duckdb.Options{Memory: "512MiB", Threads: 2, Temp: t.TempDir(), Lazy: true, Copies: copies})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { e.Close() })
				return e
			}
			bare, copied := open(""), open(filepath.Join(dir, "copies"))
			if prepare(t, copied, c) != 1 {
				t.Fatal("there is no copy")
			}
			for _, s := range copiedStatements {
				certificate, err := certify(s, c)
				if err != nil {
					t.Fatalf("%s: %v", s, err)
				}
				for _, r := range certificate.Releases {
					if !rewrite.Summed(r) {
						continue
					}
					q, err := render.Release(rewrite.Release(r, nil))
					if err != nil {
						t.Fatal(err)
					}
					q.Salt = 4711
					want, err := revealed(t.Context(), bare, q)
					if err != nil {
						t.Fatalf("%s: %v", s, err)
					}
					over := ""
					if q.Whole != nil {
						whole, over = whole+1, q.Whole.SQL
					} else if q.Totals != nil {
						totals, over = totals+1, q.Totals.SQL
					}
					if over != "" && more != named { // which then fails where another form is asked
						q.SQL, q.Least = "SELECT", nil
					}
					if strings.Contains(over, engine.FixedColumn) && more != named {
						onGrid++
					}
					got, err := revealed(t.Context(), copied, q)
					if err != nil {
						t.Fatalf("%q, %d rows: %s: %v\n%s", bounds, rows, s, err, over)
					}
					if why := want.differs(got); why != "" {
						t.Errorf("%q, %d rows: %s: %s\n%s", bounds, rows, s, why, over)
					}
				}
			}
		}
	}
	if whole == 0 || totals == 0 || onGrid == 0 {
		t.Errorf("%d where every row counts, %d by unit, %d of which read values on their grid", whole, totals, onGrid)
	}
	t.Logf("%d where every row counts, %d by unit, %d of which read values on their grid", whole, totals, onGrid)
}
