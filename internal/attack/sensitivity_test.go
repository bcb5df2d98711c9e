//go:build cgo

package attack_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

func TestB1IntegerOverflow(t *testing.T) {
	p := neighbours(t, largePure,
		"999,Bonn,j,2147483647,1,1,9223372036854775807,2026-01-01,2026-01-01 00:00:00,1",
		"999,Bonn,j,2147483647,1,1,9223372036854775806,2026-01-01,2026-01-01 00:00:00,1",
		"998,Bonn,j,-2147483648,1,1,-9223372036854775808,2026-01-01,2026-01-01 00:00:00,1",
	)
	p.indistinguishable(t, nil,
		"SELECT sum(least(greatest(score, -2000000000000000000), 2000000000000000000)) FROM visits",
		"SELECT avg(least(greatest(score + score, 0), 10)) FROM visits",
		"SELECT sum(age), avg(age), variance(age) FROM visits",
		"SELECT sum(least(greatest(age * age, 0), 100)) FROM visits",
		"SELECT avg(least(greatest(s, 0), 100)) FROM (SELECT person, sum(score) AS s FROM visits GROUP BY person) AS u",
		"SELECT avg(least(greatest(s, 0), 100)) FROM (SELECT person, sum(score * score) AS s, avg(score) FROM visits GROUP BY person) AS u",
		"SELECT stddev(least(greatest(v, 0), 100)) FROM (SELECT person, variance(score) AS v FROM visits GROUP BY person) AS u",
	)
	for sql, code := range map[string]string{
		"SELECT sum(score) FROM visits": "D049",
		"SELECT sum(least(greatest(score, -9223372036854775807), 9223372036854775807)) FROM visits":      "D050",
		"SELECT sum(least(greatest(score::decimal(38,0) * score, 0), 99999999999999999999)) FROM visits": "D050",
	} {
		p.d.refused(t, sql, code)
	}
}

// illConditioned is a catalog of values whose float sums depend on the order of
// the rows, but of which a unit may only add up to 20.
const illConditioned = "[domains.person]\n" + largePure + `
[tables.t]
source = "t.csv"
domain = "person"
unit = "person"
max_groups_per_unit = 1
max_rows_per_group = 10
[tables.t.columns]
person = { type = "bigint" }
x = { type = "double", lower = -1e15, upper = 1e15, sum_lower = -20, sum_upper = 20 }
`

// Each of 40 people has rows that add up to exactly 5.
func ill(order *rand.Rand, most int) files {
	var rows []string
	for person := range 40 {
		for _, x := range []string{"1e15", "2.5", "-1e15", "2.5", "3e14", "-3e14"}[:most] {
			rows = append(rows, fmt.Sprintf("%d,%s", person, x))
		}
	}
	if order != nil {
		order.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	return files{"t.csv": "person,x\n" + strings.Join(rows, "\n") + "\n"}
}

var illStatements = []string{
	"SELECT sum(x) FROM t",
	"SELECT sum(least(greatest(s, -20), 20)) FROM (SELECT person, sum(x) AS s FROM t GROUP BY person) AS u",
	"SELECT sum(least(greatest(6 * m, -20), 20)) FROM (SELECT person, avg(x) AS m FROM t GROUP BY person) AS u",
}

func TestB2RoundingOfFloatSums(t *testing.T) {
	w := newWorld(t, illConditioned, ill(nil, 6))
	for _, sql := range illStatements {
		if got := w.measure(t, sql)[0]; math.Abs(got-200) > 1.5 {
			t.Errorf("%s: %v, want 200", sql, got)
		}
	}
}

func TestB3OrderOfRows(t *testing.T) {
	order := rand.New(rand.NewPCG(1, 2))
	for _, threads := range []int{1, 2, 4} {
		w := newLimitedWorld(t, illConditioned, ill(order, 6), duckdb.Options{Threads: threads})
		for _, sql := range illStatements {
			if got := w.measure(t, sql)[0]; math.Abs(got-200) > 1.5 {
				t.Errorf("%d threads: %s: %v, want 200", threads, sql, got)
			}
		}
	}
}

func TestB4RepeatedRounding(t *testing.T) {
	// A large value, and then 4,000 that a double's sum would absorb.
	many := func(first string) files {
		return files{"t.csv": "person,x\n" + first + strings.Repeat("1,0.0625\n", 4000) + "1,-1e15\n"}
	}
	text := strings.ReplaceAll(strings.ReplaceAll(illConditioned, "-20", "-400"), "20 }", "400 }")
	for _, sql := range []string{"SELECT sum(x) FROM t", "SELECT sum(least(greatest(s, -400), 400)) FROM (SELECT person, sum(x) AS s FROM t GROUP BY person) AS u"} {
		w := newWorld(t, text, many("1,1e15\n"))
		if got := w.measure(t, sql)[0]; math.Abs(got-250) > 20 {
			t.Errorf("%s: %v, want 250", sql, got)
		}
	}
}

func TestB5CastToReal(t *testing.T) {
	p := neighbours(t, largePure, odd)
	p.indistinguishable(t, nil,
		"SELECT sum(least(greatest(cost::real, 0), 10)) FROM visits",
		"SELECT avg(least(greatest((cost * 1e38)::real, 0), 10)) FROM visits",
		"SELECT sum(least(greatest(s, 0), 10)) FROM (SELECT person, sum((cost * 1e38)::real) AS s FROM visits GROUP BY person) AS u",
	)
	p.within(t, "SELECT sum(least(greatest(cost::real, 0), 10)) FROM visits", 30)
}

func TestB6DecimalOverflow(t *testing.T) {
	p := neighbours(t, largePure, odd)
	p.indistinguishable(t, nil,
		"SELECT sum(fee), avg(fee), variance(fee) FROM visits",
		"SELECT sum(least(greatest(fee * fee * fee, 0), 10)) FROM visits",
		"SELECT sum(least(greatest(s, 0), 10)) FROM (SELECT person, sum(score::decimal(38,0)) AS s FROM visits GROUP BY person) AS u",
		"SELECT sum(least(greatest(s, 0), 10)) FROM (SELECT person, sum(score::decimal(38,0) * 10000000000000000000) AS s, avg(score::decimal(38,10)) FROM visits GROUP BY person) AS u",
	)
	// Digits that a 64-bit scale does not reach: once such a sum wrapped.
	p.within(t, "SELECT sum(fee * 0.0020000000000000) FROM visits", 0.3)
	p.d.refused(t, "SELECT avg(fee * 0.00200000000000000) FROM visits", "D050")
	p.d.refused(t, "SELECT sum(fee * 0.000000000000000000000000000000000001) FROM visits", "D050")
}

func TestB7NaNThroughClamp(t *testing.T) {
	p := neighbours(t, largePure,
		"999,Bonn,j,1,nan,1,1,2026-01-01,2026-01-01 00:00:00,nan", "999,Bonn,j,1,NaN,1,1,2026-01-01,2026-01-01 00:00:00,-nan", "999,Ulm,j,1,inf,1,1,2026-01-01,2026-01-01 00:00:00,-inf")
	sums := []string{
		"SELECT sum(cost) FROM visits",
		"SELECT sum(paid) FROM visits",
		"SELECT sum(least(greatest(cost * 2, 0), 10)) FROM visits",
		"SELECT sum(least(greatest(cost / cost, 0), 10)) FROM visits",
		"SELECT sum(CASE WHEN cost > 10 THEN 10 WHEN cost < 0 THEN 0 ELSE cost END) FROM visits",
		"SELECT sum(cost) FROM visits WHERE cost > 9",
	}
	p.indistinguishable(t, nil, sums...)
	for _, sql := range sums {
		if got := p.apart(t, sql); got > 1.5 {
			t.Errorf("%s: rows of NaN and infinity move it by %v", sql, got)
		}
	}
	// Real NaN values, from a file that can hold them.
	db := filepathOf(t, `CREATE TABLE t AS SELECT i AS person, CASE WHEN i < 10 THEN 'nan'::double WHEN i < 20 THEN 'inf'::double WHEN i < 30 THEN '-inf'::double ELSE 1 END AS x FROM range(130) AS r(i)`)
	text := "[domains.person]\n" + largePure + `
[tables.t]
source = "` + db + `#t"
domain = "person"
unit = "person"
max_groups_per_unit = 1
max_rows_per_group = 1
[tables.t.columns]
person = { type = "bigint" }
x = { type = "double", lower = 0, upper = 10 }
`
	w := newWorld(t, text, nil)
	for sql, want := range map[string]float64{"SELECT sum(x) FROM t": 100, "SELECT count(x) FROM t": 100, "SELECT count(*) FROM t WHERE x > 5": 0, "SELECT count(DISTINCT x) FROM t": 1} {
		if got := w.measure(t, sql)[0]; math.Abs(got-want) > 1 {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}

func TestB8InfinitiesZerosAndDenormals(t *testing.T) {
	p := neighbours(t, largePure,
		"999,Bonn,j,1,-0.0,1,1,infinity,-infinity,5e-324", "999,Bonn,j,1,0,1,1,-infinity,infinity,-0", "999,Ulm,j,1,4.9e-324,1,1,2026-01-01,2026-01-01 00:00:00,2.2250738585072014e-308")
	p.indistinguishable(t, nil,
		"SELECT count(DISTINCT cost), sum(cost), count(n) FROM (SELECT person, count(*) AS n, cost FROM visits GROUP BY person, cost) AS u",
		"SELECT sum(least(greatest(extract(epoch FROM day), 0), 10)) FROM visits",
		"SELECT avg(least(greatest(day - '2026-01-01'::date, 0), 10)) FROM visits",
		"SELECT sum(least(greatest(1 / cost, 0), 10)), sum(least(greatest(ln(paid), 0), 10)) FROM visits",
		"SELECT extract(dow FROM day) AS d, count(*) FROM visits GROUP BY extract(dow FROM day)",
		"SELECT extract(month FROM seen) AS m, count(*) FROM visits GROUP BY extract(month FROM seen) ORDER BY m",
	)
	// −0 and 0 are one value.
	w := newWorld(t, visits(largePure), files{"visits.csv": visitsHeader + "1,Bonn,a,1,0,1,1,,,0\n2,Bonn,a,1,-0.0,1,1,,,0\n3,Bonn,a,1,-0,1,1,,,0\n"})
	for _, sql := range []string{"SELECT count(DISTINCT cost) FROM visits", "SELECT count(DISTINCT -cost) FROM visits", "SELECT count(DISTINCT cost::text) FROM visits", "SELECT count(DISTINCT cost * -1) FROM visits"} {
		if got := w.measure(t, sql)[0]; got != 1 {
			t.Errorf("%s: %v", sql, got)
		}
	}
}

func TestB9BoundsThatBoundNothing(t *testing.T) {
	column := func(c string) string { return strings.Replace(visits(largePure), `lower = 0, upper = 10 }`, c+" }", 1) }
	for _, bounds := range []string{
		"lower = 10, upper = 0", "lower = nan, upper = 1", "lower = 0, upper = inf", "lower = -inf, upper = inf", "lower = 0", "upper = 1",
		`lower = "a", upper = 1`, "lower = 0, upper = 1e309", "sum_lower = 0, sum_upper = 1", "lower = 0, upper = 1, sum_lower = 2, sum_upper = 1",
		"lower = 0, upper = 1, sum_lower = 0", "lower = 0, upper = 1, sum_lower = 0, sum_upper = inf", "lower = 0, upper = 1, sum_lower = nan, sum_upper = nan",
	} {
		if _, err := catalog.Parse("c.toml", column(bounds)); err == nil {
			t.Errorf("a column with %s is admitted", bounds)
		}
	}
	// Equal bounds, and bounds of zero, still get noise.
	for _, bounds := range []string{"lower = 0, upper = 0", "lower = 5, upper = 5", "lower = 1e-100, upper = 1e-100", "lower = 0, upper = 1, sum_lower = 0, sum_upper = 0"} {
		w := newWorld(t, column(bounds), files{"visits.csv": crowd(5)})
		for _, sql := range []string{"SELECT sum(cost) FROM visits", "SELECT avg(cost) FROM visits", "SELECT variance(cost) FROM visits"} {
			for _, m := range w.ask(t, sql, nil).Mechanisms {
				if !(m.Scale > 0) || !(m.Sensitivity > 0) {
					t.Errorf("%s with %s: no noise: %+v", sql, bounds, m)
				}
			}
		}
	}
	// The analyst's own clamps, the wrong way round.
	p := neighbours(t, largePure, odd)
	p.within(t, "SELECT sum(least(greatest(cost, 5), 1)) FROM visits", 3)
	p.within(t, "SELECT sum(greatest(least(cost, 5), 8)) FROM visits", 24)
	for _, sql := range []string{"SELECT sum(least(score, 5)) FROM visits", "SELECT sum(greatest(score, NULL)) FROM visits", "SELECT sum(coalesce(score, 1)) FROM visits", "SELECT sum(least(greatest(score, 0), age + score)) FROM visits"} {
		p.d.refused(t, sql, "D049")
	}
}

func TestB10NullsThatWereNotExpected(t *testing.T) {
	p := neighbours(t, largePure, "999,,,,,,,,,", "999,Bonn,j,x,x,x,x,x,x,x", "999,Bonn,j,1,1,1,1,2026-01-01,2026-01-01 00:00:00,1")
	for _, sql := range []string{
		"SELECT count(coalesce(cost, 0)) FROM visits", "SELECT count(nullif(age, age)) FROM visits", "SELECT count(cost / cost) FROM visits",
		"SELECT count(name::integer) FROM visits", "SELECT count(1) FROM visits", "SELECT count(NULL) FROM visits", "SELECT count(person) FROM visits",
		"SELECT count(*) FILTER (WHERE cost IS NULL) FROM visits", "SELECT sum(1) FROM visits", "SELECT sum(CASE WHEN cost IS NULL THEN 1 ELSE 1 END) FROM visits",
		"SELECT count(*) - count(cost) FROM visits", "SELECT count(DISTINCT 1) FROM visits",
	} {
		p.indistinguishable(t, nil, sql)
		a := must(p.d.Explain(context.Background(), sql, nil))
		if !a.Columns[0].Noisy || len(a.Mechanisms) == 0 || a.Mechanisms[0].Sensitivity < 3 || a.Mechanisms[0].Scale < 3 {
			t.Errorf("%s: too little noise: %+v", sql, a.Mechanisms)
		}
	}
}

func TestB11FunctionsThatLookBeyondTheRow(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(5)})
	for _, e := range []string{
		"rank() OVER (ORDER BY cost)", "dense_rank() OVER (ORDER BY cost)", "row_number() OVER ()", "lag(cost) OVER (ORDER BY person)", "first_value(cost) OVER (ORDER BY person)",
		"ntile(4) OVER (ORDER BY cost)", "sum(cost) OVER ()", "count(*) OVER (PARTITION BY city)", "percent_rank() OVER (ORDER BY cost)", "row_number() OVER (PARTITION BY city)",
		"rowid", "ctid", "oid", "xmin", "tableoid", "visits", "visits.*::text", "hash(name)", "md5(name)", "enum_code(name)", "nextval('s')", "currval('s')", "txid_current()",
		"first(cost)", "any_value(cost)", "string_agg(name, ',')", "array_agg(cost)", "list(cost)", "histogram(cost)", "mode() WITHIN GROUP (ORDER BY cost)",
		"percentile_cont(0.5) OVER (ORDER BY cost)", "bit_xor(age)", "json_agg(name)", "bool_or(cost > 1)",
		"grouping(city)", "sum(DISTINCT cost)", "avg(DISTINCT cost)", "sum(cost ORDER BY cost)",
	} {
		w.refused(t, "SELECT "+e+" FROM visits")
		w.refused(t, "SELECT count(*) FROM (SELECT "+e+" AS e FROM visits) AS s WHERE e IS NOT NULL")
	}
	// Of a unit's own rows it is a number that no analyst sees, and moves no more than they do.
	const own = "row_number() OVER (PARTITION BY person)"
	w.refused(t, "SELECT "+own+" FROM visits")
	neighbours(t, largePure, odd, hoarder(200)).within(t, "SELECT count(*) FROM (SELECT "+own+" AS e FROM visits) AS s WHERE e IS NOT NULL", 3)
}

func TestB12VarianceOfAConstant(t *testing.T) {
	var b strings.Builder
	b.WriteString(visitsHeader)
	for i := range 300 {
		fmt.Fprintf(&b, "%d,Bonn,a,10,10,10,1,,,1\n", i)
	}
	w := newWorld(t, visits(largePure), files{"visits.csv": b.String()})
	for sql, want := range map[string]float64{
		"SELECT var_pop(age) FROM visits": 0, "SELECT stddev(cost) FROM visits": 0, "SELECT variance(fee) FROM visits": 0, "SELECT avg(age) FROM visits": 10,
	} {
		if got := w.measure(t, sql)[0]; math.Abs(got-want) > 1 {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
		a := w.ask(t, sql, nil)
		parts := map[string]bool{}
		for _, m := range a.Mechanisms {
			parts[m.Part] = m.Scale > 0
		}
		if !parts["count"] || !parts["sum"] || strings.Contains(sql, "avg") == parts["squares"] {
			t.Errorf("%s divides by something exact: %+v", sql, a.Mechanisms)
		}
	}
}

func TestB14ReplacingAllRows(t *testing.T) {
	replace := "neighbours = \"replace-one\"\n" + largePure
	rows := func(city string, cost int) string {
		return strings.Repeat(fmt.Sprintf("999,%s,j,1,%d,1,1,,,1\n", city, cost), 50)
	}
	p := newPair(t, visits(replace), files{"visits.csv": crowd(5) + rows("Bonn", 10)}, files{"visits.csv": crowd(5) + strings.ReplaceAll(rows("Kiel", 10), "999", "998")})
	p.within(t, "SELECT count(*) FROM visits GROUP BY city", 12) // L0·R, twice
	if got := p.apart(t, "SELECT count(*) FROM visits GROUP BY city"); got < 5.5 {
		t.Errorf("replacing 50 rows moved the counts by %v, want 6", got)
	}
	p.within(t, "SELECT count(DISTINCT person) FROM visits GROUP BY city", 4)
	p.within(t, "SELECT sum(cost) FROM visits", 60)
	p.indistinguishable(t, nil, "SELECT count(*) FROM visits", "SELECT city, sum(cost), avg(age) FROM visits GROUP BY city")
	// Under add-remove a sum of values around 0 needs half, and a count without groups the same.
	for domain, want := range map[string][2]float64{largePure: {3, 15}, replace: {3, 30}} {
		w := newWorld(t, visits(domain), files{"visits.csv": crowd(5)})
		for i, sql := range []string{"SELECT count(*) FROM visits", "SELECT sum(greatest(-5, least(5, age))) - 0 AS s FROM (SELECT age - 20 AS age FROM visits) AS t"} {
			if m := must(w.Explain(context.Background(), sql, nil)).Mechanisms[0]; m.Sensitivity != want[i] || m.Scale != want[i] {
				t.Errorf("%s: %s: %+v, want sensitivity %v", domain, sql, m, want[i])
			}
		}
	}
}

func TestB15KeysRedefinedAfterBounding(t *testing.T) {
	var rows []string
	for i := range 60 {
		rows = append(rows, fmt.Sprintf("999,%s,n%d,%d,10,1,%d,2026-01-%02d,,1", []string{"Bonn", "Kiel", "Ulm"}[i%3], i, i, i, i%28+1))
	}
	p := neighbours(t, largePure, rows...)
	for _, sql := range []string{
		"SELECT count(*) FROM visits GROUP BY CASE WHEN city = 'Bonn' THEN 'all' ELSE 'all' END",
		"SELECT count(*) FROM (SELECT CASE WHEN name LIKE 'n%' THEN 'all' ELSE 'all' END AS k FROM visits) AS s GROUP BY k",
		"SELECT count(*) FROM (SELECT city, name, CASE WHEN true THEN 1 ELSE 2 END AS k FROM visits) AS s GROUP BY k",
		"SELECT count(*) FROM (SELECT person, city, name, count(*) AS n FROM visits GROUP BY person, city, name) AS s GROUP BY city",
		"SELECT sum(least(greatest(n, 0), 1)) FROM (SELECT person, city, name, count(*) AS n FROM visits GROUP BY person, city, name) AS s GROUP BY city",
		"SELECT count(*) FROM visits GROUP BY age % 3 = 0, city = 'Bonn'",
	} {
		p.within(t, sql, 6) // L0·R, whatever the keys
	}
	// Bounds per unit and city do not add up to more when the cities are merged
	// above the release.
	p.within(t, "SELECT sum(n) FROM (SELECT city, count(*) AS n FROM visits GROUP BY city) AS s", 6)
}

func TestB16DistinctValuesOfOneUnit(t *testing.T) {
	row := func(person, score int) string { return fmt.Sprintf("%d,Bonn,j,1,1,1,%d,,,1\n", person, score) }
	var base, fresh, shared strings.Builder
	base.WriteString(crowd(5))
	for i := range 200 {
		base.WriteString(row(i, i))
		fresh.WriteString(row(999, 100_000+i))
		shared.WriteString(row(999, i))
	}
	for name, more := range map[string]string{"values of its own": fresh.String(), "the others' values": shared.String(), "both": fresh.String() + shared.String()} {
		p := newPair(t, visits(largePure), files{"visits.csv": base.String()}, files{"visits.csv": base.String() + more})
		t.Run(name, func(t *testing.T) {
			p.within(t, "SELECT count(DISTINCT score) FROM visits", 3)
			p.within(t, "SELECT count(DISTINCT score) FROM visits GROUP BY city", 6)
			p.within(t, "SELECT count(DISTINCT person) FROM visits", 1)
			p.within(t, "SELECT count(DISTINCT score) FILTER (WHERE age = 1) FROM visits", 3)
			p.indistinguishable(t, nil, "SELECT count(DISTINCT score), count(DISTINCT person) FROM visits")
		})
	}
}

func TestB17BoundsFromTheData(t *testing.T) {
	p := neighbours(t, largePure, odd)
	for _, sql := range []string{
		"SELECT sum(score) FROM visits", "SELECT avg(score) FROM visits", "SELECT variance(score) FROM visits", "SELECT sum(cost / age) FROM visits",
		"SELECT sum(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) AS s", "SELECT avg(x) FROM (SELECT person, sum(cost) AS x FROM visits GROUP BY person) AS s",
	} {
		p.d.refused(t, sql, "D049")
		// Not by its words alone: the refusal of both must be the same.
		if d := p.differ(t, sql, nil); d != "" {
			t.Errorf("%s: %s", sql, d)
		}
	}
	p.indistinguishable(t, nil, "SELECT sum(cost) FROM visits WHERE cost < (SELECT max(cost) FROM visits)") // a maximum that is released
	p.d.refused(t, "SELECT sum(least(score, (SELECT max(age) FROM visits))) FROM visits")
}
