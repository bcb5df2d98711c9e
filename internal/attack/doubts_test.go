//go:build cgo

package attack_test

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// What the declarations alone show to be always NULL, never true or without
// effect is paid for like anything else, so that explain says so beforehand and the
// answer afterwards. The notes come from the statement and the catalog: the data
// change none (observe compares them in every attack).
func TestDoubts(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(5)})
	const meant = "meant? "
	doubts := func(sql string) (out []string) {
		e, err := w.Explain(context.Background(), sql, nil)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			return nil
		}
		for _, n := range e.Notes {
			if strings.Contains(n, meant) {
				out = append(out, n)
			}
		}
		return out
	}
	count := "SELECT count(*) FROM visits WHERE "
	for sql, want := range map[string]string{
		count + "city = 'bonn'":              "is city = 'bonn' meant? 'bonn' is not among the declared values: the nearest is 'Bonn'",
		count + "city <> 'Köln'":             "'Köln' is not among the declared values",
		count + "city IN ('Bonn', 'Berlin')": "is 'Berlin' meant? 'Berlin' is not among the declared values",
		count + "city IN ('Bonn', 'Kiehl')":  "'Kiehl' is not among the declared values: the nearest is 'Kiel'",
		"SELECT count(*) FROM visits JOIN (VALUES ('ulm'), ('Kiel')) AS v(c) ON v.c = visits.city": "is 'ulm' meant? 'ulm' is not among the declared values: the nearest is 'Ulm'",
		count + "'Paris' = city":                                    "'Paris' is not among",
		count + "NOT city = 'x'":                                    "'x' is not among",
		count + "city LIKE 'b%'":                                    "none of the declared values matches",
		count + "city ILIKE '%z%'":                                  "none of the declared values matches",
		count + "city ~ '^x'":                                       "none of the declared values matches",
		count + "city LIKE NULL":                                    "a pattern that is NULL",
		count + "age = 150":                                         "no value between the declared bounds, 0 and 100, satisfies this",
		count + "age > 100":                                         "no value between the declared bounds",
		count + "age < 0":                                           "no value between the declared bounds",
		count + "-1 >= age":                                         "no value between the declared bounds",
		count + "cost > 10.5":                                       "no value between the declared bounds, 0 and 10, satisfies this",
		count + "age + 10 > 200":                                    "no value between the declared bounds, 10 and 110, satisfies this",
		count + "age IN (5, 500)":                                   "is 500 meant?",
		count + "extract(month from day) = 13":                      "13 is not among the declared values: the nearest is 12",
		count + "age BETWEEN 60 AND 20":                             "no value lies between 60 and 20",
		count + "name BETWEEN 'z' AND 'a'":                          "no value lies between 'z' and 'a'",
		count + "name = NULL":                                       "IS NULL asks for it",
		count + "false":                                             "is never true",
		count + "NULL":                                              "is never true",
		count + "1 = 2":                                             "is never true",
		count + "age > 5 AND 2 < 1":                                 "is never true",
		count + "CASE WHEN 1 = 2 THEN true ELSE age > 3 END":        "this branch of CASE is never taken",
		count + "CASE WHEN true THEN age > 4 ELSE age > 3 END":      "those behind it never are",
		count + "score > 300000::smallint":                          "beyond smallint: always NULL",
		count + "score % 0 = 1":                                     "division by 0: always NULL",
		count + "age + NULL > 3":                                    "an operation with NULL: always NULL",
		count + "CASE city WHEN 'Rom' THEN true ELSE age > 3 END":   "'Rom' is not among the declared values",
		count + "width_bucket(age / 0, ARRAY[0, 50]) = 1":           "division by 0: always NULL",
		"SELECT sum(cost) / 0 FROM visits":                          "is sum(cost) / 0 meant? division by 0: always NULL",
		"SELECT sum(age) / count(*) FROM visits":                    "both sides are whole numbers, so that the quotient loses its fraction: convert one, as in sum(x)::numeric / count(*)",
		"SELECT sum(least(greatest(cost / 0, 0), 1)) FROM visits":   "division by 0: always NULL",
		"SELECT sum(cost) / (1 - 1) FROM visits":                    "division by 0: always NULL",
		"SELECT mod(count(*), 0) FROM visits":                       "division by 0: always NULL",
		"SELECT count(*) FILTER (WHERE false) FROM visits":          "FILTER is never true",
		"SELECT count(*) FILTER (WHERE city = 'Rom') FROM visits":   "'Rom' is not among",
		"SELECT count(*) FROM visits HAVING count(*) < 0 AND false": "is never true",
		"SELECT count(*) FROM visits LIMIT 0":                       "LIMIT 0 leaves no row",
		"SELECT CASE WHEN city = 'Rom' THEN 1 ELSE 2 END AS k, count(*) FROM visits GROUP BY k":                        "'Rom' is not among",
		"SELECT count(*) FROM (SELECT city AS c, person FROM visits) AS s WHERE c = 'Rom'":                             "'Rom' is not among",
		"SELECT count(*) FROM (SELECT person, max(age) AS oldest FROM visits GROUP BY person) AS s WHERE oldest > 200": "no value between the declared bounds",
		"SELECT count(*) FROM visits JOIN visits AS v ON v.person = visits.person AND false":                           "is never true",
	} {
		got := doubts(sql)
		if !slices.ContainsFunc(got, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("%s: noted %q, want %q", sql, got, want)
		}
		a := w.ask(t, sql, nil)
		for _, n := range got {
			if !slices.Contains(a.Notes, n) {
				t.Errorf("%s: explain notes %q, the answer %q", sql, n, a.Notes)
			}
		}
	}
	for _, sql := range []string{
		count + "city = 'Bonn'", count + "city IN ('Bonn', 'Ulm') AND city LIKE 'B%'", count + "name = 'ann'", count + "age = 100", count + "age >= 100", count + "age <= 0", count + "age <> 500",
		count + "age BETWEEN 20 AND 20", count + "cost < 10", count + "score = 123456789", count + "city ILIKE 'BONN'", count + "city ~* 'onn$'", count + "true", count + "1 = 1 OR age > 3", count + "age / 2 > 1",
		count + "name IS NULL", count + "coalesce(age, 0) = 0", count + "CASE WHEN age > 3 THEN true END", count + "(age > 3) = true", count + "person = 999", count + "score > 30000::smallint", count + "extract(month from day) = 12",
		"SELECT sum(cost) / count(*) FROM visits", "SELECT city, count(*) FROM visits GROUP BY city HAVING count(*) > 5 LIMIT 1", "SELECT count(*) FILTER (WHERE city = 'Ulm') FROM visits", "SELECT sum(cost) / 3 FROM visits", "SELECT count(*) + 0 FROM visits",
		"SELECT count(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits AS v WHERE v.person = visits.person AND v.city = 'Kiel')",
		"SELECT width_bucket(age, ARRAY[0, 50, 500]), count(*) FROM visits GROUP BY 1", count + "width_bucket(cost, ARRAY[0, 5]) = 1",
	} {
		if got := doubts(sql); got != nil {
			t.Errorf("%s: noted %q", sql, got)
		}
	}
}

// What a public table lists is known as well: a constant that is none of a domain's values there is doubted, in WHERE, in FILTER and in joins with
// the table, before anything is charged and afterwards. Tables that list no domain are not read for that.
func TestDoubtsOfTablesThatList(t *testing.T) {
	catalog := strings.Replace(visits(largePure), `domain = ["Bonn", "Kiel", "Ulm"]`, `domain = { from = "cities.city" }`, 1) +
		"[tables.cities]\nsource = \"cities.csv\"\npublic = true\ncolumns.city = { type = \"text\" }\ncolumns.land = { type = \"text\" }\ncolumns.people = { type = \"integer\" }\n" +
		"[tables.others]\nsource = \"cities.csv\"\npublic = true\ncolumns.city = { type = \"text\" }\n"
	w := newWorld(t, catalog, files{"visits.csv": crowd(5), "cities.csv": "city,land,people\nBonn,NW,300\nKiel,SH,200\nUlm,BW,100\n"})
	const joined = "SELECT count(*) FROM visits JOIN cities ON cities.city = visits.city WHERE "
	for sql, want := range map[string]string{
		"SELECT count(*) FROM visits WHERE city = 'bonn'":                                                 "is city = 'bonn' meant? 'bonn' is not among the declared values: the nearest is 'Bonn'",
		"SELECT count(*) FROM visits WHERE city IN ('Ulm', 'Kil')":                                        "'Kil' is not among the declared values: the nearest is 'Kiel'",
		"SELECT count(*) FROM visits WHERE NOT (city <> 'Hagen')":                                         "'Hagen' is not among the declared values",
		"SELECT count(*) FILTER (WHERE 'Boon' = city) FROM visits":                                        "the nearest is 'Bonn'",
		joined + "visits.city = 'Ulm' AND land = 'nw'":                                                    "'nw' is not among the declared values: the nearest is 'NW'",
		joined + "people = 110":                                                                           "110 is not among the declared values: the nearest is 100",
		"SELECT count(*) FROM visits AS v, cities AS c WHERE v.city = c.city AND c.city = 'BONN'":         "the nearest is 'Bonn'",
		"SELECT count(*) FROM visits JOIN (VALUES ('bonn'), ('Ulm')) AS v(c) ON visits.city = v.c":        "is 'bonn' meant? 'bonn' is not among the declared values: the nearest is 'Bonn'",
		"SELECT count(*) FROM visits WHERE city = 'Bonn'":                                                 "",
		joined + "visits.city = 'Bonn' AND land IN ('NW', 'SH') AND people <> 100":                        "",
		"SELECT count(*) FROM visits JOIN others ON others.city = visits.city WHERE others.city = 'bonn'": "",
	} {
		e, err := w.Explain(t.Context(), sql, nil)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		noted := strings.Join(e.Notes, "\n")
		if want == "" && strings.Contains(noted, "meant?") || !strings.Contains(noted, want) {
			t.Errorf("%s: noted %q, want %q", sql, noted, want)
		}
		if a := w.ask(t, sql, nil); !strings.Contains(strings.Join(a.Notes, "\n"), want) {
			t.Errorf("%s: the answer notes %q", sql, a.Notes)
		}
	}
}
