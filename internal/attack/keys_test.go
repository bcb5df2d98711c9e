//go:build cgo

package attack_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
)

// A key whose public domain has several parts keeps the rows of all of them:
// no group is published as zero because its rows were left out.
func TestKeysOfSeveralPartsKeepAllRows(t *testing.T) {
	sources := files{"visits.csv": visitsHeader}
	ages := []string{"10", "25", "45", "65", "85"}
	for i := range 50 {
		sources["visits.csv"] += fmt.Sprint(i) + ",Bonn,x," + ages[i%5] + ",1,1,1,,,1\n"
	}
	w := newWorld(t, visits(largePure), sources)
	a := w.ask(t, `SELECT CASE WHEN age < 20 THEN 'a' WHEN age < 40 THEN 'b' WHEN age < 60 THEN 'c' WHEN age < 80 THEN 'd' ELSE 'e' END AS k, count(*)
		FROM visits GROUP BY k`, precise)
	for _, row := range a.Rows {
		if got := number(t, row[1]); math.Abs(got-10) > 1 {
			t.Errorf("group %v counts %v, want 10", row[0], got)
		}
	}
	if len(a.Rows) != 5 {
		t.Errorf("%d groups, want 5", len(a.Rows))
	}
}

// A public table's bigint that is no integer is no group of an integer key.
func TestKeysFromAWiderTable(t *testing.T) {
	w := newWorld(t, "[domains.person]\n"+largePure+`
[tables.t]
source = "t.csv"
domain = "person"
unit = "row"
[tables.t.columns]
k = { type = "integer", domain = { from = "codes.code" } }
[tables.codes]
source = "codes.csv"
public = true
[tables.codes.columns]
code = { type = "bigint" }
`, files{"t.csv": "k\n1\n1\n2\n", "codes.csv": "code\n1\n2\n3000000000\n-9223372036854775808\n"})
	a := w.ask(t, "SELECT k, count(*) FROM t GROUP BY k ORDER BY k", precise)
	if len(a.Rows) != 2 || a.Rows[0][0] != int64(1) || a.Rows[1][0] != int64(2) {
		t.Errorf("the groups are %v, want 1 and 2", a.Rows)
	}
}

// A domain that is too large is refused where the key stands.
func TestKeysOfALargeDomain(t *testing.T) {
	w := newWorld(t, "[domains.person]\n"+largePure+`
[tables.t]
source = "t.csv"
domain = "person"
unit = "row"
[tables.t.columns]
k = { type = "bigint" }
`, files{"t.csv": "k\n1\n"})
	_, err := w.Query(t.Context(), "SELECT count(*)\nFROM t GROUP BY width_bucket(k, 0, 10, 2000000)", precise)
	if r, ok := errors.AsType[*discreet.Refusal](err); !ok || r.Code != "D051" || r.Line != 2 || r.Column != 17 {
		t.Errorf("%v, want D051 at 2:17", err)
	}
}

// A message calls a key what the select list calls it.
func TestKeysAreCalledWhatTheyAre(t *testing.T) {
	w := newWorld(t, visits(largeApprox), files{"visits.csv": visitsHeader})
	x, err := w.Explain(t.Context(), "SELECT CASE WHEN age < 20 THEN 'a' WHEN age < 40 THEN 'b' END AS place, count(*) FROM visits GROUP BY 1", precise)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(x.Notes, "\n"); !strings.Contains(notes, "place") {
		t.Errorf("the notes do not name the key place: %s", notes)
	}
}

// Combinations times aggregates have a joint limit over all releases of a
// statement, beside the limits of each; it is refused before anything is drawn.
func TestKeysTimesAggregatesAreLimited(t *testing.T) {
	w := newWorld(t, "[domains.person]\n"+largePure+`
[tables.t]
source = "t.csv"
domain = "person"
unit = "row"
[tables.t.columns]
k = { type = "integer", lower = 1, upper = 900000, step = 1 }
`, files{"t.csv": "k\n1\n"})
	counts := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("count(*) FILTER (WHERE k > %d)", i))
		}
		return strings.Join(all, ", ")
	}
	for sql, refused := range map[string]bool{
		"SELECT k, " + counts(4) + " FROM t GROUP BY k": false, // 3.6 million
		"SELECT k, " + counts(5) + " FROM t GROUP BY k": true,  // 4.5 million
		"SELECT * FROM (SELECT k, " + counts(3) + " FROM t GROUP BY k) a JOIN (SELECT k, sum(k), count(*) FROM t WHERE k > 7 GROUP BY k) b USING (k)": true,
	} {
		_, err := w.Explain(t.Context(), sql, precise)
		r, ok := errors.AsType[*discreet.Refusal](err)
		if refused && (!ok || r.Code != "D051" || !strings.Contains(r.Message, "noisy values")) || !refused && err != nil {
			t.Errorf("%.60s...: %v, want refused: %v", sql, err, refused)
		}
	}
}

// Values without an interval in a column that may have them are named in a
// note: the divisor's interval is 1 ± twice the noise's, whatever was drawn.
func TestRowsWithoutAnIntervalAreNamed(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": visitsHeader})
	a := w.ask(t, "SELECT city, 1.0 / (count(*) + 1000000) AS far, 1.0 / (count(*) - count(*) + 1) AS near FROM visits GROUP BY city", pure("1"))
	for i, row := range a.Rows {
		if a.Intervals[i][1] == nil || a.Intervals[i][2] != nil {
			t.Errorf("row %v has intervals %v", row, a.Intervals[i])
		}
	}
	notes := strings.Join(a.Notes, "\n")
	if !strings.Contains(notes, "near has no interval in rows 1, 2, 3: ") || strings.Contains(notes, "far has no") {
		t.Errorf("the notes are %q", notes)
	}
}
