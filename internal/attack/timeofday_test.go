//go:build cgo

package attack_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/sqltype"
)

// The time 24:00, the end of the day, is PostgreSQL's everywhere: it is not
// 00:00, and its hour is 24, which the public domain of a time's hours has.
func TestEndOfTheDay(t *testing.T) {
	const catalog = `
[domains.person]
measure = "pure"
neighbours = "add-remove"
epsilon = 1000
[tables.shifts]
source = "shifts.csv"
domain = "person"
unit = "row"
[tables.shifts.columns]
ends = { type = "time" }
`
	csv := "ends\n"
	for i := range 300 {
		csv += []string{"24:00:00\n", "00:00\n", "23:59:59.999999\n"}[i%3]
	}
	w := newWorld(t, catalog, files{"shifts.csv": csv})
	counts := map[string]float64{}
	a := w.ask(t, "SELECT extract(hour FROM ends) AS hour, count(*) FROM shifts GROUP BY 1 ORDER BY 1", pure("50"))
	for _, row := range a.Rows {
		counts[sqltype.Format(row[0])] = float64(row[1].(int64))
	}
	if len(counts) != 25 {
		t.Errorf("%d hours", len(counts))
	}
	for hour := range 25 {
		want := 0.0
		if hour%24 == 0 || hour == 23 {
			want = 100
		}
		if got := counts[fmt.Sprint(hour)]; math.Abs(got-want) > 10 { // false alarms below 25 · 2 · e^−500
			t.Errorf("hour %d: %v, want about %v", hour, got, want)
		}
	}
	a = w.ask(t, "SELECT count(*) FILTER (WHERE ends > '23:59:59.999999'), count(*) FILTER (WHERE ends > '23:59:59'), count(*) FILTER (WHERE ends = '00:00:00') FROM shifts", pure("50"))
	for i, want := range []float64{100, 200, 100} {
		if got := float64(a.Rows[0][i].(int64)); math.Abs(got-want) > 10 {
			t.Errorf("column %d: %v, want about %v", i, got, want)
		}
	}
}
