//go:build cgo

package attack_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
)

// Quantiles are those of the bounded values: what is NULL, out of range or of others' groups
// is not among them, and a unit with many rows keeps R of them.
func TestB18QuantilesOfBoundedValues(t *testing.T) {
	var b strings.Builder
	b.WriteString(visitsHeader)
	for i := range 300 { // ages 0 to 99, three times each, in either city
		fmt.Fprintf(&b, "%d,Bonn,a,%d,%d.5,%d.25,1,,,1\n", i, i%100, i%10, i%50)
		fmt.Fprintf(&b, "%d,Ulm,b,%d,9,0,1,,,1\n", i, i%10)
	}
	for i := range 200 {
		fmt.Fprintf(&b, "%d,Kiel,c,,,,1,,,1\n", 1000+i)      // nothing
		fmt.Fprintf(&b, "%d,Kiel,c,250,99,,1,,,1\n", 2000+i) // beyond the bounds: 100 and 10
		fmt.Fprintf(&b, "5000,Bonn,a,99,9,9,1,,,1\n")        // one unit, of which three rows count
	}
	w := newWorld(t, visits(largePure), files{"visits.csv": b.String()})
	for sql, want := range map[string]float64{
		"SELECT median(age) FROM visits WHERE city = 'Bonn'":                                                     50,
		"SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY age) FROM visits WHERE city = 'Bonn'":                10,
		"SELECT percentile_disc(1) WITHIN GROUP (ORDER BY age) FILTER (WHERE age < 80) FROM visits":              79,
		"SELECT min(age) FROM visits WHERE city = 'Bonn' AND age > 7":                                            8,
		"SELECT max(age) FROM visits WHERE city = 'Bonn'":                                                        99,
		"SELECT max(age) FROM visits WHERE city = 'Kiel'":                                                        100,
		"SELECT median(cost) FROM visits WHERE city = 'Kiel'":                                                    10,
		"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY fee) FROM visits WHERE city = 'Bonn'":                24.25,
		"SELECT median(age) FROM visits WHERE age > 1000":                                                        50, // of nothing: the middle
		"SELECT max(m) FROM (SELECT city, median(cost) AS m FROM visits GROUP BY city) AS c":                     10,
		"SELECT median(m) FROM (SELECT person, least(max(age), 100) AS m FROM visits GROUP BY person) AS c":      100,
		"SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY age) + count(*) * 0 FROM visits WHERE city = 'Ulm'": 2,
	} {
		a := w.ask(t, sql, precise)
		if got := number(t, a.Rows[0][0]); math.Abs(got-want) > 0.6 {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
		if i := a.Intervals[0][0]; i == nil || number(t, i.Lower) > want+0.6 || number(t, i.Upper) < want-0.6 {
			if !strings.Contains(sql, "max(m)") { // aggregated above the release
				t.Errorf("%s: interval %v, want one around %v", sql, i, want)
			}
		}
	}
	a := w.ask(t, "SELECT city, percentile_cont(ARRAY[0.25, 0.5, 0.999]) WITHIN GROUP (ORDER BY age) AS q, count(*) FROM visits GROUP BY city", precise)
	var names []string
	for _, c := range a.Columns {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "city q_25 q_50 q_99_9 count" || len(a.Rows) != 3 {
		t.Errorf("%d rows of %s", len(a.Rows), got)
	}
	trees := 0
	for _, m := range a.Mechanisms {
		// L0 is 2, R is 3: each of the levels moves by 6 in L1, and all three quantiles share a tree.
		if m.Part == "tree" {
			trees++
			if m.Sensitivity != float64(6*m.Levels) || m.Levels < 1 || m.Places != 101 || m.RankBound <= 0 {
				t.Errorf("%+v", m)
			}
		}
	}
	if trees != 3 || len(a.Cost.Events) != 2 {
		t.Errorf("%d trees, %d events", trees, len(a.Cost.Events))
	}
}

// Statements that compute other things of the same noisy numbers are other statements: a
// stored answer of one is not the other's.
func TestB19StoredAnswersOfOtherAggregates(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(50)})
	db := w.open(t)
	seen := map[discreet.Fingerprint]string{}
	for _, sql := range []string{
		"SELECT var_pop(cost) AS v FROM visits", "SELECT var_samp(cost) AS v FROM visits", "SELECT stddev_pop(cost) AS v FROM visits", "SELECT stddev_samp(cost) AS v FROM visits",
		"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) AS v FROM visits", "SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY cost) AS v FROM visits", "SELECT percentile_cont(0.1) WITHIN GROUP (ORDER BY cost) AS v FROM visits",
		"SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY cost) AS v FROM visits", "SELECT min(cost) AS v FROM visits", "SELECT max(cost) AS v FROM visits",
		"SELECT max(cost) FILTER (WHERE age > 3) AS v FROM visits", "SELECT max(age::double precision) AS v FROM visits",
	} {
		s, err := db.Prepare(context.Background(), sql, nil)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if other := seen[s.Fingerprint()]; other != "" {
			t.Errorf("%s is taken for %s", sql, other)
		}
		seen[s.Fingerprint()] = sql
	}
	for _, p := range []string{"0.2", "0.3"} {
		const sql = "SELECT percentile_cont($1) WITHIN GROUP (ORDER BY cost) AS v FROM visits"
		s, err := db.Prepare(context.Background(), sql, &discreet.QueryOptions{Parameters: []discreet.Parameter{{Text: &p}}})
		if err != nil {
			t.Fatalf("%s of %s: %v", sql, p, err)
		}
		if other := seen[s.Fingerprint()]; other != "" {
			t.Errorf("%s of %s is taken for %s", sql, p, other)
		}
		seen[s.Fingerprint()] = sql + " of " + p
	}
}
