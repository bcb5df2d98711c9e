//go:build cgo

package discreet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// asked are statements as analysts write them, some in PostgreSQL's words and some in GoogleSQL's, about the tables of the
// tour. Where one is refused, the code is what it says, and instead is what its hint leads to.
var asked = []struct{ catalog, sql, code, instead string }{
	{"adult", `SELECT education, COUNT(*) AS n FROM adult GROUP BY education ORDER BY n DESC LIMIT 5`, "", ""},
	{"adult", `SELECT income, AVG(age) AS mean_age, STDDEV(age) AS sd, MEDIAN(age) AS med FROM adult GROUP BY income`, "", ""},
	{"adult", `SELECT sex, COUNTIF(income = '>50K') / COUNT(*) AS share FROM adult GROUP BY sex`, "", ""},
	{"adult", `SELECT occupation, COUNT(*) AS n, AVG(hours_per_week) AS h FROM adult GROUP BY occupation HAVING COUNT(*) > 500 ORDER BY h DESC`, "", ""},
	{"adult", `SELECT CASE WHEN age < 25 THEN 'under 25' WHEN age < 45 THEN '25-44' WHEN age < 65 THEN '45-64' ELSE '65+' END AS band, COUNT(*) FROM adult GROUP BY band ORDER BY band`, "", ""},
	{"adult", `SELECT WIDTH_BUCKET(age, 15, 95, 8) AS b, COUNT(*) FROM adult GROUP BY b ORDER BY b`, "", ""},
	{"adult", `SELECT race, sex, COUNT(*) FROM adult GROUP BY ROLLUP (race, sex) ORDER BY race, sex`, "", ""},
	{"adult", `SELECT MODE() WITHIN GROUP (ORDER BY education) FROM adult`, "", ""},
	{"adult", `SELECT APPROX_TOP_COUNT(education, 5) FROM adult`, "", ""},
	{"adult", `SELECT APPROX_QUANTILES(age, 4) FROM adult`, "", ""},
	{"adult", `SELECT sex, PERCENTILE_CONT(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY hours_per_week) FROM adult GROUP BY sex`, "", ""},
	{"adult", `SELECT CORR(education_num, hours_per_week) AS r, REGR_SLOPE(hours_per_week, education_num) AS b FROM adult`, "", ""},
	{"adult", `SELECT COUNT(DISTINCT occupation) FROM adult`, "", ""},
	{"adult", `SELECT education, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS pct FROM adult GROUP BY education ORDER BY pct DESC`, "", ""},
	{"adult", `SELECT age / 10 * 10 AS decade, AVG(CASE WHEN income = '>50K' THEN 1.0 ELSE 0 END) AS rich FROM adult GROUP BY 1 ORDER BY 1`, "", ""},
	{"adult", `SELECT s.stage, COUNT(*) FROM adult a JOIN schooling s USING (education) GROUP BY s.stage`, "", ""},
	{"adult", `SELECT sex, AVG(hours_per_week) FROM adult WHERE age > (SELECT AVG(age) FROM adult) GROUP BY sex`, "", ""},
	{"adult", `SELECT native_country, COUNT(*) FROM adult WHERE native_country <> 'United-States' GROUP BY native_country ORDER BY COUNT(*) DESC LIMIT 10`, "", ""},
	{"adult", `SELECT MIN(age), MAX(age) FROM adult`, "", ""},
	{"adult", `SELECT education, RANK() OVER (ORDER BY AVG(hours_per_week) DESC) AS rk FROM adult GROUP BY education`, "", ""},
	{"adult", `SELECT LOGICAL_OR(age > 90) FROM adult`, "D047", `SELECT COUNT(*) FILTER (WHERE age > 90) FROM adult`},
	{"adult", `SELECT SUM(IF(sex = 'Female', 1, 0)) AS women, SUM(IF(sex = 'Male', 1, 0)) AS men FROM adult`, "", ""},
	{"adult", `SELECT workclass FROM adult WHERE age = 90`, "D041", `SELECT workclass, COUNT(*) FROM adult WHERE age = 90 GROUP BY workclass`},
	{"adult", `SELECT SAFE_DIVIDE(SUM(capital_gain), COUNT(*)) FROM adult`, "", ""},
	{"adult", `SELECT APPROX_COUNT_DISTINCT(workclass) FROM adult`, "", ""},
	{"adult", `WITH g AS (SELECT sex, AVG(hours_per_week) AS h FROM adult GROUP BY sex) SELECT MAX(h) - MIN(h) AS gap FROM g`, "", ""},
	{"adult", `SELECT education, COUNT(*) AS n FROM adult GROUP BY education QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 3`, "D002", `SELECT * FROM (SELECT education, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS place FROM adult GROUP BY education) AS t WHERE place <= 3`},
	{"adult", `SELECT ANY_VALUE(race) FROM adult`, "D013", `SELECT MODE() WITHIN GROUP (ORDER BY race) FROM adult`},
	{"restaurant", `SELECT DATE_DIFF(MAX(CAST("Time entered" AS timestamp)), MIN(CAST("Time entered" AS timestamp)), DAY) FROM visits`, "D047", ""},
	{"adult", `SELECT STRING_AGG(DISTINCT race, ',') FROM adult`, "D013", `SELECT race, COUNT(*) FROM adult GROUP BY race`},
	{"adult", `SELECT sex, COUNT(*) FILTER (WHERE hours_per_week > 40) AS overtime FROM adult GROUP BY sex`, "", ""},
	{"adult", `SELECT * EXCEPT (native_country) FROM adult LIMIT 10`, "D002", `SELECT sex, income, COUNT(*) FROM adult GROUP BY sex, income`},
	{"adult", `SELECT sex, income, COUNT(*) FROM adult GROUP BY ALL`, "D002", `SELECT sex, income, COUNT(*) FROM adult GROUP BY sex, income`},
	{"restaurant", `SELECT "Day", COUNT(*) AS visits, COUNT(DISTINCT "VisitorId") AS visitors FROM visits GROUP BY "Day" ORDER BY "Day"`, "", ""},
	{"restaurant", `SELECT d.name, SUM(v."Money spent (euros)") AS revenue FROM visits v JOIN days d ON d.day = v."Day" GROUP BY d.name ORDER BY revenue DESC`, "", ""},
	{"restaurant", `SELECT d.weekend, AVG(v."Time spent (minutes)") FROM visits v JOIN days d ON d.day = v."Day" GROUP BY 1`, "", ""},
	{"restaurant", `SELECT AVG(n) FROM (SELECT "VisitorId", COUNT(*) AS n FROM visits GROUP BY 1) t`, "D049", `SELECT AVG(LEAST(n, 20)) FROM (SELECT "VisitorId", COUNT(*) AS n FROM visits GROUP BY 1) t`},
	{"restaurant", `SELECT n, COUNT(*) FROM (SELECT "VisitorId", COUNT(*) AS n FROM visits GROUP BY 1) t GROUP BY n ORDER BY n`, "", ""},
	{"restaurant", `SELECT CAST(split_part("Time entered", ':', 1) AS integer) AS hour, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1`, "", ""},
	{"restaurant", `SELECT "VisitorId", SUM("Money spent (euros)") AS spent FROM visits GROUP BY 1 ORDER BY spent DESC LIMIT 10`, "D041", `SELECT COUNT(*), AVG(LEAST(spent, 300)) FROM (SELECT "VisitorId", SUM("Money spent (euros)") AS spent FROM visits GROUP BY 1) t`},
	{"restaurant", `SELECT APPROX_TOP_K("Day", 3) FROM visits`, "", ""},
	{"restaurant", `SELECT "Day", COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY "Day") AS change FROM visits GROUP BY "Day"`, "", ""},
	{"restaurant", `SELECT SUM("Money spent (euros)") / COUNT(DISTINCT "VisitorId") AS per_head FROM visits`, "", ""},
	{"restaurant", `SELECT COUNT(*) FROM visits a JOIN visits b ON a."VisitorId" = b."VisitorId" AND a."Day" < b."Day"`, "", ""},
	{"restaurant", `SELECT COUNT(DISTINCT "VisitorId") FROM visits WHERE "VisitorId" IN (SELECT "VisitorId" FROM visits WHERE "Day" >= 6)`, "", ""},
	{"restaurant", `SELECT AVG(x."Money spent (euros)") FROM visits v, LATERAL (SELECT w."Money spent (euros)" FROM visits w WHERE w."VisitorId" = v."VisitorId" AND w."Day" = v."Day" + 1) AS x`, "", ""},
}

// TestAnalystsStatements holds what is answered, and that a hint leads to what is. No data is read: the files have none.
func TestAnalystsStatements(t *testing.T) {
	open := func(name string) *Database {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/tour")); err != nil {
			t.Fatal(err)
		}
		for file, header := range map[string]string{
			"adult-train.csv":       "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss,hours_per_week,native_country,income\n",
			"restaurant-visits.csv": "VisitorId,Time entered,Time spent (minutes),Money spent (euros),Day\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(header), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(dir, name+".toml"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := catalog.Load(filepath.Join(dir, name+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		e, err := duckdb.Open(t.Context(), c, duckdb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		db, err := Open(t.Context(), Config{Catalog: c, Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	of := map[string]*Database{"adult": open("adult"), "restaurant": open("restaurant")}
	answered := 0
	for _, q := range asked {
		code := ""
		_, err := of[q.catalog].Explain(t.Context(), q.sql, nil)
		var r *Refusal
		switch {
		case errors.As(err, &r):
			code = r.Code
			if r.Hint == "" {
				t.Errorf("%s is refused without a hint", q.sql)
			}
		case err != nil:
			t.Fatalf("%s: %v", q.sql, err)
		default:
			answered++
		}
		if code != q.code {
			t.Errorf("%s is refused with %q, want %q: %v", q.sql, code, q.code, err)
		}
		if q.instead == "" {
			continue
		}
		if _, err := of[q.catalog].Explain(t.Context(), q.instead, nil); err != nil {
			t.Errorf("in place of %s\n%s\nis asked: %v", q.sql, strings.TrimSpace(q.instead), err)
		}
	}
	t.Logf("%d of %d are answered, the others have another way", answered, len(asked))
}
