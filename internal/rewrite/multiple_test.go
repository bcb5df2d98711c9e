package rewrite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A column that is a released number so many times, and a constant, says how often; one that is made of it in another way says nothing.
func TestMultiples(t *testing.T) {
	for sql, want := range map[string]string{
		wards + "SELECT ward, n FROM w":                                                     "n 1",
		wards + "SELECT -n AS m FROM w":                                                     "m -1",
		wards + "SELECT 100 * n + 7 AS m FROM w":                                            "m 100",
		wards + "SELECT 7 - n * 2.5 AS m FROM w":                                            "m -5/2",
		wards + "SELECT n / 4.0 AS m FROM w":                                                "m 1/4",
		wards + "SELECT n::double precision / 4 - n AS m FROM w":                            "m -3/4",
		wards + "SELECT n + n AS m FROM w":                                                  "m 2",
		wards + "SELECT m - 1 AS l FROM (SELECT 3 * n AS m FROM w) AS v ORDER BY m LIMIT 2": "l 3",
		wards + "SELECT 2 * n AS m, n AS l FROM w":                                          "m 2",
		wards + "SELECT sqrt(n) AS m, 2 * n AS l FROM w":                                    "l 2", // what is known is said
		wards + "SELECT n / 4 AS m FROM w":                                                  "m ?", // which is rounded
		wards + "SELECT 4.0 / n AS m FROM w":                                                "m ?",
		wards + "SELECT n * n AS m FROM w":                                                  "m ?",
		wards + "SELECT n * beds AS m FROM w JOIN wards ON name = ward":                     "m ?", // as often as a row says
		wards + "SELECT n + beds AS m FROM w JOIN wards ON name = ward":                     "m 1",
		wards + "SELECT abs(n) AS m FROM w":                                                 "m ?",
		wards + "SELECT CASE WHEN n > 5 THEN n END AS m FROM w":                             "m ?",
		wards + "SELECT max(n) AS m FROM w":                                                 "m ?",
		wards + "SELECT sum(n) AS m FROM w":                                                 "",
		wards + "SELECT a.n - b.n AS m FROM w AS a, w AS b":                                 "", // of two
	} {
		var got []string
		for _, s := range intervals(t, sql).Shown {
			times := "?"
			if s.Times != nil {
				times = s.Times.RatString()
			}
			got = append(got, fmt.Sprint(s.Name, " ", times))
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%s\nshows %v, want %s", sql, got, want)
		}
	}
}
