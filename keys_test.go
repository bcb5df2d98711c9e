//go:build cgo

package discreet_test

import (
	"fmt"
	"math"
	"testing"
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
