//go:build cgo

package discreet_test

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
