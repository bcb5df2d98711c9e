//go:build cgo && unix

package release_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/stability"
)

// Columns whose declared bounds and domains conditions narrow. Each value that rows have is within them, or NULL.
var narrowColumns = []column{
	{template: template{name: "s", typ: "text", kind: textual, values: []string{"b", "a", "", "A", "ä", "a "}}, declared: `, domain = ["b", "a", "", "A", "ä", "a "]`},
	{template: template{name: "q", typ: "boolean", kind: boolean, values: []string{"false", "true"}}},
	{template: template{name: "n", typ: "smallint", kind: whole, values: []string{"-3", "0", "1", "4"}}, declared: ", lower = -3, upper = 4", bounded: true},
	{template: template{name: "i", typ: "integer", kind: whole, values: []string{"-6", "-3", "0", "3", "6", "9"}}, declared: ", lower = -6, upper = 9, step = 3", bounded: true},
	{template: template{name: "l", typ: "bigint", kind: whole, values: []string{"-1", "9007199254740992", "9007199254740993"}},
		declared: ", lower = -1, upper = 9007199254740993, domain = [-1, 9007199254740992, 9007199254740993]", bounded: true},
	{template: template{name: "d", typ: "decimal(7,2)", kind: exact, values: []string{"0.00", "0.25", "0.50", "0.75", "1.00"}}, declared: `, lower = "0.00", upper = "1.00", step = "0.25"`, bounded: true},
	{template: template{name: "m", typ: "decimal(6,1)", kind: exact, values: []string{"-1.5", "0.1", "0.2", "2.5"}}, declared: `, lower = "-1.5", upper = "2.5"`, bounded: true},
	{template: template{name: "f", typ: "double", kind: floating, values: []string{"-2", "0", "0.1", "0.3", "0.30000000000000004", "1.5", "2"}}, declared: ", lower = -2.0, upper = 2.0", bounded: true},
	{template: template{name: "g", typ: "double", kind: floating, values: []string{"-1", "0", "0.1", "0.30000000000000004", "0.5"}},
		declared: ", lower = -1.0, upper = 0.5, domain = [-1.0, 0.0, 0.1, 0.30000000000000004, 0.5]", bounded: true},
	{template: template{name: "r", typ: "real", kind: floating, values: []string{"-1", "0", "0.1", "0.3", "0.5"}}, declared: ", lower = -1.0, upper = 0.5", bounded: true},
	{template: template{name: "e", typ: "real", kind: floating, values: []string{"-1", "0", "0.1", "0.3"}}, declared: ", domain = [-1.0, 0.0, 0.1, 0.3]"},
	{template: template{name: "t", typ: "date", kind: date, values: []string{"2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01"}}, declared: `, lower = "2024-02-27", upper = "2024-03-01"`},
	{template: template{name: "z", typ: "timestamp", kind: stamp, values: []string{"2024-02-28 00:00:00", "2024-02-28 12:00:00", "2024-02-29 00:00:00"}},
		declared: `, domain = ["2024-02-28 00:00:00", "2024-02-28 12:00:00", "2024-02-29 00:00:00"]`},
	{template: template{name: "c", typ: "time", kind: clock, values: []string{"00:00:00", "12:30:00", "23:59:59.999999"}}, declared: `, domain = ["00:00:00", "12:30:00", "23:59:59.999999"]`},
}

// narrowExample has rows that each are a unit, so that no bound cuts any.
func narrowExample() *example {
	u := column{template: template{name: "u", typ: "bigint", kind: whole}}
	t := &table{name: "t0", domain: "one", bounds: "max_groups_per_unit = 1\nmax_rows_per_group = 1\n", columns: append([]column{u}, narrowColumns...)}
	x := &example{changed: "one", tables: []*table{t}, d: database{}, e: database{}}
	for n := range 90 {
		r := row{fmt.Sprint(n)}
		for i, c := range narrowColumns {
			at := (n + n/7*i + n/(i+2)) % (len(c.values) + 1) // one in so many is NULL
			if at == len(c.values) {
				r = append(r, nil)
			} else {
				r = append(r, c.values[at])
			}
		}
		x.d["t0"] = append(x.d["t0"], r)
	}
	x.e["t0"] = x.d["t0"][1:]
	x.text = x.catalog()
	return x
}

// Statements in which a condition stands at %s, with conditions that ends and types decide.
var narrowCases = [][2]string{
	{"SELECT e, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "e = 0 OR e > 0.2"},
	{"SELECT e, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "e >= 0.1"},
	{"SELECT e, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "e <= 0.1 OR e IN (0.3, 0)"},
	{"SELECT e, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "e > '0.1'::real"},
	{"SELECT e, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "e <= '0.3'::real"},
	{"SELECT g, count(*), sum(g) FROM t0 WHERE %s GROUP BY 1", "g <= 0.1 OR g >= 0.3"},
	{"SELECT g, count(*), sum(g) FROM t0 WHERE %s GROUP BY 1", "g::real > 0.1"},
	{"SELECT l, count(*), sum(l) FROM t0 WHERE %s GROUP BY 1", "l::double precision >= 9007199254740993"},
	{"SELECT l, count(*), sum(l) FROM t0 WHERE %s GROUP BY 1", "l > '9007199254740992'::double precision"},
	{"SELECT l, count(*), sum(l) FROM t0 WHERE %s GROUP BY 1", "l::real = '9007199254740992'::real OR l < 0"},
	{"SELECT l, count(*), sum(l) FROM t0 WHERE %s GROUP BY 1", "l::double precision <= '9007199254740992'::double precision"},
	{"SELECT q, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "q > false"},
	{"SELECT q, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "q <> true OR q IN (false, NULL)"},
	{"SELECT t, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "t < TIMESTAMP '2024-02-28 12:00:00'"},
	{"SELECT t, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "t::timestamp <= TIMESTAMP '2024-02-28 12:00:00'"},
	{"SELECT z, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "z <= DATE '2024-02-28'"},
	{"SELECT z, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "z = DATE '2024-02-29' OR z::date = DATE '2024-02-28'"},
	{"SELECT t, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "t IN (TIMESTAMP '2024-02-28 00:00:00', TIMESTAMP '2024-03-01 00:00:00')"},
	{"SELECT i, count(*), sum(i) FROM t0 WHERE %s GROUP BY 1", "i::smallint BETWEEN 3 AND 6 OR i::numeric(7,1) = 9.04"},
	{"SELECT d, count(*), sum(d) FROM t0 WHERE %s GROUP BY 1", "d::numeric(7,1) <= 0.3"},
	{"SELECT d, count(*), sum(d) FROM t0 WHERE %s GROUP BY 1", "d::integer = 1"},
	{"SELECT d, count(*), sum(d) FROM t0 WHERE %s GROUP BY 1", "d IN (0.25, 9) OR d >= 1"},
	{"SELECT g, count(*), sum(g) FROM t0 WHERE %s GROUP BY 1", "g IN (0.1, 9) OR g >= 0.5"},
	{"SELECT sum(CASE WHEN %s THEN i ELSE i + 1 END) FROM t0", "i < 0"},
	{"SELECT sum(CASE WHEN %s THEN i WHEN i < 6 THEN n WHEN n < 0 THEN i END) FROM t0", "i > 3"},
	{"SELECT s, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "s BETWEEN 'a' AND 'b'"},
	{"SELECT s, count(*), sum(n) FROM t0 WHERE %s GROUP BY 1", "s > 'a' AND s NOT IN ('b', 'x')"},
	{"SELECT sum(r), sum(f), sum(m) FROM t0 WHERE %s", "r >= 0.1 AND f > 0.3 AND m < 0.2"},
	{"SELECT sum(r), sum(f), sum(m) FROM t0 WHERE %s", "r <= '0.1'::real AND f <= 0.3 AND 0.1 <= m"},
}

// A narrowing draws conditions of a kind that narrow, and such as come near.
type narrowing struct{ draws }

func (g narrowing) constant(c column) string {
	switch {
	case g.one(12):
		return "NULL"
	case c.kind.number():
		v := pick(g.draws, append(slices.Clone(c.values), "0", "1", "0.1", "0.3", "2.5", "-0.0", "9007199254740992.5", "0.10000000149011612", "1e300", "40000", "0.005"))
		switch g.n(6) {
		case 0:
			return fmt.Sprintf("CAST('%s' AS %s)", v, pick(g.draws, []string{"double precision", "real", "numeric(30,20)"}))
		case 1:
			return "'" + strings.TrimSuffix(strings.TrimSuffix(v, ".5"), ".0") + "'::double precision"
		}
		return v
	case c.kind == date || c.kind == stamp:
		v := pick(g.draws, []string{"2024-02-27", "2024-02-28", "2024-02-29", "2024-02-28 12:00:00", "2024-02-28 00:00:00.000001", "2025-01-01"})
		switch g.n(3) {
		case 0:
			return "DATE '" + v[:10] + "'"
		case 1:
			return "TIMESTAMP '" + v + "'"
		}
		return "'" + v[:10] + "'"
	case c.kind == clock:
		return "TIME '" + pick(g.draws, append([]string{"12:30:00.000001"}, c.values...)) + "'"
	case c.kind == boolean:
		return pick(g.draws, []string{"true", "false"})
	}
	return "'" + pick(g.draws, append([]string{"B", "aa", "b ", "a\u0308"}, c.values...)) + "'"
}

func (g narrowing) condition(c column, depth int) string {
	x := c.name
	if g.one(6) {
		switch {
		case c.kind.number():
			x += "::" + pick(g.draws, []string{"double precision", "real", "numeric(30,10)", "integer", "bigint", "smallint", "numeric(7,1)"})
		case c.kind == date:
			x += "::timestamp"
		case c.kind == stamp:
			x += "::date"
		}
	}
	again := func() string { return g.condition(c, depth-1) }
	if depth > 0 {
		switch g.n(9) {
		case 0, 1:
			return "(" + again() + " AND " + again() + ")"
		case 2, 3:
			return "(" + again() + " OR " + again() + ")"
		case 4:
			return fmt.Sprintf(pick(g.draws, []string{"(%s OR %s)", "(%s AND NOT (%s))"}), again(), g.condition(pick(g.draws, narrowColumns), 0))
		}
	}
	switch g.n(14) {
	case 0:
		return fmt.Sprintf("%s IN (%s, %s, %s)", x, g.constant(c), g.constant(c), g.constant(c))
	case 1:
		return fmt.Sprintf("%s NOT IN (%s, %s)", x, g.constant(c), g.constant(c))
	case 2:
		return fmt.Sprintf("%s %sBETWEEN %s AND %s", x, pick(g.draws, []string{"", "NOT "}), g.constant(c), g.constant(c))
	case 3:
		return fmt.Sprintf("%s IS %sDISTINCT FROM %s", x, pick(g.draws, []string{"", "NOT "}), g.constant(c))
	case 4:
		if c.kind == boolean {
			return x
		}
		return x + " IS NOT NULL"
	}
	op := pick(g.draws, []string{"=", "<>", "<", "<=", ">", ">="})
	if g.one(4) {
		return fmt.Sprintf("%s %s %s", g.constant(c), op, x)
	}
	return fmt.Sprintf("%s %s %s", x, op, g.constant(c))
}

// statement is one in which %s is a condition.
func (g narrowing) statement() (form, condition string) {
	on := pick(g.draws, narrowColumns)
	key, number := on, on
	if g.one(5) {
		key = pick(g.draws, narrowColumns)
	}
	if bounded := slices.DeleteFunc(slices.Clone(narrowColumns), func(c column) bool { return !c.bounded }); !on.bounded || g.one(5) {
		number = pick(g.draws, bounded)
	}
	by, of := key.name, number.name
	switch {
	case g.one(5) && key.kind == textual:
		by = "upper(" + by + ")"
	case g.one(5) && key.kind == whole:
		by += pick(g.draws, []string{" / 2", " + 1", "::text"})
	case g.one(5) && key.kind == date:
		by = "extract(day FROM " + by + ")"
	}
	switch g.n(4) {
	case 0:
		of = fmt.Sprintf("CASE WHEN %%[1]s THEN %s ELSE 1 END", of)
	case 1:
		of += pick(g.draws, []string{" * 2", " - 1", "::numeric(20,3)"})
	}
	condition = g.condition(on, 2)
	return fmt.Sprintf(pick(g.draws, []string{
		"SELECT %[1]s, count(*), sum(%[2]s) FROM t0 WHERE %%[1]s GROUP BY 1",
		"SELECT %[1]s, count(*), sum(%[2]s) FROM (SELECT * FROM t0 WHERE %%[1]s) AS v GROUP BY 1",
		"SELECT %[1]s, count(*) FILTER (WHERE %%[1]s), sum(%[2]s) FILTER (WHERE %%[1]s) FROM t0 GROUP BY 1",
		"SELECT %[1]s, count(*), sum(%[2]s) FROM t0 AS a LEFT JOIN (SELECT u AS w, count(*) AS o FROM t0 WHERE %%[1]s GROUP BY u) AS b ON a.u = b.w GROUP BY 1",
		"SELECT k, count(*), sum(o) FROM (SELECT a.u, b.k, b.o FROM t0 AS a LEFT JOIN (SELECT u, %[1]s AS k, %[2]s AS o FROM t0 WHERE %%[1]s) AS b ON a.u = b.u) AS c GROUP BY 1",
		"SELECT k, count(*), sum(o) FROM (SELECT u, %[1]s AS k, %[2]s AS o FROM t0 WHERE %%[1]s UNION ALL SELECT u, %[1]s, %[2]s FROM t0 WHERE NOT (%%[1]s)) AS c GROUP BY 1",
	}), by, of), condition
}

// TestConditionsLeaveRowsAsTheyAre holds what conditions narrow against what DuckDB makes of them: see leavesRows and excludesRows.
func TestConditionsLeaveRowsAsTheyAre(t *testing.T) {
	t.Parallel()
	m, x := newMachines(t), narrowExample()
	if err := m.load(t.Context(), x, pipeline{}); err != nil {
		t.Fatal(err)
	}
	exact := func(r *stability.Release) (groups, error) {
		_, q, _, err := pipeline{}.query(r, nil)
		if err != nil {
			return nil, err
		}
		return exactGroups(t.Context(), m.plain, "d", q, agreedSalt, 0, 1)
	}
	leavesRows(t, x, soak(200, 20_000), exact)
	excludesRows(t, x, soak(1000, 20_000), exact)
}

// leavesRows wants of an engine that an answer has the groups and the values that it has where nothing is narrowed, since the same condition
// stands in a CASE there. So no analysis believes of a comparison what the engine does not compute.
func leavesRows(t *testing.T, x *example, many int, exact func(*stability.Release) (groups, error)) {
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		t.Fatal(err)
	}
	accepted, narrowed := 0, 0
	for n := range len(narrowCases) + many {
		form, condition := narrowing{}.drawn(n - len(narrowCases))
		var certified [2]*stability.Release
		var results [2]groups
		for i, c := range []string{"(" + condition + ")", "(CASE WHEN u IS NOT NULL THEN " + condition + " END)"} {
			statement := fmt.Sprintf(form, c)
			certificate, err := certify(statement, cat)
			if _, refused := errors.AsType[*diagnostic.Diagnostic](err); refused {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			r := certificate.Releases[0]
			if results[i], err = exact(r); lacks(err) {
				break
			}
			if err != nil {
				t.Fatalf("%s\n%v", statement, err)
			}
			certified[i] = r
		}
		if certified[0] == nil || certified[1] == nil || certified[0].Private || certified[1].Private {
			continue
		}
		accepted++
		if within(certified[0]) != within(certified[1]) {
			narrowed++
		}
		if why := sameNumbers(certified, results); why != "" {
			t.Errorf("%d: %s: %s", n, fmt.Sprintf(form, "("+condition+")"), why)
		}
	}
	t.Logf("%d accepted, %d narrowed", accepted, narrowed)
	if narrowed*6 < accepted || accepted < many/2 {
		t.Errorf("of %d statements, %d accepted, %d are narrowed: the test is weak", many, accepted, narrowed)
	}
}

// excludesRows wants that an engine finds no row which meets two conditions that are said to exclude each other: a cost is shared by that.
func excludesRows(t *testing.T, x *example, many int, exact func(*stability.Release) (groups, error)) {
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		t.Fatal(err)
	}
	excluded, met := 0, 0
	for n := range many {
		drawn := rapid.Custom(func(t *rapid.T) [2]string {
			g := narrowing{draws{t}}
			on := pick(g.draws, narrowColumns[:len(narrowColumns)-1])
			if g.one(3) { // that meet at a constant
				at, ends := g.constant(on), []string{"<", "<=", "=", ">=", ">"}
				return [2]string{on.name + " " + pick(g.draws, ends) + " " + at, on.name + " " + pick(g.draws, ends) + " " + at}
			}
			a := g.condition(on, 1)
			return [2]string{a, pick(g.draws, []string{g.condition(on, 1), g.condition(on, 0), "NOT (" + a + ")"})}
		}).Example(n)
		statement := fmt.Sprintf("SELECT count(*) FILTER (WHERE (%[1]s) AND (%[2]s)), count(*) FILTER (WHERE %[1]s), sum((%[2]s)::int) FROM t0", drawn[0], drawn[1])
		certificate, err := certify(statement, cat)
		if _, refused := errors.AsType[*diagnostic.Diagnostic](err); refused {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := certificate.Releases[0]
		said := slices.ContainsFunc(r.Exclusive, func(set []int) bool {
			return slices.Contains(set, r.Aggregates[1].Components[0]) && slices.Contains(set, r.Aggregates[2].Components[0])
		})
		if !said {
			continue
		}
		found, err := exact(r)
		if lacks(err) {
			continue
		}
		if err != nil {
			t.Fatalf("%s\n%v", statement, err)
		}
		excluded++
		for _, g := range found {
			if g.values[r.Aggregates[0].Components[0]].Sign() != 0 {
				t.Errorf("%s and %s exclude each other, but not of %v rows", drawn[0], drawn[1], g.values[r.Aggregates[0].Components[0]])
			}
			if g.values[r.Aggregates[1].Components[0]].Sign() != 0 {
				met++
			}
		}
	}
	t.Logf("of %d pairs of conditions %d exclude each other, and %d have rows", many, excluded, met)
	if met*20 < many {
		t.Error("the test is weak")
	}
}

// drawn is a statement and its condition, by number; those below 0 are narrowCases.
func (narrowing) drawn(n int) (form, condition string) {
	if n < 0 {
		last := narrowCases[-n-1]
		return last[0], last[1]
	}
	drawn := rapid.Custom(func(t *rapid.T) [2]string {
		form, condition := narrowing{draws{t}}.statement()
		return [2]string{form, condition}
	}).Example(n)
	return drawn[0], drawn[1]
}

// within is what a release's values are clamped to, and how many groups it has.
func within(r *stability.Release) (words string) {
	for _, c := range r.Components {
		words += fmt.Sprintln(c.LowerUnits, c.UpperUnits, c.Grid)
	}
	cells := int64(0)
	for _, k := range r.Keys {
		for _, d := range k.Domain {
			size, _ := d.Size()
			cells += size
		}
	}
	return words + fmt.Sprintln(cells)
}

// sameNumbers compares the numbers of groups, each on its grid: groups without rows are 0.
func sameNumbers(of [2]*stability.Release, results [2]groups) string {
	keys := map[string]bool{}
	for _, g := range results {
		for key := range g {
			keys[key] = true
		}
	}
	for key := range keys {
		for j, g := range of[0].Aggregates {
			var numbers [2]*big.Rat
			off := new(big.Rat)
			for i, r := range of {
				at := r.Aggregates[j].Components[0]
				numbers[i] = new(big.Rat)
				if row, there := results[i][key]; there {
					numbers[i].Mul(new(big.Rat).SetInt(row.values[at]), r.Components[at].Grid)
				}
				if g.Type.IsFloat() { // rows are rounded to different grids
					off.Add(off, new(big.Rat).Mul(r.Components[at].Grid, big.NewRat(90, 1)))
				}
			}
			if d := new(big.Rat).Sub(numbers[0], numbers[1]); d.Abs(d).Cmp(off) > 0 {
				return fmt.Sprintf("%s of group %s is %s, and %s where nothing is narrowed", g.Function, key, numbers[0].FloatString(12), numbers[1].FloatString(12))
			}
		}
	}
	return ""
}
