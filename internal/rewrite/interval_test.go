package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
)

const clinic = `
[domains.patient]
measure = "pure"
epsilon = 1
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "id"
max_groups_per_unit = 3
max_rows_per_group = 2
[tables.visits.columns]
id = { type = "bigint" }
ward = { type = "text", domain = ["A", "B"] }
[tables.wards]
source = "wards.csv"
public = true
[tables.wards.columns]
name = { type = "text" }
beds = { type = "integer" }
`

// wards is a released table with a key and a noisy count, read under two names.
const wards = "WITH w AS (SELECT ward, count(*) AS n FROM visits GROUP BY ward) "

func intervals(t *testing.T, sql string) *rewrite.Post {
	return rewrite.Intervals(certified(t, sql), rewrite.Options{})
}

func certified(t *testing.T, sql string) *stability.Certificate {
	t.Helper()
	c, err := catalog.Parse("discreet.toml", clinic)
	if err != nil {
		t.Fatal(err)
	}
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
	return certificate
}

// The share of a column is the number of noisy values behind one of its values:
// two rows of one release count as two.
func TestSharesCountNoisyValues(t *testing.T) {
	for _, test := range []struct {
		sql, shares string
	}{
		{wards + "SELECT n FROM w", "[1]"},
		{wards + "SELECT n + n FROM w", "[1]"},
		{wards + "SELECT a.n, a.n - b.n FROM w a JOIN w b ON a.ward < b.ward", "[1 2]"},
		{wards + "SELECT greatest(a.n, b.n, c.n) FROM w a CROSS JOIN w b CROSS JOIN w c", "[3]"},
		{"SELECT count(*) + count(DISTINCT id) FROM visits", "[2]"},
		// The noise of a sum over rows of one release is one event.
		{wards + "SELECT sum(n), avg(n) FROM w", "[1]"},
		{wards + "SELECT sum(m) FROM (SELECT n::bigint AS m FROM w ORDER BY ward) x", "[1]"},
		{wards + "SELECT sum(n) / (SELECT sum(n) FROM w) FROM w", "[2]"},
		{wards + "SELECT sum(s) FROM (SELECT ward, sum(n) AS s FROM w GROUP BY ward) x", "[2]"},
		// Where noise chooses the rows, and of other aggregates, all rows count: two.
		{wards + "SELECT sum(n) FROM w WHERE n > 5", "[2]"},
		{wards + "SELECT sum(n) FILTER (WHERE n > 5) FROM w", "[2]"},
		{wards + "SELECT max(n), min(n) FROM w", "[2]"},
		{wards + "SELECT sum(n * n) FROM w", "[2]"},
		{wards + "SELECT sum(a.n) FROM w a JOIN w b ON a.ward <> b.ward", "[2]"},
		{wards + "SELECT max(a.n + b.n) FROM w a CROSS JOIN w b", "[4]"},
		// Over windows: a sum of one release is one event, another row's value is a noisy value of its own, and of
		// what picks among all rows all count.
		{wards + "SELECT sum(n) OVER (), avg(n) OVER (ORDER BY ward) FROM w", "[1]"},
		{wards + "SELECT n * 100.0 / sum(n) OVER () FROM w", "[2]"},
		{wards + "SELECT n - lag(n) OVER (ORDER BY ward) FROM w", "[2]"},
		{wards + "SELECT lead(n) OVER (ORDER BY ward) - 2 * n + lag(n, 1, 0) OVER (ORDER BY ward) FROM w", "[3]"},
		{wards + "SELECT max(n) OVER (ORDER BY ward) FROM w", "[2]"},
		{wards + "SELECT sum(n * n) OVER () FROM w", "[2]"},
		{wards + "SELECT sum(n) OVER () FROM w WHERE n > 5", "[2]"},
		{wards + "SELECT sum(n) FILTER (WHERE n > 5) OVER () FROM w", "[2]"},
		{wards + "SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM w", "[1]"},
		{wards + "SELECT sum(s) FROM (SELECT sum(n) OVER () AS s FROM w) x", "[2]"},
		// A row of a UNION is of one branch.
		{wards + "SELECT n FROM w UNION ALL SELECT beds FROM wards", "[1]"},
		{wards + "SELECT n FROM w UNION ALL SELECT n + 1 FROM w", "[1]"},
		{wards + "SELECT a.n FROM w a LEFT JOIN w b ON a.ward < b.ward", "[1]"},
	} {
		if got := fmt.Sprint(intervals(t, test.sql).Divided([]int{2, 2})); got != test.shares {
			t.Errorf("%s\nhas shares %s, want %s", test.sql, got, test.shares)
		}
	}
}

// What has no interval says why.
func TestWithoutIntervals(t *testing.T) {
	for _, test := range []struct{ sql, why string }{
		{wards + "SELECT count(*) FROM w", ""},
		{wards + "SELECT sum(length(ward)) FROM w", ""},
		{wards + "SELECT ward, count(*) FROM w GROUP BY ward", ""},
		{wards + "SELECT count(*) FROM w WHERE n > 5", "aggregated over released values"},
		{wards + "SELECT stddev(n) FROM w", "aggregated over released values"},
		{wards + "SELECT DISTINCT n FROM w", "grouped by noisy values"},
		{wards + "SELECT name FROM wards WHERE beds IN (SELECT n FROM w)", ""},
		{wards + "SELECT row_number() OVER (ORDER BY ward) FROM w", ""},
		{wards + "SELECT count(*) OVER () FROM w", ""},
		{wards + "SELECT rank() OVER (ORDER BY n) FROM w", "computed of rows that noisy values order"},
		{wards + "SELECT sum(n) OVER (ORDER BY n) FROM w", "computed of rows that noisy values order"},
		{wards + "SELECT first_value(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM w", "computed of rows that noisy values order"},
		{wards + "SELECT sum(n) OVER (PARTITION BY n > 5) FROM w", "computed of rows that noisy values put together"},
		{wards + "SELECT row_number() OVER (ORDER BY ward) FROM w WHERE n > 5", "computed of rows that noisy values chose"},
		{"SELECT row_number() OVER (ORDER BY k) FROM (SELECT id + 1 AS k, count(*) FROM visits GROUP BY 1) x", "computed of groups that were chosen privately"},
		{wards + "SELECT last_value(n) OVER (ORDER BY length(ward)) FROM w", "picks one of rows that ORDER BY leaves tied"},
		{wards + "SELECT count(n) OVER () FROM w", "computed over a window"},
	} {
		cols := intervals(t, test.sql).Columns
		if c := cols[len(cols)-1]; c.Why != test.why || c.Noisy != (test.why != "") {
			t.Errorf("%s: %+v, want %q", test.sql, c, test.why)
		}
	}
}

// A CASE has the interval of the branch that is taken, where no noise decides which; COALESCE that of the first value that is noisy.
func TestBranches(t *testing.T) {
	for _, test := range []struct {
		sql     string
		bounded bool
	}{
		{wards + "SELECT CASE WHEN ward = 'A' THEN n ELSE 0 END FROM w", true},
		{wards + "SELECT CASE WHEN ward = 'A' THEN n END FROM w", true},
		{wards + "SELECT sum(CASE WHEN ward = 'A' THEN n ELSE 0 END) FROM w", true},
		{wards + "SELECT CASE WHEN n > 5 THEN 1 ELSE 0 END FROM w", false},
		{wards + "SELECT CASE WHEN ward = 'A' THEN n WHEN n > 5 THEN 1 END FROM w", false},
		{wards + "SELECT CASE WHEN ward = 'A' THEN sign(n) ELSE 0 END FROM w", false},
		{wards + "SELECT coalesce(n, 0), coalesce(length(ward), n), coalesce(n / 2, n, 1) FROM w", true},
		{wards + "SELECT coalesce(sign(n), 0) FROM w", false},
	} {
		for _, c := range intervals(t, test.sql).Columns {
			if (c.Lower >= 0) != test.bounded || !c.Noisy {
				t.Errorf("%s: %+v, want an interval: %t", test.sql, c, test.bounded)
			}
		}
	}
}

// Intervals that hold together count all values of all columns.
func TestTogether(t *testing.T) {
	for sql, want := range map[string]string{
		wards + "SELECT ward, n FROM w":                                       "[2]",
		wards + "SELECT n, n + 1 FROM w":                                      "[2]",
		"SELECT ward, count(*), count(DISTINCT id) FROM visits GROUP BY ward": "[4]",
	} {
		if got := fmt.Sprint(rewrite.Intervals(certified(t, sql), rewrite.Options{Together: true}).Divided([]int{2})); got != want {
			t.Errorf("%s\nhas shares %s, want %s", sql, got, want)
		}
	}
}

// Of values that are moved to what data could have, errors are biased: the noise of a sum is not
// independent around 0, and all rows count.
func TestMovedValuesAreNotIndependent(t *testing.T) {
	for sql, want := range map[string]string{
		wards + "SELECT sum(n) FROM w": "[3]",
		wards + "SELECT avg(n) FROM w": "[3]",
		wards + "SELECT n FROM w":      "[1]",
	} {
		post := rewrite.Intervals(certified(t, sql), rewrite.Options{Moved: true})
		if got := fmt.Sprint(post.Divided([]int{3})); got != want || len(post.Summed) > 0 {
			t.Errorf("%s\nhas shares %s and independent sums %v, want %s and none", sql, got, post.Summed, want)
		}
	}
}

// What chose rows by noisy values is said.
func TestKept(t *testing.T) {
	for _, test := range []struct {
		sql, kept string
	}{
		{wards + "SELECT n FROM w", "[]"},
		{wards + "SELECT n FROM w ORDER BY n LIMIT 1", "[LIMIT]"},
		{wards + "SELECT n FROM w WHERE n > 5", "[a condition]"},
		{wards + "SELECT n FROM w ORDER BY ward LIMIT 1", "[]"},
		{wards + "SELECT n FROM w ORDER BY ward, n LIMIT 1", "[LIMIT]"},
		{wards + "SELECT n FROM (SELECT * FROM w WHERE n > 5) AS v ORDER BY ward LIMIT 1", "[LIMIT a condition]"},
		{wards + "SELECT n FROM w LIMIT 1", "[LIMIT]"},
		{wards + "SELECT n FROM w WHERE ward = 'a'", "[]"},
		{wards + "SELECT n FROM w WHERE ward = 'a' AND n > 5", "[a condition]"},
		{"SELECT ward, count(*) AS n FROM visits GROUP BY ward HAVING ward > 'a'", "[]"},
		{"SELECT ward, count(*) AS n FROM visits GROUP BY ward HAVING count(*) > 5", "[HAVING]"},
		{wards + "SELECT n FROM (SELECT n, rank() OVER (ORDER BY n) AS r FROM w) AS v WHERE r <= 3", "[a condition]"},
		{wards + "SELECT n FROM w JOIN wards ON name = ward", "[]"},
		{wards + "SELECT n FROM w JOIN wards ON name = ward AND n > beds", "[JOIN]"},
		{wards + "SELECT a.n FROM w a JOIN w b ON a.n < b.n", "[JOIN]"},
		{wards + "SELECT name FROM wards WHERE EXISTS (SELECT 1 FROM w WHERE n > beds)", "[JOIN]"},
		{wards + "SELECT name FROM wards WHERE name IN (SELECT ward FROM w)", "[]"},
	} {
		if got := fmt.Sprint(intervals(t, test.sql).Kept); got != test.kept {
			t.Errorf("%s\nis kept by %s, want %s", test.sql, got, test.kept)
		}
	}
}

// Ends that would grow without measure are given up for, with the reason.
func TestLongEndsAreGivenUpFor(t *testing.T) {
	for _, test := range []struct {
		sql  string
		ends bool
	}{
		{"SELECT n * n FROM w", true},
		{"SELECT " + strings.Repeat("n * ", 30) + "n FROM w", true},
		{"SELECT " + strings.Repeat("n * ", 60) + "n FROM w", false},
		{"SELECT " + strings.Repeat("abs(", 80) + "n" + strings.Repeat(")", 80) + " FROM w", false},
		{"SELECT " + strings.Repeat("round(", 50) + "n" + strings.Repeat(")", 50) + " FROM w", true},
	} {
		c := intervals(t, wards+test.sql).Columns[0]
		if (c.Lower >= 0) != test.ends || (c.Why == "") != test.ends {
			t.Errorf("%.60s...: %+v, want ends %v", test.sql, c, test.ends)
		}
	}
}

// Ends that a rule uses several times stand in columns of their own: what they need grows as the statement does.
func TestEndsAreComputedInSteps(t *testing.T) {
	size := func(depth int) int {
		text := "n::double precision"
		for range depth {
			text = "1 / (" + text + " + 1.5)"
		}
		post := intervals(t, wards+"SELECT "+text+" FROM w")
		if c := post.Columns[0]; c.Lower < 0 {
			t.Errorf("depth %d: %+v", depth, c)
		}
		return len(plan.Format(post.Plan))
	}
	product := func(columns int) int {
		return len(plan.Format(intervals(t, wards+"SELECT "+strings.TrimSuffix(strings.Repeat(strings.Repeat("n * ", 29)+"n, ", columns), ", ")+" FROM w").Plan))
	}
	if one, forty := product(1), product(40); forty > 40*one {
		t.Errorf("a product takes %d bytes, and forty of them %d", one, forty)
	}
	if three, six, twelve := size(3), size(6), size(12); three > 8000 || six-three > 9000 || twelve-six > 4*(six-three) {
		t.Errorf("quotients in each other take %d bytes three deep, %d six and %d twelve", three, six, twelve)
	}
}
