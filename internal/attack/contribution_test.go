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
)

// hoarder is rows of one unit: n in one city, or n names over all cities.
func hoarder(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "999,%s,hoard%d,100,10,50,%d,2026-01-01,2026-01-01 00:00:00,1000\n", []string{"Bonn", "Kiel", "Ulm"}[i%3], i, i)
	}
	return b.String()
}

func TestC1UnitWithManyRows(t *testing.T) {
	for name, rows := range map[string]string{
		"many groups": hoarder(3_000), "one group": strings.Repeat("999,Bonn,hoard,100,10,50,1,2026-01-01,2026-01-01 00:00:00,1000\n", 3_000),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, visits(largePure), files{"visits.csv": crowd(20)}, files{"visits.csv": crowd(20) + rows})
			for sql, bound := range map[string]float64{
				"SELECT count(*) FROM visits":                                                                  3,
				"SELECT count(*) FROM visits GROUP BY city":                                                    6,
				"SELECT sum(cost) FROM visits":                                                                 30,
				"SELECT sum(cost) FROM visits GROUP BY city":                                                   60,
				"SELECT sum(paid) FROM visits":                                                                 20,
				"SELECT sum(paid) FROM visits GROUP BY city":                                                   40,
				"SELECT sum(paid * 1) FROM visits GROUP BY city":                                               6000,
				"SELECT sum(fee) FROM visits GROUP BY city":                                                    300,
				"SELECT count(DISTINCT score) FROM visits":                                                     3,
				"SELECT count(DISTINCT person) FROM visits":                                                    1,
				"SELECT count(DISTINCT person) FROM visits GROUP BY city":                                      2,
				"SELECT sum(age) FILTER (WHERE city = 'Bonn') FROM visits":                                     300,
				"SELECT count(*) FROM (SELECT person, name FROM visits GROUP BY person, name) AS s":            3,
				"SELECT sum(least(n, 7)) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) AS s": 7,
				"SELECT count(*) FROM visits GROUP BY extract(month FROM day)":                                 6,
			} {
				p.within(t, sql, bound)
			}
			p.indistinguishable(t, nil, "SELECT city, count(*), sum(cost), avg(age), count(DISTINCT name) FROM visits GROUP BY city")
		})
	}
}

func TestC2UnitsThatAreNullOrAlmostEqual(t *testing.T) {
	p := newPair(t, visits(largePure), files{"visits.csv": crowd(20)}, files{"visits.csv": crowd(20) +
		strings.Repeat(",Bonn,null,100,10,50,1,2026-01-01,2026-01-01 00:00:00,1000\n", 500) + "x,Bonn,null,1,1,1,1,,,1\n1.5e400,Bonn,null,1,1,1,1,,,1\n"})
	for _, sql := range []string{
		"SELECT count(*) FROM visits", "SELECT sum(cost) FROM visits GROUP BY city", "SELECT count(*) FROM visits WHERE person IS NULL", "SELECT count(*) FROM visits GROUP BY person IS NULL",
		"SELECT count(DISTINCT person) FROM visits", "SELECT sum(least(n, 5)) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) AS s",
		"SELECT count(*) FROM (SELECT coalesce(person, 1) AS p FROM visits) AS s", "SELECT count(*) FROM visits AS a FULL JOIN visits AS b ON a.person = b.person",
		"SELECT count(*) FROM visits WHERE person NOT IN (SELECT person FROM visits WHERE false)",
	} {
		if got := p.apart(t, sql); got > 1 {
			t.Errorf("%s: rows of nobody move it by %v", sql, got)
		}
		p.indistinguishable(t, nil, sql)
	}
	// Texts that only look alike are units of their own, each bounded.
	text := strings.Replace(strings.Replace(visits(largePure), `person = { type = "bigint" }`, `person = { type = "text" }`, 1), "max_rows_per_group = 3", "max_rows_per_group = 1", 1)
	for _, name := range []string{"anna", "Anna", "\"anna \"", "\" anna\"", "\"\"", "ann\u0061\u0301", "annа", "\"anna\x01\"", "1", "01", "1.0"} {
		base := crowd(5)
		row := name + ",Bonn,a,1,1,1,1,,,1\n"
		w := newPair(t, text, files{"visits.csv": base}, files{"visits.csv": base + strings.Repeat(row, 50)})
		want := 1.0
		if name == "1" {
			want = 0 // a person of the crowd, who fills the bound already
		}
		if got := w.apart(t, "SELECT count(*) FROM visits"); math.Abs(got-want) > 0.1 {
			t.Errorf("unit %q: 50 rows move the count by %v, want %v", name, got, want)
		}
	}
}

// household is a catalog of two private tables and a public one.
func household(domain string) string {
	return visits(domain) + `
[tables.bills]
source = "bills.csv"
domain = "person"
unit = "payer"
max_groups_per_unit = 3
max_rows_per_group = 2
[tables.bills.columns]
payer = { type = "integer" }
city = { type = "text" }
amount = { type = "integer", lower = 0, upper = 9 }
[tables.notes]
source = "notes.csv"
domain = "person"
unit = { column = "payer", references = "bills.payer" }
max_groups_per_unit = 1
max_rows_per_group = 2
[tables.notes.columns]
payer = { type = "bigint" }
stars = { type = "integer", lower = 0, upper = 5 }
[tables.towns]
source = "towns.csv"
public = true
[tables.towns.columns]
name = { type = "text" }
land = { type = "text" }
size = { type = "integer" }
`
}

const billsHeader, notesHeader = "payer,city,amount\n", "payer,stars\n"

// towns lists a town many times: a join fans out.
var towns = "name,land,size\n" + strings.Repeat("Bonn,NRW,3\n", 40) + "Kiel,SH,2\nUlm,BW,1\n"

// households opens D, and D' with rows of person 999 in all tables.
func households(t testing.TB, domain string) *pair {
	t.Helper()
	var bills, notes strings.Builder
	bills.WriteString(billsHeader)
	notes.WriteString(notesHeader)
	for i := range 30 { // some in visits, some not
		fmt.Fprintf(&bills, "%d,%s,%d\n%d,Bonn,1\n", i, []string{"Bonn", "Kiel", "Ulm"}[i%3], i%10, i)
		fmt.Fprintf(&notes, "%d,%d\n", i, i%6)
	}
	notes.WriteString("555,5\n,5\n") // a deleted parent, and none
	more := strings.Repeat("999,Bonn,9\n999,Ulm,9\n999,Kiel,9\n", 20)
	return newPair(t, household(domain),
		files{"visits.csv": crowd(20), "bills.csv": bills.String(), "notes.csv": notes.String(), "towns.csv": towns},
		files{"visits.csv": crowd(20) + hoarder(60), "bills.csv": bills.String() + more, "notes.csv": notes.String() + strings.Repeat("999,5\n", 40), "towns.csv": towns})
}

func TestC3JoinsThatMultiplyAUnit(t *testing.T) {
	p := households(t, largePure)
	for sql, bound := range map[string]float64{
		"SELECT count(*) FROM visits AS a JOIN visits AS b ON a.person = b.person":                                                                                          9,
		"SELECT count(*) FROM visits AS a JOIN visits AS b USING (person) JOIN visits AS c USING (person)":                                                                  27,
		"SELECT count(*) FROM visits JOIN bills ON person = payer":                                                                                                          6,
		"SELECT sum(amount) FROM visits, bills WHERE person = payer":                                                                                                        54,
		"SELECT count(*) FROM visits JOIN towns ON city = towns.name":                                                                                                       3,
		"SELECT count(*) FROM visits JOIN towns ON city = towns.name GROUP BY land":                                                                                         6,
		"SELECT count(*) FROM visits CROSS JOIN towns":                                                                                                                      3,
		"SELECT count(size) FILTER (WHERE size > 0) FROM (SELECT person, size FROM visits CROSS JOIN towns) AS s":                                                           3,
		"SELECT count(*) FROM visits CROSS JOIN (VALUES (1), (2), (3), (4)) AS v(x)":                                                                                        3,
		"SELECT sum(n) FROM (SELECT x, count(*) AS n FROM visits CROSS JOIN (VALUES (1), (2), (3), (4)) AS v(x) GROUP BY x) AS s":                                           6, // which groups are kept, is chosen anew each time
		"SELECT count(*) FROM notes JOIN bills ON notes.payer = bills.payer":                                                                                                4,
		"SELECT count(DISTINCT a.person) FROM visits AS a JOIN visits AS b ON a.person = b.person":                                                                          1,
		"SELECT count(*) FROM visits AS a FULL JOIN bills AS b ON a.person = b.payer":                                                                                       6,
		"SELECT count(*) FROM visits AS a LEFT JOIN visits AS b ON a.person = b.person AND a.cost < b.cost":                                                                 9,
		"SELECT count(*) FROM visits AS a, LATERAL (SELECT * FROM visits AS b WHERE b.person = a.person) AS l":                                                              9,
		"SELECT count(*) FROM visits AS a LEFT JOIN LATERAL (SELECT count(*) AS n FROM visits AS b WHERE b.person = a.person AND b.city = a.city) AS l ON true WHERE n < 9": 9,
	} {
		p.within(t, sql, bound)
	}
	for _, sql := range []string{
		"SELECT count(*) FROM visits AS a JOIN visits AS b ON a.city = b.city", "SELECT count(*) FROM visits AS a, visits AS b", "SELECT count(*) FROM visits AS a CROSS JOIN visits AS b",
		"SELECT count(*) FROM visits AS a JOIN bills AS b ON a.city = b.city", "SELECT count(*) FROM visits AS a JOIN bills AS b ON a.person = b.payer + 1",
		"SELECT count(*) FROM visits AS a JOIN bills AS b ON a.person = b.payer OR true", "SELECT count(*) FROM visits AS a JOIN visits AS b ON a.person = a.person",
		"SELECT count(*) FROM visits AS a JOIN visits AS b ON a.person <= b.person", "SELECT count(*) FROM visits AS a NATURAL JOIN bills AS b",
		"SELECT count(*) FROM visits AS a, LATERAL (SELECT * FROM visits AS b WHERE b.city = a.city) AS l",
	} {
		p.d.refused(t, sql)
	}
}

func TestC4PublicByDeclarationAlone(t *testing.T) {
	undeclared := strings.Replace(visits(largePure), "domain = \"person\"\n", "", 1)
	if _, err := catalog.Parse("c.toml", undeclared); err == nil {
		t.Error("a table that is neither public nor of a domain is admitted")
	}
	both := visits(largePure) + "\n[tables.copy]\nsource = \"visits.csv\"\npublic = true\n[tables.copy.columns]\nname = { type = \"text\" }\n"
	if _, err := catalog.Parse("c.toml", both); err == nil {
		t.Error("a private table's source is admitted as public")
	}
	p := neighbours(t, largePure, odd)
	for _, sql := range []string{"SELECT * FROM visits", "SELECT name FROM visits", "SELECT city FROM visits LIMIT 1", "SELECT DISTINCT name FROM visits", "SELECT 1 FROM visits", "TABLE visits", "SELECT person, count(*) FROM visits GROUP BY person"} {
		p.d.refused(t, sql)
	}
}

func TestC5NamingOnePerson(t *testing.T) {
	p := neighbours(t, largePure, "999,Bonn,john,1,1,1,1,2026-01-01,,1", "999,Ulm,john,1,1,1,1,2026-01-01,,1")
	statements := []string{
		"SELECT count(*) FROM visits JOIN (VALUES ('john')) AS v(name) USING (name)", "SELECT count(*) FROM visits WHERE name IN ('john')", "SELECT count(*) FROM visits WHERE person = 999",
		"WITH v AS (SELECT 'john' AS name) SELECT count(*) FROM visits JOIN v ON visits.name = v.name", "SELECT count(*) FILTER (WHERE name = 'john') FROM visits",
		"SELECT count(*) FROM visits WHERE name = 'john' AND EXISTS (SELECT 1 FROM (VALUES (1)) AS v(x))", "SELECT count(DISTINCT person) FROM visits WHERE name = 'john'",
		"SELECT avg(cost) FROM visits WHERE name = 'john'", "SELECT n > 0 FROM (SELECT count(*) AS n FROM visits WHERE name = 'john') AS s", "SELECT k, count(*) FROM (SELECT CASE WHEN name = 'john' THEN 'j' ELSE 'o' END AS k FROM visits) AS s GROUP BY k",
	}
	p.indistinguishable(t, nil, statements...)
	for _, sql := range statements {
		if a := p.d.ask(t, sql, nil); a.Cost.Epsilon.Float64() != 1 || len(a.Mechanisms) == 0 {
			t.Errorf("%s: cost %v", sql, a.Cost)
		}
	}
}

func TestC6PresenceOfUnmatchedRows(t *testing.T) {
	p := households(t, largePure)
	for _, sql := range []string{
		"SELECT count(*) FROM towns LEFT JOIN visits ON towns.name = city", "SELECT towns.name FROM towns LEFT JOIN visits ON towns.name = city WHERE person IS NULL",
		"SELECT count(*) FROM visits RIGHT JOIN towns ON towns.name = city", "SELECT count(*) FROM visits FULL JOIN towns ON towns.name = city",
		"SELECT name FROM towns WHERE name NOT IN (SELECT city FROM visits)", "SELECT name FROM towns WHERE EXISTS (SELECT 1 FROM visits WHERE city = towns.name)", "SELECT count(*) FROM towns WHERE name IN (SELECT city FROM visits)",
		"SELECT count(*) FROM visits WHERE city IN (SELECT city FROM bills)", "SELECT count(*) FROM visits WHERE city NOT IN (SELECT city FROM bills WHERE city IS NOT NULL)",
		"SELECT count(*) FROM visits WHERE EXISTS (SELECT 1 FROM bills WHERE amount = 9)", "SELECT count(*) FROM visits WHERE NOT EXISTS (SELECT 1 FROM bills)",
		"SELECT count(*) FROM visits AS v WHERE EXISTS (SELECT 1 FROM bills WHERE bills.payer <> v.person)", "SELECT count(*) FROM visits WHERE person NOT IN (SELECT amount FROM bills)",
		"SELECT (SELECT city FROM visits WHERE person = 1)", "SELECT count(*), (SELECT cost FROM visits LIMIT 1) FROM bills",
		"SELECT city FROM visits EXCEPT SELECT city FROM bills", "SELECT count(*) FROM (SELECT city FROM visits EXCEPT SELECT city FROM bills) AS s", "SELECT count(*) FROM towns WHERE size > ALL (SELECT age FROM visits)",
		"SELECT count(*) FROM visits WHERE age = ANY (SELECT amount FROM bills)", "SELECT exists(SELECT 1 FROM visits)", "SELECT CASE WHEN EXISTS (SELECT 1 FROM visits WHERE name = 'x') THEN 1 END",
	} {
		p.d.refused(t, sql)
	}
	allowed := []string{
		"SELECT count(*) FROM visits LEFT JOIN bills ON person = payer WHERE payer IS NULL", "SELECT count(*) FROM visits WHERE person NOT IN (SELECT payer FROM bills)",
		"SELECT count(*) FROM visits WHERE person IN (SELECT payer FROM bills WHERE amount = 9)", "SELECT count(*) FROM visits AS v WHERE NOT EXISTS (SELECT 1 FROM bills WHERE payer = v.person)",
		"SELECT count(*) FROM visits LEFT JOIN towns ON city = towns.name AND size > 2", "SELECT count(*) FROM visits WHERE city NOT IN (SELECT name FROM towns WHERE size = 3)",
		"SELECT count(*) FROM visits FULL JOIN bills ON person = payer WHERE person IS NULL OR payer IS NULL",
		"SELECT count(*) FROM (SELECT person FROM visits EXCEPT SELECT payer FROM bills) AS s",
	}
	p.indistinguishable(t, nil, allowed...)
	// What is released first is no private row: noisy, and paid for.
	p.indistinguishable(t, nil, "SELECT count(*) FROM visits WHERE cost > (SELECT avg(amount) FROM bills)", "SELECT count(*) FROM visits WHERE city IN (SELECT city FROM visits GROUP BY city HAVING count(*) > 2)")
	for _, sql := range allowed {
		p.within(t, sql, 6)
	}
}

func TestC7ForeignKeyPaths(t *testing.T) {
	p := households(t, largePure)
	// bills.payer is not unique: a note is copied for each bill of its payer,
	// within the payer's bounds.
	p.within(t, "SELECT count(*) FROM notes", 2)
	p.within(t, "SELECT sum(stars) FROM notes", 10)
	p.within(t, "SELECT count(*) FROM notes JOIN bills ON notes.payer = bills.payer GROUP BY amount < 5", 12)
	p.indistinguishable(t, nil, "SELECT count(*) FROM notes", "SELECT count(*) FROM notes GROUP BY stars = 1")
	// Notes of nobody, or of somebody who is not there, count for nobody.
	base := files{"visits.csv": crowd(5), "bills.csv": billsHeader + "1,Bonn,1\n", "notes.csv": notesHeader + "1,1\n", "towns.csv": towns}
	more := files{"visits.csv": crowd(5), "bills.csv": base["bills.csv"], "notes.csv": notesHeader + "1,1\n" + strings.Repeat("777,5\n,5\nx,5\n", 50), "towns.csv": towns}
	orphans := newPair(t, household(largePure), base, more)
	for _, sql := range []string{"SELECT count(*) FROM notes", "SELECT sum(stars) FROM notes", "SELECT count(*) FROM notes LEFT JOIN bills ON notes.payer = bills.payer"} {
		if got := orphans.apart(t, sql); got > 1 {
			t.Errorf("%s: notes of nobody move it by %v", sql, got)
		}
	}
	for name, references := range map[string]string{
		"a circle": `{ column = "payer", references = "notes.payer" }`, "a public parent": `{ column = "payer", references = "towns.size" }`, "nothing": `{ column = "payer", references = "nowhere.id" }`,
		"an undeclared column": `{ column = "payer", references = "bills.secret" }`, "another type": `{ column = "payer", references = "bills.city" }`,
	} {
		text := strings.Replace(household(largePure), `{ column = "payer", references = "bills.payer" }`, references, 1)
		if _, err := catalog.Parse("c.toml", text); err == nil {
			t.Errorf("a path to %s is admitted", name)
		}
	}
}

// all is n people with a visit to each city.
func all(n int) string {
	var b strings.Builder
	for person := range n {
		for _, city := range []string{"Bonn", "Kiel", "Ulm"} {
			fmt.Fprintf(&b, "%d,%s,a,1,1,1,1,,,1\n", person, city)
		}
	}
	return b.String()
}

func TestC8ChoiceOfKeptRows(t *testing.T) {
	long(t)
	// Ten rows of which three are kept: which, changes from query to query, but
	// not with the order of the file, the threads, or who else is there.
	rows := make([]string, 0, 100)
	for person := range 10 {
		for i := range 10 {
			rows = append(rows, fmt.Sprintf("%d,Bonn,a,%d,%d,1,%d,,,1", person, i, i, i))
		}
	}
	w := newWorld(t, visits(largePure), files{"visits.csv": visitsHeader + strings.Join(rows, "\n") + "\n"})
	seen := map[float64]bool{}
	for range 20 {
		seen[math.Round(w.measure(t, "SELECT sum(cost) FROM visits")[0])] = true
	}
	if len(seen) < 3 { // 30 of 100 values, afresh each time
		t.Errorf("the kept rows' sum takes the values %v: they are chosen without a fresh salt", seen)
	}
	for _, text := range must(w.Explain(context.Background(), "SELECT sum(cost) FROM visits", nil)).EngineSQL {
		if !strings.Contains(text, "$salt") {
			t.Errorf("no salt in %s", text)
		}
	}
	// Over salts all rows are kept equally often, and so are all groups. 3,000
	// draws from 0..9 have a mean with a standard error of 0.053.
	total := 0.0
	for range 100 {
		total += w.measure(t, "SELECT sum(cost) FROM visits")[0] / 30
	}
	if mean := total / 100; math.Abs(mean-4.5) > 0.33 {
		t.Errorf("the kept values have mean %v, want 4.5", mean)
	}
	everywhere := newWorld(t, visits(largePure), files{"visits.csv": visitsHeader + all(100)})
	kept := make([]float64, 3)
	for range 30 {
		for i, n := range everywhere.measure(t, "SELECT count(*) FROM visits GROUP BY city") {
			kept[i] += n / 3000
		}
	}
	for _, share := range kept { // two of three: a standard error of 0.0086
		if math.Abs(share-2./3) > 0.055 {
			t.Errorf("of three groups those kept are %v, want two thirds each", kept)
		}
	}
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	shuffled := newWorld(t, visits(largePure), files{"visits.csv": visitsHeader + strings.Join(rows, "\n") + "\n"})
	if got := shuffled.measure(t, "SELECT count(*) FROM visits")[0]; math.Abs(got-30) > 0.5 {
		t.Errorf("shuffled: %v rows kept, want 30", got)
	}
}

func TestC9LimitsBelowTheAggregation(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(5)})
	for _, inner := range []string{
		"SELECT * FROM visits LIMIT 10", "SELECT * FROM visits ORDER BY cost LIMIT 10", "SELECT * FROM visits OFFSET 5", "SELECT * FROM visits FETCH FIRST 3 ROWS ONLY", "SELECT * FROM visits ORDER BY cost FETCH FIRST 3 ROWS WITH TIES",
		"SELECT DISTINCT ON (city) * FROM visits ORDER BY city, cost", "SELECT * FROM visits TABLESAMPLE BERNOULLI (10)", "(SELECT * FROM visits LIMIT 5) UNION ALL (SELECT * FROM visits LIMIT 5)", "SELECT * FROM visits LIMIT 0", "SELECT * FROM visits FOR UPDATE",
	} {
		w.refused(t, "SELECT count(*) FROM ("+inner+") AS s")
		w.refused(t, "WITH s AS ("+inner+") SELECT sum(cost) FROM s")
	}
	// An order alone means nothing, and is no refusal.
	w.ask(t, "SELECT count(*) FROM (SELECT * FROM visits ORDER BY cost) AS s", nil)
}

func TestC10RawAggregatesAsFilters(t *testing.T) {
	p := neighbours(t, largePure, odd)
	for _, sql := range []string{
		"SELECT city, count(*) FROM visits GROUP BY city HAVING bool_or(cost > 5)", "SELECT count(*) FROM visits HAVING max(name) > 'a'", "SELECT sum(sum(cost)) FROM visits",
		"SELECT count(*) FROM visits WHERE cost = max(cost)", "SELECT city, count(*) FROM visits GROUP BY city QUALIFY rank() OVER (ORDER BY count(*)) = 1",
		"SELECT city FROM visits GROUP BY city, person HAVING count(*) > 1",
		"SELECT sum(cost) + max(score) FROM visits", "SELECT count(*) FROM visits GROUP BY (SELECT count(*) FROM visits)", "SELECT max(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) AS s",
	} {
		p.d.refused(t, sql)
	}
	// A filter by a unit's own rows is that unit's own: it moves what it did.
	p.within(t, "SELECT count(*) FROM visits AS v WHERE (SELECT count(*) FROM visits AS w WHERE w.person = v.person) > 1", 3)
	// What HAVING sees is noisy, and paid for, and so is what another release depends on.
	for _, sql := range []string{
		"SELECT count(*) FROM visits WHERE cost > (SELECT max(cost) FROM visits)", "SELECT count(*) FILTER (WHERE cost > (SELECT avg(cost) FROM visits)) FROM visits",
		"SELECT count(*) FROM visits, (SELECT count(*) AS n FROM visits) AS s WHERE cost > n", "SELECT count(*) FROM visits AS v WHERE (SELECT count(*) FROM visits AS w WHERE w.city = v.city) > 1",
		"SELECT count(*) FROM visits AS v, LATERAL (SELECT count(*) AS n FROM visits AS w WHERE w.city = v.city) AS l WHERE n > 1",
		"SELECT city, count(*) FROM visits GROUP BY city HAVING sum(cost) > -1000000000", "SELECT city FROM visits GROUP BY city HAVING count(*) > -1000000000", "SELECT city FROM visits GROUP BY city HAVING max(cost) >= 0 AND min(cost) >= 0", "SELECT 1 FROM visits HAVING count(*) > -1000000000"} {
		p.indistinguishable(t, nil, sql)
		if a := must(p.d.Explain(context.Background(), sql, nil)); len(a.Mechanisms) == 0 || a.Cost.Epsilon.Float64() != 1 {
			t.Errorf("%s: filtered by what was not paid for: %+v", sql, a.Mechanisms)
		}
	}
}

func TestC11RecursionAndSetOperations(t *testing.T) {
	p := neighbours(t, largePure, hoarder(100))
	for _, sql := range []string{
		"WITH RECURSIVE r AS (SELECT person, 1 AS n FROM visits UNION ALL SELECT person, n + 1 FROM r WHERE n < 10) SELECT count(*) FROM r", "SELECT count(*) FROM (SELECT city FROM visits INTERSECT SELECT city FROM visits) AS s",
		"SELECT count(*) FROM (SELECT city FROM visits EXCEPT ALL SELECT city FROM visits) AS s", "SELECT city FROM visits UNION SELECT 'x'", "SELECT count(*) FROM (SELECT city FROM visits UNION ALL SELECT 'Bonn') AS s",
		"SELECT city FROM visits UNION ALL SELECT city FROM visits", "SELECT count(*) FROM (SELECT count(*) AS n FROM visits UNION ALL SELECT score FROM visits) AS s",
	} {
		p.d.refused(t, sql)
	}
	twice := "SELECT * FROM visits UNION ALL SELECT * FROM visits"
	p.within(t, "SELECT count(*) FROM ("+twice+") AS s", 6)
	p.within(t, "SELECT sum(cost) FROM ("+twice+" UNION ALL SELECT * FROM visits) AS s", 90)
	p.within(t, "SELECT count(DISTINCT person) FROM ("+twice+") AS s", 1)
	p.within(t, "SELECT count(*) FROM (SELECT person FROM visits INTERSECT SELECT person FROM visits WHERE cost > 2) AS s", 1)
	p.within(t, "SELECT count(*) FROM (SELECT person FROM visits EXCEPT SELECT person FROM visits WHERE cost > 2) AS s", 1)
	p.within(t, "SELECT count(*) FROM (SELECT person, city FROM visits UNION SELECT person, city FROM visits) AS s", 6)
	// Two releases, each paid for.
	if a := p.d.ask(t, "SELECT count(*) FROM visits UNION ALL SELECT count(*) + 1 FROM visits WHERE true OR cost > 1", nil); len(a.Mechanisms) != 2 || a.Cost.Epsilon.Float64() != 1 {
		t.Errorf("two releases: %+v, cost %v", a.Mechanisms, a.Cost)
	}
}

func TestC12ViewsMacrosAndTableFunctions(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(5)})
	for _, sql := range []string{
		"CREATE VIEW v AS SELECT * FROM visits", "CREATE MACRO f(x) AS x", "CREATE FUNCTION f() RETURNS int AS 'SELECT 1' LANGUAGE sql", "CREATE TABLE t AS SELECT * FROM visits", "CREATE TEMP TABLE t (a int)", "INSERT INTO visits SELECT * FROM visits", "DROP TABLE visits",
		"SELECT * INTO t FROM visits", "SELECT count(*) FROM range(10)", "SELECT count(*) FROM generate_series(1, 10)", "SELECT count(*) FROM unnest(ARRAY[1,2])", "SELECT count(*) FROM query('SELECT 1')", "SELECT count(*) FROM query_table('visits')", "SELECT count(*) FROM duckdb_tables()", "SELECT count(*) FROM information_schema.tables",
		"PREPARE p AS SELECT count(*) FROM visits", "EXECUTE p", "DECLARE c CURSOR FOR SELECT * FROM visits", "DO $$ BEGIN END $$", "CALL f()",
	} {
		w.refused(t, sql)
	}
	// A renamed or computed unit column hides nobody.
	p := neighbours(t, largePure, hoarder(300))
	p.within(t, "WITH v AS (SELECT person AS p, person + 1 AS q, 7 AS person, cost FROM visits) SELECT count(*) FROM v", 3)
	p.within(t, "SELECT count(DISTINCT person) FROM (SELECT 7 AS person FROM visits) AS v", 3)
	p.within(t, "SELECT count(DISTINCT p) FROM (SELECT score AS p FROM visits) AS v", 3)
	p.within(t, "SELECT count(*) FROM (SELECT score AS person, count(*) AS n, person AS hidden FROM visits GROUP BY score, person) AS v", 3)
	w.refused(t, "SELECT p, n FROM (SELECT person AS p, count(*) AS n FROM visits GROUP BY person) AS v")
}

func TestC13CountsUnderReplacement(t *testing.T) {
	replace := "neighbours = \"replace-one\"\n" + largePure
	w := newWorld(t, visits(replace), files{"visits.csv": crowd(5)})
	text := strings.Replace(visits(replace), "unit = \"person\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 3", `unit = "row"`, 1)
	rows := newWorld(t, text, files{"visits.csv": crowd(5)})
	for _, w := range []*world{w, rows} {
		// Replacing a row leaves count(*) as it is, but it is noisy all the same.
		for _, sql := range []string{"SELECT count(*) FROM visits", "SELECT count(DISTINCT city) FROM visits"} {
			e := must(w.Explain(context.Background(), sql, nil))
			if m := e.Mechanisms[0]; m.Scale < 0.99 || !e.Columns[0].Noisy {
				t.Errorf("%s: %+v", sql, m)
			}
		}
	}
}
