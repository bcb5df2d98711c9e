package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
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
	return rewrite.Intervals(certificate)
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
	} {
		if got := fmt.Sprint(intervals(t, test.sql).Shares); got != test.shares {
			t.Errorf("%s\nhas shares %s, want %s", test.sql, got, test.shares)
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
		{wards + "SELECT n FROM w WHERE n > 5", "[HAVING]"},
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
		{"SELECT " + strings.Repeat("n * ", 30) + "n FROM w", false},
		{"SELECT " + strings.Repeat("abs(", 50) + "n" + strings.Repeat(")", 50) + " FROM w", false},
		{"SELECT " + strings.Repeat("round(", 50) + "n" + strings.Repeat(")", 50) + " FROM w", true},
	} {
		c := intervals(t, wards+test.sql).Columns[0]
		if (c.Lower >= 0) != test.ends || (c.Why == "") != test.ends {
			t.Errorf("%.60s...: %+v, want ends %v", test.sql, c, test.ends)
		}
	}
}
