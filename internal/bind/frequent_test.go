package bind_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// What occurs most often, and what GoogleSQL spells in its own way, means the same as what PostgreSQL's words say.
func TestOtherSpellings(t *testing.T) {
	cat := clinic(t)
	bound := func(sql string) string {
		t.Helper()
		q, err := sqlparse.Parse(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		n, err := bind.Statement(q, cat, bind.Parameters{}, nil)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var names []string
		for _, c := range n.Columns() {
			names = append(names, c.Name)
		}
		inner := regexp.MustCompile(`("[^"]*"|[a-z_0-9?]+)\$`).ReplaceAllString(plan.Format(n), "$$") // names below mean nothing
		return strings.Join(names, ", ") + "\n" + regexp.MustCompile(` as ("[^"]*"|[a-z_0-9?]+)`).ReplaceAllString(inner, "")
	}
	for sql, same := range map[string]string{
		"SELECT mode() WITHIN GROUP (ORDER BY age) FROM visits": `SELECT v AS mode FROM (SELECT age AS "likeliest value", count(*) AS "likeliest count",
			row_number() OVER (ORDER BY count(*) DESC, age) AS "likeliest place" FROM visits WHERE age IS NOT NULL GROUP BY age) AS t (v, n, p) WHERE p <= 1`,
		"SELECT upper(department) AS w, approx_top_count(age, 3) FROM visits WHERE cost > 5 GROUP BY w": `SELECT w, v AS value, n AS count FROM (SELECT upper(department) AS "likeliest 0", age AS "likeliest value", count(*) AS "likeliest count",
			row_number() OVER (PARTITION BY upper(department) ORDER BY count(*) DESC, age) AS "likeliest place" FROM visits WHERE cost > 5 AND age IS NOT NULL GROUP BY upper(department), age) AS t (w, v, n, p) WHERE p <= 3`,
		"SELECT department, approx_top_k(age, 1) AS often FROM visits GROUP BY 1": `SELECT w AS department, v AS often, n AS count FROM (SELECT department AS "likeliest 0", age AS "likeliest value", count(*) AS "likeliest count",
			row_number() OVER (PARTITION BY department ORDER BY count(*) DESC, age) AS "likeliest place" FROM visits WHERE age IS NOT NULL GROUP BY department, age) AS t (w, v, n, p) WHERE p <= 1`,
		"SELECT approx_count_distinct(age) FROM visits": "SELECT count(DISTINCT age) AS approx_count_distinct FROM visits",
		"SELECT approx_quantiles(age, 2) FROM visits":   "SELECT percentile_disc(0) WITHIN GROUP (ORDER BY age) AS approx_quantiles_0, percentile_disc(0.5) WITHIN GROUP (ORDER BY age) AS approx_quantiles_1, percentile_disc(1) WITHIN GROUP (ORDER BY age) AS approx_quantiles_2 FROM visits",
		"SELECT a.age, l.c FROM visits AS a, LATERAL (SELECT b.cost AS c FROM visits AS b WHERE b.patient_id = a.patient_id AND b.day = a.day AND b.age > 3) AS l": `SELECT a.age, l.c
			FROM visits AS a JOIN (SELECT b.cost AS c, b.* FROM visits AS b WHERE b.age > 3) AS l (c, patient_id, d, e, f, g, h, day) ON l.patient_id = a.patient_id AND l.day = a.day`,
		"SELECT a.age, l.n FROM visits AS a CROSS JOIN LATERAL (SELECT count(*) + 1 AS n FROM visits AS b WHERE b.patient_id = a.patient_id) AS l": "SELECT age, (SELECT count(*) + 1 FROM visits AS b WHERE b.patient_id = a.patient_id) AS n FROM visits AS a",
		"SELECT ifnull(age, 0) FROM visits":                            "SELECT coalesce(age, 0) AS ifnull FROM visits",
		"SELECT safe_divide(age, 2) FROM visits":                       "SELECT age::double precision / 2::double precision AS safe_divide FROM visits",
		"SELECT date_trunc(seen_at, MONTH) AS m FROM visits":           "SELECT date_trunc('month', seen_at) AS m FROM visits",
		"SELECT timestamp_trunc(seen_at, day) AS d FROM visits":        "SELECT date_trunc('day', seen_at) AS d FROM visits",
		"SELECT datetime_trunc(seen_at, year) AS y FROM visits":        "SELECT date_trunc('year', seen_at) AS y FROM visits",
		"SELECT logical_or(age > 9), logical_and(age > 9) FROM visits": "SELECT bool_or(age > 9) AS logical_or, bool_and(age > 9) AS logical_and FROM visits",
	} {
		if got, want := bound(sql), bound(same); got != want {
			t.Errorf("%s\nis\n%s\nand not\n%s", sql, got, want)
		}
	}
	for sql, code := range map[string]string{
		"SELECT mode() WITHIN GROUP (ORDER BY age), count(*) FROM visits":                            "D018",
		"SELECT mode() WITHIN GROUP (ORDER BY age), mode() WITHIN GROUP (ORDER BY cost) FROM visits": "D018",
		"SELECT mode(age) FROM visits":                                                                                     "D018",
		"SELECT *, mode() WITHIN GROUP (ORDER BY age) FROM visits":                                                         "D018",
		"SELECT mode() WITHIN GROUP (ORDER BY age) FROM visits HAVING count(*) > 3":                                        "D018",
		"SELECT 1 + mode() WITHIN GROUP (ORDER BY age) FROM visits":                                                        "D013",
		"SELECT approx_top_count(age, 0) FROM visits":                                                                      "D017",
		"SELECT approx_top_count(age, department) FROM visits":                                                             "D017",
		"SELECT approx_top_count(age) FROM visits":                                                                         "D016",
		"SELECT approx_quantiles(age, 1000) FROM visits":                                                                   "D017",
		"SELECT 1 FROM visits AS a, LATERAL (SELECT age FROM visits AS b WHERE b.age = a.age LIMIT 1) AS l":                "D022",
		"SELECT 1 FROM visits AS a, LATERAL (SELECT age, count(*) FROM visits AS b WHERE b.age = a.age GROUP BY age) AS l": "D022",
		"SELECT 1 FROM visits AS a RIGHT JOIN LATERAL (SELECT age FROM visits AS b WHERE b.age = a.age) AS l ON true":      "D022",
		"SELECT 1 FROM visits AS a, LATERAL (SELECT count(*) FROM visits AS b WHERE b.age > a.age) AS l":                   "D022",
		"SELECT 1 FROM visits AS a, LATERAL (SELECT b.age FROM visits AS b WHERE b.age = c.age) AS l, visits AS c":         "D010",
		"SELECT timestamp_trunc(seen_at, fortnight) FROM visits":                                                           "D011",
		"SELECT approx_count_distinct(*) FROM visits":                                                                      "D016",
	} {
		q, err := sqlparse.Parse(sql)
		if err == nil {
			_, err = bind.Statement(q, cat, bind.Parameters{}, nil)
		}
		if d, ok := errors.AsType[*diagnostic.Diagnostic](err); !ok || d.Code != code {
			t.Errorf("%s is refused with %v, want %s", sql, err, code)
		}
	}
}
