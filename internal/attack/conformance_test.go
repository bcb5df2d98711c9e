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

func TestG2BiasOfAverages(t *testing.T) {
	long(t)
	// Values outside of the bounds count as the bound; averages of groups that
	// are large enough for their noise are unbiased around that.
	var b strings.Builder
	b.WriteString(visitsHeader)
	for i := range 400 {
		fmt.Fprintf(&b, "%d,Bonn,a,1,%d,1,1,,,1\n%d,Ulm,a,1,1,1,1,,,1\n", i, []int{-100, 4, 100}[i%3], i)
	}
	w := newWorld(t, visits(largePure), files{"visits.csv": b.String()})
	mean := map[string]float64{}
	const n = 60
	for range n {
		for _, row := range w.ask(t, "SELECT city, avg(cost) FROM visits GROUP BY city", pure("2")).Rows {
			mean[row[0].(string)] += number(t, row[1]) / n
		}
	}
	// The noise of one average: scales 6/(ε/2) and 30/(ε/2) over 400 values, a
	// standard deviation of about 0.14; of the mean of 60 of them 0.02.
	for city, want := range map[string]float64{"Bonn": 14. / 3, "Ulm": 1} {
		if math.Abs(mean[city]-want) > 0.13 {
			t.Errorf("%s: averages have mean %v, want %v", city, mean[city], want)
		}
	}
	if m := mean["Kiel"]; m < 2 || m > 8 { // nobody: the middle of the bounds, spread over them
		t.Errorf("averages of an empty group have mean %v", m)
	}
}

func TestG5ControlFlow(t *testing.T) {
	// With the noise out of sight, everything else is the same on D and D':
	// statements to the engine, stated sensitivities, costs, records.
	p := neighbours(t, largeZCDP, odd, hoarder(100))
	statements := []string{
		"SELECT count(*), sum(cost), avg(fee), stddev(age), count(DISTINCT name), count(DISTINCT person), sum(paid) FROM visits",
		"SELECT city, extract(dow FROM day) AS dow, count(*), avg(cost) FROM visits GROUP BY 1, 2",
		"SELECT a.n / b.n FROM (SELECT count(*) AS n FROM visits WHERE age > 50) AS a CROSS JOIN (SELECT count(*) AS n FROM visits) AS b",
		"SELECT avg(n) FROM (SELECT person, least(count(*), 9) AS n FROM visits GROUP BY person) AS s",
		"WITH v AS (SELECT *, cost * 2 AS twice FROM visits) SELECT CASE WHEN twice > 5 THEN 'high' ELSE 'low' END AS c, sum(least(twice, 10)) FROM v GROUP BY 1",
	}
	for _, o := range []*discreet.QueryOptions{pure("1"), concentrated("0.1")} {
		p.indistinguishable(t, o, statements...)
	}
	for _, sql := range statements {
		a, b := must(p.d.Explain(context.Background(), sql, pure("1"))), must(p.neighbour.Explain(context.Background(), sql, pure("1")))
		if fmt.Sprint(a.EngineSQL, a.PostSQL) != fmt.Sprint(b.EngineSQL, b.PostSQL) {
			t.Errorf("%s: the engine runs other statements", sql)
		}
	}
}
