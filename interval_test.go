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

// What explain says of a column's error is half the width of the column's intervals, also where it is a released value so many times. Of what is computed in another way it
// says the error of the value, and that it is of that.
func TestExpectedErrorsAreThoseOfColumns(t *testing.T) {
	for _, measure := range []string{"zcdp", "pure"} {
		w := shelve(t, measure)
		for sql, of := range map[string]string{
			"SELECT k, count(*) AS e FROM t GROUP BY k":                                                   "",
			"SELECT k, 100 * count(*) - 7 AS e FROM t GROUP BY k":                                         "",
			"SELECT k, 2 - sum(x) / 4.0 AS e FROM t GROUP BY k":                                           "",
			"SELECT k, 3 * c AS e FROM (SELECT k, count(*) AS c FROM t WHERE x < 5 GROUP BY k) AS g":      "",
			"SELECT k, -sum(w) AS e FROM t GROUP BY k":                                                    "",
			"SELECT k, sqrt(abs(sum(x))) AS e FROM t GROUP BY k":                                          "sum",
			"SELECT k, c * c AS e FROM (SELECT k, count(*) AS c FROM t GROUP BY k) AS g":                  "count",
			"SELECT max(c) AS e FROM (SELECT k, count(*) AS c FROM t GROUP BY k) AS g":                    "count",
			"SELECT s, 60 * sum(x) FILTER (WHERE x BETWEEN 2 AND 3) AS e FROM t WHERE s = 'F' GROUP BY s": "",
		} {
			e, err := w.Explain(t.Context(), sql, w.at("0.1"))
			if err != nil {
				t.Fatal(err)
			}
			a, err := w.Query(t.Context(), sql, w.at("0.1"))
			if err != nil {
				t.Fatal(err)
			}
			x := e.ExpectedError[0]
			if len(e.ExpectedError) != 1 || x.Column != "e" || x.Of != of {
				t.Errorf("%s\nis off by %+v, want one error of e, which is computed of %q", sql, e.ExpectedError, of)
			}
			if of != "" {
				continue
			}
			last := len(a.Columns) - 1
			for _, row := range a.Intervals {
				if at := row[last]; at == nil || math.Abs((decimal(at.Upper)-decimal(at.Lower))/2-x.Error) > 1e-6*x.Error {
					t.Errorf("%s\nis off by %v, and has the interval %v", sql, x.Error, at)
				}
			}
		}
	}
}
