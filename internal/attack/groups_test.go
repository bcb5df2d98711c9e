//go:build cgo

package attack_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// singletons is a catalog and file of people in groups that nobody else is in.
func singletons(domain string, people, groups int) (string, files) {
	var b strings.Builder
	b.WriteString("person,name\n")
	for i := range people {
		for g := range groups {
			fmt.Fprintf(&b, "%d,n%d-%d\n", i, i, g)
		}
	}
	return "[domains.person]\n" + domain + fmt.Sprintf(`
[tables.t]
source = "t.csv"
domain = "person"
unit = "person"
max_groups_per_unit = %d
max_rows_per_group = 1
[tables.t.columns]
person = { type = "bigint" }
name = { type = "text" }
`, groups), files{"t.csv": b.String()}
}

// most is how often an event of probability p happens at most in n trials, but
// for probability 1e-9 (Chernoff: n·KL(k/n ‖ p) ≥ ln 1e9).
func most(n int, p float64) int {
	limit := math.Log(1e9)
	for k := int(float64(n) * p); k < n; k++ {
		x := float64(k) / float64(n)
		kl := (1 - x) * math.Log((1-x)/(1-p))
		if x > 0 {
			kl += x * math.Log(x/p)
		}
		if float64(n)*kl > limit {
			return k
		}
	}
	return n
}

func TestD1GroupOfOneUnit(t *testing.T) {
	for name, c := range map[string]struct {
		domain string
		o      *discreet.QueryOptions
		delta  string
	}{
		"approx": {largeApprox, approx("2", "0.002"), "0.002"},
		"zcdp":   {largeZCDP, concentrated("0.5"), "0.002"},
	} {
		c.o.Spend.Delta = must(privacy.ParseDelta(c.delta))
		t.Run(name, func(t *testing.T) {
			const people, groups, runs = 4000, 2, 5
			text, sources := singletons(c.domain, people, groups)
			w := newWorld(t, text, sources)
			shown := 0
			persons := 0 // of whom a group was shown: δ covers all of a unit's groups together
			for range runs {
				seen := map[string]bool{}
				for _, row := range w.ask(t, "SELECT name, count(*) FROM t GROUP BY name", c.o).Rows {
					shown++
					person, _, _ := strings.Cut(row[0].(string), "-")
					seen[person] = true
				}
				persons += len(seen)
			}
			if limit := most(people*runs, c.o.Spend.Delta.Float64()); persons > limit {
				t.Errorf("of %d people alone in their groups %d were shown, want at most %d", people*runs, persons, limit)
			}
			// The rule is not idle: with a hundredfold δ such groups do show.
			o := *c.o
			o.Spend.Delta = must(privacy.ParseDelta("0.2"))
			if n := len(w.ask(t, "SELECT name, count(*) FROM t GROUP BY name", &o).Rows); n < people*groups/100 {
				t.Errorf("with a delta of 0.2 %d of %d groups are shown", n, people*groups)
			}
		})
	}
}

func TestD2KeysThatAreIdentities(t *testing.T) {
	p := neighbours(t, largeApprox, odd)
	for _, sql := range []string{"SELECT person, count(*) FROM visits GROUP BY person", "SELECT person AS p, sum(cost) FROM visits GROUP BY 1", "SELECT person, city, avg(cost) FROM visits GROUP BY person, city", "SELECT DISTINCT person FROM visits"} {
		p.d.refused(t, sql, "D041")
	}
	// Unique keys of other columns are chosen privately: none shows.
	text, sources := singletons(largeApprox, 1000, 1)
	w := newWorld(t, text, sources)
	for _, key := range []string{"name", "person + 1", "person || name", "length(name), name"} {
		if rows := w.ask(t, "SELECT "+key+", count(*) FROM t GROUP BY "+key, approx("1", "1e-9")).Rows; len(rows) != 0 {
			t.Errorf("%s: %d keys of single units are shown: %v", key, len(rows), rows[0])
		}
	}
	// Without a delta there is no such choice.
	for _, o := range []*discreet.QueryOptions{pure("1")} {
		if _, err := w.Query(context.Background(), "SELECT name, count(*) FROM t GROUP BY name", o); err == nil || !strings.Contains(err.Error(), "D072") {
			t.Errorf("private keys for a pure epsilon: %v", err)
		}
	}
}

func TestD3PublicKeysAndTheOthers(t *testing.T) {
	// 50 people who are nowhere but in a city that is not declared, and in Kiel.
	var elsewhere strings.Builder
	for i := range 50 {
		for range 5 {
			for _, city := range []string{"Atlantis", "Utopia", "", "bonn", "Bonn "} {
				fmt.Fprintf(&elsewhere, "%d,%s,x,1,1,1,1,,,1\n", 1000+i, city)
			}
		}
		fmt.Fprintf(&elsewhere, "%d,Kiel,x,1,1,1,1,,,1\n", 1000+i)
	}
	w := newWorld(t, visits(largePure), files{"visits.csv": visitsHeader + elsewhere.String()})
	a := w.ask(t, "SELECT city, count(*), sum(cost), avg(age) FROM visits GROUP BY city", precise)
	var cities []sqltype.Value
	for _, row := range a.Rows {
		cities = append(cities, row[0])
		if slices.Contains(row, nil) {
			t.Errorf("NULL in %v", row)
		}
	}
	if fmt.Sprint(cities) != "[Bonn Kiel Ulm]" {
		t.Errorf("groups %v, want the declared ones", cities)
	}
	// Kiel is each one's only declared city: the others did not use up L0.
	if got := number(t, a.Rows[1][1]); math.Abs(got-50) > 1 {
		t.Errorf("Kiel counts %v, want 50", got)
	}
	full := newPair(t, visits(largePure), files{"visits.csv": visitsHeader + elsewhere.String()}, files{"visits.csv": visitsHeader})
	full.indistinguishable(t, nil, "SELECT city, count(*), sum(cost), avg(age), count(DISTINCT name) FROM visits GROUP BY city", "SELECT city, age > 5, count(*) FROM visits GROUP BY 1, 2",
		"SELECT DISTINCT city FROM visits", "SELECT 1 FROM visits GROUP BY city", "SELECT count(*) FROM (SELECT DISTINCT city, age > 5 FROM visits) AS s")
}

func TestD4OrderOfRows(t *testing.T) {
	text, _ := singletons(largeApprox, 0, 1)
	text = strings.Replace(text, "max_groups_per_unit = 1", "max_groups_per_unit = 40", 1)
	var forward, backward strings.Builder
	for i := range 40 {
		for _, b := range []struct {
			*strings.Builder
			g int
		}{{&forward, i}, {&backward, 39 - i}} {
			for person := range 300 {
				fmt.Fprintf(b, "%d,n%02d\n", person, b.g)
			}
		}
	}
	p := newPair(t, text, files{"t.csv": "person,name\n" + forward.String()}, files{"t.csv": "person,name\n" + backward.String()})
	o := approx("500", "1e-3") // all groups are shown
	for _, w := range []*world{p.d, p.neighbour} {
		for _, sql := range []string{"SELECT name, count(*) FROM t GROUP BY name", "SELECT count(*), name, 1 AS one FROM t GROUP BY name"} {
			a := w.ask(t, sql, o)
			var names []string
			for _, row := range a.Rows {
				for _, v := range row {
					if s, ok := v.(string); ok {
						names = append(names, s)
					}
				}
			}
			if len(names) != 40 || !slices.IsSorted(names) {
				t.Errorf("%s: the groups come as %v", sql, names)
			}
		}
	}
	p.indistinguishable(t, o, "SELECT name, count(*) FROM t GROUP BY name", "SELECT name FROM t GROUP BY name HAVING count(*) > -1000000", "SELECT name, count(*) > -1000000 FROM t GROUP BY name")
}

func TestD5NullAsSideChannel(t *testing.T) {
	p := newPair(t, visits(largeZCDP), files{"visits.csv": visitsHeader}, files{"visits.csv": visitsHeader + "1,Bonn,a,50,5,5,5,2026-01-01,,5\n"})
	for _, o := range []*discreet.QueryOptions{pure("0.5"), concentrated("0.05")} {
		p.indistinguishable(t, o,
			"SELECT count(*), count(age), sum(age), avg(age), variance(age), stddev_pop(age), count(DISTINCT name), sum(paid), sum(fee) FROM visits",
			"SELECT city, count(*), sum(cost), avg(fee), var_pop(age), stddev(cost) FROM visits GROUP BY city",
			"SELECT sum(cost) IS NULL, coalesce(sum(cost), -1) = -1, count(*) IS NULL FROM visits",
			"SELECT sum(cost) FILTER (WHERE age > 1000), avg(age) FILTER (WHERE false) FROM visits",
			"SELECT sum(age) FROM visits WHERE false", "SELECT sum(a) FROM (SELECT person, least(greatest(sum(age), 0), 9) AS a FROM visits GROUP BY person) AS s",
		)
	}
	a := p.d.ask(t, "SELECT city, sum(cost), avg(fee), stddev(cost) FROM visits GROUP BY city", nil)
	for _, row := range a.Rows {
		if slices.Contains(row, nil) {
			t.Errorf("NULL for an empty group: %v", row)
		}
	}
}

func TestD6SmallFilterAndOutlier(t *testing.T) {
	long(t)
	// Is person 3, whose value is 200 times the others', among the three that
	// the filter leaves? The best guess from an answer at ε is right with
	// probability at most e^ε/(1+e^ε).
	var d strings.Builder
	d.WriteString("person,name\n1,1\n2,1\n")
	text := strings.Replace(func() string { s, _ := singletons(largePure, 0, 1); return s }(), `name = { type = "text" }`, `name = { type = "double", lower = 0, upper = 200 }`, 1)
	p := newPair(t, text, files{"t.csv": d.String()}, files{"t.csv": d.String() + "3,200\n"})
	const n = 150
	right := 0
	for range n {
		for side, w := range []*world{p.d, p.neighbour} {
			guess := 0
			if number(t, w.ask(t, "SELECT sum(name) FROM t WHERE person <= 3", pure("0.5")).Rows[0][0]) > 102 {
				guess = 1
			}
			if guess == side {
				right++
			}
		}
	}
	if limit := most(2*n, math.Exp(0.5)/(1+math.Exp(0.5))); right > limit {
		t.Errorf("%d of %d guesses are right, want at most %d", right, 2*n, limit)
	}
	p.indistinguishable(t, pure("0.5"), "SELECT sum(name), avg(name), count(*) FROM t WHERE person <= 3", "SELECT avg(name) FROM t WHERE person = 3")
}

func TestD7TypesFromValues(t *testing.T) {
	p := neighbours(t, largePure, odd, hoarder(50))
	for _, sql := range []string{
		"SELECT count(*), sum(age), sum(cost), sum(fee), avg(age), avg(fee), count(*) * 1.5, sum(age) / 2, sum(fee) / 3, round(avg(age)), count(*)::text FROM visits",
		"SELECT count(*) * 9223372036854775807, sum(cost) * 1e308 * 1e308, sum(age)::smallint, (count(*) * 1000000)::integer FROM visits",
	} {
		a, b := p.d.ask(t, sql, nil), p.neighbour.ask(t, sql, nil)
		if x, y := fmt.Sprint(a.Columns), fmt.Sprint(b.Columns); x != y {
			t.Errorf("%s: columns %s and %s", sql, x, y)
		}
		e := must(p.d.Explain(context.Background(), sql, nil))
		if fmt.Sprint(e.Columns) != fmt.Sprint(a.Columns) {
			t.Errorf("%s: explain says %v, the answer has %v", sql, e.Columns, a.Columns)
		}
		for i, v := range a.Rows[0] {
			if v != nil && fmt.Sprintf("%T", v) != goType(a.Columns[i].Type) {
				t.Errorf("%s: column %d is %v, its value a %T", sql, i, a.Columns[i].Type, v)
			}
		}
	}
}

func goType(t sqltype.Type) string {
	switch {
	case t.IsInteger():
		return "int64"
	case t.IsFloat():
		return "float64"
	case t.Kind == sqltype.Text:
		return "string"
	case t.Kind == sqltype.Boolean:
		return "bool"
	}
	return "sqltype.Decimal"
}

func TestD8PostProcessingOfNoise(t *testing.T) {
	long(t)
	// With the count's noise far above it, half of the noisy counts are below 1:
	// averages and deviations stay within what the bounds imply, and are there.
	w := newWorld(t, visits(largePure), files{"visits.csv": visitsHeader + "1,Bonn,a,50,5,5,5,2026-01-01,,5\n"})
	below := 0
	for range 60 {
		row := w.ask(t, "SELECT count(cost), avg(cost), stddev_pop(cost), var_samp(cost), stddev_samp(cost) FROM visits", pure("0.01")).Rows[0]
		n, avg, pop, variance, samp := number(t, row[0]), number(t, row[1]), number(t, row[2]), number(t, row[3]), number(t, row[4])
		if avg < 0 || avg > 10 || pop < 0 || pop > 5 || variance < 0 || variance > 50 || samp < 0 || samp > math.Sqrt(50)+1e-9 {
			t.Errorf("outside of what the bounds imply: %v", row)
		}
		if n < 1 {
			if below++; avg != 5 || pop != 5 || variance != 50 {
				t.Errorf("with a noisy count of %v: %v, want the documented values", n, row)
			}
		}
	}
	if below == 0 {
		t.Error("no noisy count was below 1") // 2^-60
	}
	// Arithmetic on noise is total too.
	for _, sql := range []string{"SELECT 1 / count(*), sum(cost) / (count(*) - count(*)), ln(count(*)), sqrt(sum(cost)), (count(*))::smallint FROM visits", "SELECT greatest(count(*), 0), round(sum(fee), -1), mod(count(*), 0) FROM visits"} {
		for range 5 {
			w.ask(t, sql, pure("0.01"))
		}
	}
}

func TestD9KeysFromTheData(t *testing.T) {
	w := newWorld(t, visits(largeApprox), files{"visits.csv": crowd(5)})
	for _, key := range []string{
		"ntile(4) OVER (ORDER BY cost)", "width_bucket(cost, (SELECT min(cost) FROM visits), 10, 5)", "width_bucket(cost, 0, age, 5)", "width_bucket(cost, ARRAY[1, cost])", "width_bucket(cost, ARRAY[1, (SELECT max(cost) FROM visits)])", "cost > (SELECT avg(cost) FROM visits)",
		"qcut(cost, 4)", "rank() OVER (ORDER BY cost)", "cume_dist() OVER (ORDER BY cost)", "interval '1 day' * age",
	} {
		w.refused(t, "SELECT "+key+" AS k, count(*) FROM visits GROUP BY 1")
	}
	// width_bucket between constants has a domain of its own: all buckets show that the
	// declared bounds, from 0, leave.
	for key, want := range map[string]int{"width_bucket(cost, 0, 10, 5)": 6, "width_bucket(cost, ARRAY[1, 2, 3])": 4} {
		if rows := w.ask(t, "SELECT "+key+", count(*) FROM visits GROUP BY 1", pure("1")).Rows; len(rows) != want {
			t.Errorf("%s: %d buckets, want %d", key, len(rows), want)
		}
	}
}

func TestD10ThresholdsAreNoisy(t *testing.T) {
	// Around the number of units at which groups begin to show, there is no
	// number below which all groups are hidden and above which all are shown.
	var b strings.Builder
	b.WriteString("person,name\n")
	person := 0
	copies := map[int]int{1: 400, 60: 20}
	for units := 2; units <= 40; units++ {
		copies[units] = 80
	}
	for units, n := range copies {
		for copy := range n {
			for range units {
				fmt.Fprintf(&b, "%d,n%02d-%d\n", person, units, copy)
				person++
			}
		}
	}
	for name, c := range map[string]struct {
		domain string
		o      *discreet.QueryOptions
	}{"approx": {largeApprox, approx("1", "1e-4")}, "zcdp": {largeZCDP, concentrated("0.02")}} {
		c.o.Spend.Delta = must(privacy.ParseDelta("1e-4"))
		text, _ := singletons(c.domain, 0, 1)
		w := newWorld(t, text, files{"t.csv": b.String()})
		shown := make([]int, 61)
		for _, row := range w.ask(t, "SELECT name, count(DISTINCT person) FROM t GROUP BY name", c.o).Rows {
			var units int
			fmt.Sscanf(row[0].(string), "n%d-", &units)
			shown[units]++
		}
		between := 0
		for units := 2; units <= 40; units++ {
			if n := shown[units]; n > 0 && n < copies[units] {
				between++
			}
		}
		// At ε = 1 the chance of showing is from 1/25 to 24/25 at six sizes or more: fewer than three
		// have copies of both kinds with odds below 1e-12, wherever the threshold lies between two sizes.
		if between < 3 {
			t.Errorf("%s: groups are shown by a hard threshold: %v", name, shown)
		}
		if shown[1] > most(copies[1], 1e-4) || shown[60] < 19 {
			t.Errorf("%s: of %d groups of 1 unit %d are shown, of 20 of 60 units %d", name, copies[1], shown[1], shown[60])
		}
	}
}
