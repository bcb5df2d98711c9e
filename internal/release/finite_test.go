//go:build cgo

package release_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// finiteCatalog declares the table of these tests. Its rows keep the bounds.
const finiteCatalog = `
[domains.person]
measure = "zcdp"
epsilon = 3.0
delta = 1e-7
[tables.t]
source = "t.parquet"
domain = "person"
unit = "u"
max_groups_per_unit = 3
max_rows_per_group = 1
[tables.t.columns]
u = { type = "bigint" }
age = { type = "integer", lower = 0, upper = 120 }
k = { type = "smallint", lower = -5, upper = 5 }
flag = { type = "integer", lower = 0, upper = 1 }
big = { type = "bigint", lower = 0, upper = 4999 }
wide = { type = "bigint", lower = 0, upper = 1000000 }
price = { type = "decimal(6,2)", lower = "-1.00", upper = "9.99" }
cost = { type = "double", lower = 0, upper = 5000 }
rate = { type = "double", lower = -1.5, upper = 2.5 }
part = { type = "real", lower = 0, upper = 1 }
day = { type = "date", lower = "2024-01-15", upper = "2025-03-20" }
seen = { type = "timestamp", lower = "2025-01-01", upper = "2025-12-31 23:59:59" }
few = { type = "timestamp", lower = "2025-02-03", upper = "2025-02-04 12:00:00" }
q = { type = "boolean" }
dept = { type = "text", domain = ["ER", "ICU", "Surgery"] }
note = { type = "text" }
open = { type = "integer" }
`

// finiteRows fills it: each bounded value of most columns, many of the dense ones, their
// ends, and NULL.
const finiteRows = `CREATE TABLE d.t AS SELECT n AS u,
	CAST(n % 121 AS INTEGER) AS age, CAST(n // 121 % 11 - 5 AS SMALLINT) AS k, CAST(n // 7 % 2 AS INTEGER) AS flag,
	n % 5000 AS big, n * 77 % 1000001 AS wide, CAST(n % 1100 AS DECIMAL(8,2)) / 100 - 1 AS price0,
	n % 10001 / 2.0 AS cost0, n % 4001 / 1000.0 - 1.5 AS rate0,
	DATE '2024-01-15' + CAST(n % 431 AS INTEGER) AS day,
	TIMESTAMP '2025-01-01' + to_seconds(n * 2377 % 31536000) AS seen,
	TIMESTAMP '2025-02-03' + to_seconds(n * 11 % 129601) AS few,
	CASE n % 3 WHEN 0 THEN true WHEN 1 THEN false END AS q,
	CASE n % 4 WHEN 0 THEN 'ER' WHEN 1 THEN 'ICU' WHEN 2 THEN 'Surgery' END AS dept,
	CASE WHEN n % 5 > 0 THEN 'note ' || n % 7 END AS note, CAST(n % 13 * 1000 - 6000 AS INTEGER) AS open FROM range(13310) AS r(n);
	CREATE OR REPLACE TABLE d.t AS SELECT u, CASE WHEN u % 17 < 16 THEN age END AS age, k, flag, big, wide, CAST(price0 AS DECIMAL(6,2)) AS price,
	CAST(cost0 AS DOUBLE) AS cost, CAST(rate0 AS DOUBLE) AS rate, CAST(abs(rate0) / 2.5 AS REAL) AS part, day, CASE WHEN u = 1 THEN TIMESTAMP '2025-12-31 23:59:59' ELSE seen END AS seen, CASE WHEN u = 1 THEN TIMESTAMP '2025-02-04 12:00:00' ELSE few END AS few, q, dept, note, open FROM d.t`

// A finiteTable has the rows in an engine.
type finiteTable struct {
	machines *machines
	catalog  *catalog.Catalog
}

// newFiniteTable has one of so many rows.
func newFiniteTable(t testing.TB, of int) finiteTable {
	m := newMachines(t)
	if _, err := m.plain.ExecContext(t.Context(), finiteRows+fmt.Sprintf(" WHERE u %% %d = 1 %% %d", of, of)); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Parse("catalog.toml", finiteCatalog)
	if err != nil {
		t.Fatal(err)
	}
	return finiteTable{m, cat}
}

// look returns a key's public domain, nil if its groups are chosen privately, and the
// values that the engine finds in the rows.
func (f finiteTable) look(ctx context.Context, key, where string) (domain, found map[string]bool, err error) {
	certificate, err := certify("SELECT "+key+", count(*) FROM t"+where+" GROUP BY 1", f.catalog)
	if err != nil {
		return nil, nil, err
	}
	r := certificate.Releases[0]
	e := r.Keys[0].Expr
	if !r.Private {
		domain = map[string]bool{}
		for _, part := range r.Keys[0].Domain {
			for v := range part.All(e.Type()) {
				domain[sqltype.Key(v)] = true
			}
		}
	}
	text, err := render.Relation(&plan.Aggregate{Input: r.Input, Keys: []plan.Expr{e}, Names: []string{"key"}})
	if err != nil {
		return nil, nil, err
	}
	rows, err := exactGroups(ctx, f.machines.plain, "d", engine.Query{SQL: text, Keys: []sqltype.Type{e.Type()}}, 0, 0, 1)
	if err != nil {
		return nil, nil, err
	}
	found = map[string]bool{}
	for _, g := range rows {
		if v := valueOf(g.key[0], e.Type()); v != nil {
			found[sqltype.Key(v)] = true
		}
	}
	return domain, found, nil
}

func beyond(a, b map[string]bool) (all []string) {
	for v := range a {
		if !b[v] {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

// A key whose values declared bounds make finite has all of them as its domain, and, but
// where spare says so, no other. size is their number; 0 where groups are chosen privately.
func TestFiniteDomains(t *testing.T) {
	f := newFiniteTable(t, 1)
	for _, test := range []struct {
		key   string
		size  int
		where string
		spare int
	}{
		{key: "age", size: 121},
		{key: "age / 10", size: 13},
		{key: "-age / 10", size: 13},
		{key: "age / -7", size: 18},
		{key: "k / 2", size: 5},
		{key: "age / k", size: 241},
		{key: "age % 7", size: 7},
		{key: "k % 3", size: 5},
		{key: "mod(open, 1000)", size: 1999, spare: 1998},
		{key: "age * 2", size: 121},
		{key: "age * 2 + 1", size: 121},
		{key: "age / 10 * 10", size: 13},
		{key: "age - k", size: 131},
		{key: "abs(k)", size: 6},
		{key: "sign(k)", size: 3},
		{key: "greatest(k, 0)", size: 6},
		{key: "least(greatest(open, 0), 10)", size: 11, spare: 9},
		{key: "greatest(age, 100)", size: 21},
		{key: "least(age, open)", size: 0},
		{key: "nullif(k, 0)", size: 11, spare: 1},
		{key: "coalesce(age, -1)", size: 122},
		{key: "CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'old' END", size: 3},
		{key: "CASE WHEN age < 65 THEN age / 10 ELSE 99 END", size: 14, spare: 6},
		{key: "CASE WHEN q THEN k END", size: 11},
		{key: "CASE WHEN q THEN note ELSE 'x' END", size: 0},
		{key: "flag::boolean", size: 2},
		{key: "age >= 18", size: 2},
		{key: "q::integer", size: 2},
		{key: "big", size: 5000},
		{key: "wide", size: 0},
		{key: "wide / 1000", size: 1001, spare: 1},
		{key: "wide / 100", size: 0},
		{key: "(wide + 5) / -1000", size: 1001, spare: 1},
		{key: "mod(greatest(open, 2), 7)", size: 7, spare: 1},
		{key: "open", size: 0},
		{key: "note", size: 0},
		{key: "cost", size: 0},
		{key: "floor(cost / 100)", size: 51},
		{key: "floor(cost / 100) * 100", size: 51},
		{key: "ceil(cost / 250)", size: 21},
		{key: "round(cost / 1000)", size: 6},
		{key: "trunc(rate)", size: 4},
		{key: "round(rate)", size: 5},
		{key: "rate::integer", size: 5},
		{key: "round(rate::numeric, 1)", size: 41},
		{key: "round(cost::numeric, -3)", size: 6},
		{key: "cost::integer / 500", size: 11},
		{key: "floor(part * 4)", size: 5},
		{key: "floor(sqrt(cost))", size: 71},
		{key: "floor(log10(cost + 1))", size: 4},
		{key: "floor(cost + rate)", size: 5005, spare: 2},
		{key: "price", size: 1100},
		{key: "round(price)", size: 12},
		{key: "round(price, 1)", size: 111},
		{key: "trunc(price)", size: 11},
		{key: "floor(price)", size: 11},
		{key: "price::integer", size: 12},
		{key: "price * 2", size: 1100},
		{key: "width_bucket(age, 0, 120, 12)", size: 13},
		{key: "width_bucket(age, 20, 60, 4)", size: 6},
		{key: "width_bucket(cost, 0, 5000, 10)", size: 11},
		{key: "width_bucket(cost, 5000, 0, 10)", size: 11},
		{key: "width_bucket(price, 0, 5, 3)", size: 5},
		{key: "width_bucket(open, 0, 100, 4)", size: 6, spare: 4},
		{key: "width_bucket(cost, ARRAY[0, 100, 500])", size: 3},
		{key: "width_bucket(age, ARRAY[18, 65])", size: 3},
		{key: "width_bucket(dept, ARRAY['F', 'S'])", size: 3},
		{key: "extract(DAYOFWEEK FROM day)", size: 7},
		{key: "extract(DAYOFYEAR FROM few)", size: 2},
		{key: "extract(year FROM seen)", size: 1},
		{key: "extract(year FROM day)", size: 2},
		{key: "extract(month FROM seen)", size: 12},
		{key: "extract(month FROM few)", size: 1},
		{key: "extract(hour FROM few)", size: 24},
		{key: "extract(dow FROM few)", size: 2},
		{key: "extract(isodow FROM day)", size: 7},
		{key: "extract(week FROM seen)", size: 52},
		{key: "date_part('quarter', seen)::integer", size: 4},
		{key: "date_trunc('month', seen)", size: 12},
		{key: "date_trunc('month', day)", size: 15},
		{key: "date_trunc('quarter', day)", size: 5},
		{key: "date_trunc('week', seen)", size: 53},
		{key: "date_trunc('day', seen)", size: 365},
		{key: "date_trunc('hour', seen)", size: 8760},
		{key: "date_trunc('minute', seen)", size: 0},
		{key: "date_trunc('hour', few)", size: 37},
		{key: "date_trunc('month', seen)::date", size: 12},
		{key: "to_char(seen, 'YYYY-MM')", size: 12},
		{key: "format_date('%F', day)", size: 431},
		{key: "to_char(few, 'YYYY-MM-DD HH24')", size: 37},
		{key: "to_char(day, 'Dy')", size: 7},
		{key: "date_trunc('month', seen - INTERVAL '6 hours')", size: 13},
		{key: "seen::date", size: 365},
		{key: "day", size: 431},
		{key: "day + 7", size: 431},
		{key: "(day - DATE '2024-01-01') / 30", size: 15},
		{key: "extract(year FROM date_trunc('month', day)) * 100 + extract(month FROM day)", size: 24, spare: 9},
		{key: "(seen + INTERVAL '1 month')::date", size: 0},
		{key: "(day + INTERVAL '1 month')::date", size: 422},
		{key: "seen", size: 0},
		{key: "upper(dept)", size: 3},
		{key: "left(dept, 1)", size: 3},
		{key: "left(dept, -2)", size: 0},
		{key: "dept || '-' || flag", size: 6},
		{key: "length(dept)", size: 3},
		{key: "ascii(dept)", size: 3},
		{key: "substring(dept FROM '^[A-Z]')", size: 3},
		{key: "substring(dept FROM '([a-z])[a-z]$')", size: 1},
		{key: "regexp_substr(dept, '[A-Z]+')", size: 3},
		{key: "regexp_count(dept, '[A-Z]')", size: 3},
		{key: `regexp_replace(dept, '([A-Z])(.)', '\2<\&>\1', 'g')`, size: 3},
		{key: "regexp_replace(dept, '.', '-', 'g')", size: 3},
		{key: "regexp_replace(dept, '[A-Z]*', '')", size: 2},
		{key: "regexp_replace(note, 'a', '')", size: 0},
		{key: "(age / 10 * 10)::text || ' to ' || (age / 10 * 10 + 9)::text", size: 169, spare: 156},
		{key: "age", where: " WHERE age BETWEEN 20 AND 29", size: 10},
		{key: "age", where: " WHERE age > 20 AND 25 > age", size: 4},
		{key: "age", where: " WHERE age IN (3, 5, 700)", size: 2},
		{key: "age", where: " WHERE age = 7", size: 1},
		{key: "age / 10", where: " WHERE age >= 64.5", size: 6 + 1},
		{key: "open", where: " WHERE open > 0 AND open < 100", size: 99, spare: 99},
		{key: "open / 1000", where: " WHERE open >= -2000 AND open <= 3000", size: 6},
		{key: "floor(cost)", where: " WHERE cost < 10", size: 10},
		{key: "dept", where: " WHERE dept <> 'ER'", size: 2},
		{key: "dept", where: " WHERE dept NOT IN ('ER', 'none') AND dept > 'A'", size: 2},
		{key: "dept", where: " WHERE dept = 'ER' OR dept = 'none'", size: 1},
		{key: "date_trunc('month', seen)", where: " WHERE seen >= '2025-07-01' AND seen < '2025-10-01'", size: 3},
		{key: "k", where: " WHERE k <> 0", size: 11, spare: 1},
		{key: "k", where: " WHERE k > 3 OR k < -3", size: 11, spare: 7},
	} {
		domain, found, err := f.look(t.Context(), test.key, test.where)
		if err != nil {
			t.Errorf("%s: %v", test.key, err)
			continue
		}
		if len(domain) != test.size {
			t.Errorf("%s%s: a domain of %d values, want %d", test.key, test.where, len(domain), test.size)
		}
		if domain == nil {
			continue
		}
		if lost := beyond(found, domain); len(lost) > 0 {
			t.Errorf("%s%s: %d values are missing, such as %s", test.key, test.where, len(lost), lost[0])
		}
		if spare := beyond(domain, found); len(spare) > test.spare {
			t.Errorf("%s%s: %d values are not needed, such as %s; want %d", test.key, test.where, len(spare), spare[0], test.spare)
		}
	}
}

// No value is missing from the domain of a random key: rows of it would be lost.
func TestRandomFiniteDomains(t *testing.T) {
	f := newFiniteTable(t, 7)
	derived, drawn := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range soak(1, 15) { // of a hundred checks
			g := finiteKeys{rt}
			key := g.key(3)
			where := ""
			if g.n(3) == 0 {
				where = " WHERE " + g.condition()
			}
			drawn++
			domain, found, err := f.look(context.Background(), key, where)
			if _, refused := errors.AsType[*diagnostic.Diagnostic](err); refused {
				continue
			}
			if err != nil {
				rt.Fatalf("%s%s: %v", key, where, err)
			}
			if domain == nil {
				continue
			}
			derived++
			if len(domain) > stability.MostDerived {
				rt.Fatalf("%s%s: %d groups", key, where, len(domain))
			}
			if lost := beyond(found, domain); len(lost) > 0 {
				rt.Fatalf("%s%s: of %d values %d are missing, such as %s", key, where, len(found), len(lost), lost[0])
			}
		}
	})
	if derived*3 < drawn {
		t.Errorf("only %d of %d keys have a domain: the test is weak", derived, drawn)
	}
}

// finiteKeys draws keys.
type finiteKeys struct{ t *rapid.T }

func (g finiteKeys) n(limit int) int { return rapid.IntRange(0, limit-1).Draw(g.t, "n") }

func (g finiteKeys) of(choices ...string) string { return choices[g.n(len(choices))] }

func (g finiteKeys) key(depth int) string {
	return g.of(g.whole(depth), g.whole(depth), "floor("+g.number(depth)+")", "("+g.number(depth)+")::integer",
		"round(("+g.number(depth)+")::numeric, "+g.of("1", "0", "-1", "2")+")", g.point(depth), g.text(depth), g.truth())
}

func (g finiteKeys) whole(depth int) string {
	if depth <= 0 || g.n(4) == 0 {
		return g.of("age", "k", "flag", "big", "wide / 100", "2", "-3", "7", "open")
	}
	a := func() string { return g.whole(depth - 1) }
	switch g.n(14) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", a(), g.of("+", "-", "*"), a())
	case 11:
		return fmt.Sprintf("width_bucket(%s, ARRAY[%s])", g.of(g.whole(depth-1), g.number(depth-1)), g.of("0", "18, 65", "-1.5, 0, 2.25, 1000", "120"))
	case 12:
		return fmt.Sprintf(g.of("ascii(%s)", "regexp_count(%s, '[a-z]')", "regexp_count(%s, '[0-9]+|x')", "length(regexp_substr(%s, '[a-z]+$'))"), g.text(depth-1))
	case 2, 3:
		return fmt.Sprintf("(%s / %s)", a(), g.of("3", "-7", "10", "k", "100", a()))
	case 4:
		return fmt.Sprintf("(%s %% %s)", a(), g.of("3", "-4", "7", "k", a()))
	case 5:
		return fmt.Sprintf("%s(%s)", g.of("abs", "-"), a())
	case 6:
		return fmt.Sprintf("%s(%s, %s)", g.of("greatest", "least"), a(), g.of("0", "10", "50", a()))
	case 7:
		return fmt.Sprintf("coalesce(%s, %s)", a(), a())
	case 8:
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.condition(), a(), a())
	case 9:
		return fmt.Sprintf("width_bucket(%s, %s, %s)", g.of("age", "cost", "price", "rate"), g.of("0, 100", "100, 0", "-1.5, 2.25", "0.5, 5000"), g.of("1", "4", "10"))
	case 10:
		return fmt.Sprintf("extract(%s FROM %s)::integer", g.of("year", "month", "week", "dow", "isodow", "doy", "quarter", "day", "decade", "isoyear"), g.point(depth-1))
	}
	return fmt.Sprintf("(%s)::%s", g.number(depth-1), g.of("integer", "bigint", "smallint"))
}

func (g finiteKeys) number(depth int) string {
	if depth <= 0 || g.n(4) == 0 {
		return g.of("cost", "rate", "price", "part::double precision", "age", "0.1", "2.5", "1e3::double precision", "price::double precision")
	}
	a := func() string { return g.number(depth - 1) }
	switch g.n(8) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", a(), g.of("+", "-", "*"), a())
	case 2:
		return fmt.Sprintf("(%s / %s)", a(), g.of("100", "0.3", "-7", "1e3::double precision"))
	case 3:
		return fmt.Sprintf("%s(%s)", g.of("floor", "ceil", "round", "trunc", "abs", "sign"), a())
	case 4:
		return fmt.Sprintf("%s((%s)::numeric(12,3), %d)", g.of("round", "trunc"), a(), g.n(5)-1)
	case 5:
		return fmt.Sprintf("%s(%s, %s)", g.of("greatest", "least"), a(), g.of("0", "2.5", a()))
	case 6:
		return fmt.Sprintf("sqrt(%s)", a())
	}
	return "(" + g.whole(depth-1) + ")::" + g.of("numeric", "double precision", "numeric(8,1)")
}

func (g finiteKeys) point(depth int) string {
	if depth <= 0 || g.n(4) == 0 {
		return g.of("day", "seen::date", "day + 3", "few::date")
	}
	switch g.n(5) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", g.point(depth-1), g.of("+", "-"), g.of("30", "k", "flag"))
	case 1:
		return fmt.Sprintf("(%s %s INTERVAL '%s')::date", g.of("seen", "day", "few"), g.of("+", "-"), g.of("6 hours", "1 day", "1 month", "-2 days 03:00", "1 year 1 month"))
	case 2:
		return fmt.Sprintf("coalesce(%s, DATE '2025-01-01')", g.point(depth-1))
	}
	return fmt.Sprintf("date_trunc('%s', %s)%s", g.of("month", "week", "quarter", "year", "day", "decade", "hour"), g.of("seen", "few", g.point(depth-1)), g.of("::date", "::date", ""))
}

func (g finiteKeys) text(depth int) string {
	if depth <= 0 || g.n(4) == 0 {
		return g.of("dept", "'x'", "lower(dept)", "left(dept, 2)", "(age / 10)::text", "q::text")
	}
	switch g.n(6) {
	case 4:
		return fmt.Sprintf(g.of("substring(%s FROM '^([^a-z0-9]?).')", "regexp_substr(%s, '[a-z]+')", "substring(%s FROM '[0-9]*$')"), g.text(depth-1))
	case 5:
		return fmt.Sprintf(g.of(`regexp_replace(%s, '(.)(.)', '\2\\\1\&')`, "regexp_replace(%s, '[a-z]', '', 'g')", `regexp_replace(%s, '([A-Z])|([0-9])', '-', 'g')`, `regexp_replace(%s, '^.|.$', '<\&>', 'g')`), g.text(depth-1))
	case 0:
		return fmt.Sprintf("%s || %s", g.text(depth-1), g.text(depth-1))
	case 1:
		return fmt.Sprintf("%s(%s)", g.of("upper", "lower"), g.text(depth-1))
	case 2:
		return fmt.Sprintf("substring(%s, %s)", g.text(depth-1), g.of("2", "1, 2", "3, 0"))
	}
	return fmt.Sprintf("(%s)::text", g.whole(depth-1))
}

func (g finiteKeys) truth() string { return g.of("q", "flag::boolean", "age > 17", "cost < 10") }

func (g finiteKeys) condition() string {
	all := []string{
		"age " + g.of("<", ">", "<=", ">=", "=", "<>") + " " + g.of("20", "64.5", "-1", "119"),
		"cost " + g.of("<", ">", "<=", ">=") + " " + g.of("10", "99.75", "5000"),
		"price " + g.of("<", ">", "<=", ">=") + " " + g.of("1.5", "0.005", "9"),
		"seen " + g.of("<", ">", "<=", ">=") + " " + g.of("'2025-07-01'", "'2025-02-03 04:05:06'"),
		"day " + g.of("<", ">", "<=", ">=", "=") + " " + g.of("'2025-01-01'", "'2024-02-29'"),
		"k IN (-2, 3, 3, 9)", "dept IN ('ER', 'x')", "dept > 'F'", "q", "note LIKE '%3'", "open > -3000",
	}
	return strings.Join(some(draws(g), all, 1, 2), g.of(" AND ", " AND ", " OR "))
}
