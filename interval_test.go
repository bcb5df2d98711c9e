//go:build cgo

package discreet

import (
	"math"
	"strings"
	"testing"
)

// Ends that are computed in steps are those that interval arithmetic gives: of functions that rise, or fall, with each noisy value in turn.
func TestIntervalsInSteps(t *testing.T) {
	w := shelve(t, "pure")
	nest := func(x string, by string, depth int) string {
		return strings.Repeat(by+"(1.5 + ", depth) + x + strings.Repeat(")", depth)
	}
	f := func(x float64, depth int) float64 {
		for range depth {
			x = 1 / (1.5 + x)
		}
		return x
	}
	a, err := w.Query(t.Context(), "SELECT n, "+nest("n", "1/", 3)+" AS three, "+nest("n", "1/", 4)+" AS four, "+
		"abs(abs(abs(abs(-n) + 1) + 1) + 1) AS rises, greatest(least(greatest(least(n * 1.0, 9e9), -n), 8e9), -n) * n AS product FROM (SELECT count(*) AS n FROM t) x", w.at("0.1"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(column int) (lower, upper float64) {
		x := a.Intervals[0][column]
		if x == nil {
			t.Fatalf("column %d has no interval: %q", column, a.Columns[column].Why)
		}
		return decimal(x.Lower), decimal(x.Upper)
	}
	l, u := at(0)
	if l <= 0 || u <= l {
		t.Fatalf("the test is weak: n is from %v to %v", l, u)
	}
	for column, want := range map[int][2]float64{1: {f(u, 3), f(l, 3)}, 2: {f(l, 4), f(u, 4)}, 3: {l + 3, u + 3}, 4: {l * l, u * u}} {
		if lower, upper := at(column); math.Abs(lower-want[0]) > 1e-9*math.Abs(want[0]) || math.Abs(upper-want[1]) > 1e-9*math.Abs(want[1]) {
			t.Errorf("%s is from %v to %v, not %v", a.Columns[column].Name, lower, upper, want)
		}
	}
}
