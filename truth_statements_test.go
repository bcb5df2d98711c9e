//go:build cgo && unix

package discreet

import "strings"

// truthStatements are statements over truthTables; behind " -- " the words that PostgreSQL has for one.
func truthStatements() []string {
	var out []string
	for line := range strings.Lines(truthText) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

const truthText = `
# counts and filters
SELECT count(*) FROM visits
SELECT count(cost) FROM visits
SELECT count(DISTINCT person) FROM visits
SELECT count(DISTINCT age) FROM visits
SELECT count(DISTINCT note) FROM visits
SELECT count(DISTINCT dept) FROM visits WHERE urgent
SELECT approx_count_distinct(note) FROM visits -- SELECT count(DISTINCT note) FROM visits
SELECT count(*) FILTER (WHERE urgent), count(*) FILTER (WHERE NOT urgent), count(score) FROM visits
SELECT countif(score > 0) FROM visits -- SELECT count(*) FILTER (WHERE score > 0) FROM visits
SELECT count(*) FROM visits WHERE cost IS NULL
SELECT count(*) FROM visits WHERE note IS NULL OR score IS NULL
SELECT count(*) FROM visits WHERE NOT (score > 0)
SELECT count(*) FROM visits WHERE score NOT IN (1, 2, 3)
SELECT count(*) FROM visits WHERE score IS DISTINCT FROM 3
SELECT count(*) FROM visits WHERE note LIKE '%a%' AND note NOT ILIKE 'c%'
SELECT count(*) FROM visits WHERE note ~ '^[a-z]+ [0-9]+$'
SELECT count(*) FROM visits WHERE note !~* 'COLD'
SELECT count(*) FROM visits WHERE age BETWEEN 30 AND 39 AND dept = ANY(ARRAY['ER', 'ICU'])
SELECT count(*) FROM visits WHERE dept <> ALL(ARRAY['ER', 'ICU'])
SELECT count(*) FROM visits WHERE seen >= TIMESTAMP '2025-03-01 12:00:00' AND day < DATE '2025-06-01' + INTERVAL '1 month'
SELECT count(*) FROM visits WHERE extract(isodow FROM day) > 5
SELECT count(*) FROM visits WHERE coalesce(score, 0) % 3 = 1
SELECT count(*) FROM visits WHERE CASE WHEN urgent THEN score > 0 ELSE score < 0 END
SELECT count(*) FROM visits WHERE (urgent) IS NOT TRUE
SELECT count(*) FROM survey WHERE mark > 5
SELECT count(*) FROM people WHERE premium
SELECT count(*) FROM people WHERE premium IS NULL
# sums and averages
SELECT sum(cost) FROM visits
SELECT sum(bill) FROM visits
SELECT sum(score) FROM visits
SELECT sum(age), avg(age), count(*) FROM visits
SELECT avg(cost), avg(bill), avg(score) FROM visits
SELECT avg(height) FROM people
SELECT sum(height) FROM people
SELECT sum(urgent) FROM visits -- SELECT sum(urgent::int) FROM visits
SELECT avg(urgent) FROM visits -- SELECT avg(urgent::int) FROM visits
SELECT avg((cost > 100)::int) FROM visits
SELECT sum(dose), avg(dose), sum(n) FROM items
SELECT sum(dose * n) FROM items
SELECT sum(bill - cost) FROM visits
SELECT sum(abs(dose)), sum(least(dose, 10)), sum(greatest(dose, -5)) FROM items
SELECT sum(CASE WHEN urgent THEN cost ELSE 0 END) FROM visits
SELECT sum(CASE WHEN urgent THEN cost END) FROM visits
SELECT sum(cost) FILTER (WHERE dept = 'ER') FROM visits
SELECT sum(round(cost)) , sum(floor(cost)), sum(ceil(cost)), sum(trunc(cost)) FROM visits
SELECT sum(round(bill, 1)), sum(round(cost::numeric(20,4), 2)) FROM visits
SELECT sum(sqrt(bill)), sum(ln(bill + 1)), sum(exp(bill / 2000)) FROM visits
SELECT sum(power(bill / 100, 2)) FROM visits
SELECT sum(extract(hour FROM seen)), avg(extract(day FROM day)), avg(extract(month FROM seen)) FROM visits
SELECT avg(day - DATE '2025-01-01') FROM visits
SELECT avg(least(greatest(length(note), 0), 50)) FROM visits
SELECT sum(2025 - born) FROM people
SELECT sum(score::double precision / 2) FROM visits
SELECT sum(score / 2) FROM visits
SELECT sum(score % 3) FROM visits
SELECT sum(age * 2 - 1) FROM visits
SELECT sum(coalesce(score, 0)) FROM visits
SELECT sum(nullif(n, 3)) FROM items
SELECT sum(if(urgent, 1, 0)) FROM visits -- SELECT sum(CASE WHEN urgent THEN 1 ELSE 0 END) FROM visits
SELECT sum(width_bucket(cost, 0, 1000, 10)) FROM visits
SELECT sum(sign(dose)) FROM items
SELECT avg(extract(epoch FROM seen - TIMESTAMP '2025-01-01 00:00:00')) FROM visits
# spread
SELECT var_pop(cost), var_samp(cost), variance(cost), stddev_pop(cost), stddev_samp(cost), stddev(cost) FROM visits
SELECT stddev(score), variance(score) FROM visits
SELECT var_samp(age), stddev(age) FROM visits WHERE person < 40
SELECT dept, stddev(bill), count(*) AS n FROM visits GROUP BY dept
SELECT var_pop(dose), stddev(n) FROM items
SELECT covar_pop(cost, age), covar_samp(cost, age) FROM visits
SELECT corr(bill, cost), regr_slope(bill, cost), regr_intercept(bill, cost), regr_r2(bill, cost), regr_count(bill, cost) FROM visits
SELECT regr_avgx(bill, cost), regr_avgy(bill, cost), regr_sxx(bill, cost), regr_syy(bill, cost), regr_sxy(bill, cost) FROM visits
SELECT corr(score, age) FROM visits
SELECT sex, corr(height, born), regr_slope(height, born) FROM people GROUP BY sex
# quantiles and frequent values
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age) FROM visits
SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY cost) FROM visits
SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY bill) FROM visits
SELECT median(age) FROM visits -- SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM visits
SELECT median(cost) FILTER (WHERE urgent) FROM visits -- SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FILTER (WHERE urgent) FROM visits
SELECT percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY score) FROM visits -- SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY score), percentile_disc(0.5) WITHIN GROUP (ORDER BY score), percentile_disc(0.9) WITHIN GROUP (ORDER BY score) FROM visits
SELECT dept, percentile_cont(0.5) WITHIN GROUP (ORDER BY dose) FROM items JOIN visits ON items.visit = visits.visit GROUP BY dept
SELECT dept, percentile_disc(0.75) WITHIN GROUP (ORDER BY age) FROM visits GROUP BY dept
SELECT min(age), max(age) FROM visits
SELECT sex, max(born), min(born) FROM people GROUP BY sex
SELECT approx_quantiles(age, 2) FROM visits -- SELECT min(age), percentile_disc(0.5) WITHIN GROUP (ORDER BY age), max(age) FROM visits
SELECT mode() WITHIN GROUP (ORDER BY dept) FROM visits
SELECT mode() WITHIN GROUP (ORDER BY drug) FROM items
SELECT sex, mode() WITHIN GROUP (ORDER BY city) FROM people GROUP BY sex
SELECT mode() WITHIN GROUP (ORDER BY note) FROM visits WHERE note LIKE '%a%' OR note = 'Cold' -- SELECT note FROM visits WHERE note LIKE '%a%' OR note = 'Cold' GROUP BY note ORDER BY count(*) DESC LIMIT 1
SELECT dept FROM visits GROUP BY dept ORDER BY count(*) DESC LIMIT 1
SELECT approx_top_count(drug, 2) FROM items -- SELECT drug, count(*) FROM items GROUP BY drug ORDER BY 2 DESC LIMIT 2
# keys
SELECT dept, count(*) AS n FROM visits GROUP BY dept
SELECT dept, urgent, count(*) AS n, sum(cost) FROM visits GROUP BY dept, urgent
SELECT note, count(*) AS n FROM visits GROUP BY note
SELECT note, dept, sum(bill), count(*) AS n FROM visits GROUP BY note, dept
SELECT upper(note) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT age, count(*) AS n FROM visits GROUP BY age
SELECT age / 10 AS k, count(*) AS n FROM visits GROUP BY age / 10
SELECT age / 7 * 7 AS k, count(*) AS n FROM visits GROUP BY 1
SELECT age % 7 AS k, count(*) AS n FROM visits GROUP BY 1
SELECT score, count(*) AS n FROM visits WHERE score IS NOT NULL GROUP BY score
SELECT score / 3 AS k, count(*) AS n FROM visits WHERE score IS NOT NULL GROUP BY 1
SELECT score % 4 AS k, count(*) AS n FROM visits WHERE score IS NOT NULL GROUP BY 1
SELECT -score AS k, count(*) AS n FROM visits WHERE score IS NOT NULL GROUP BY 1
SELECT abs(score) AS k, count(*) AS n FROM visits WHERE score IS NOT NULL GROUP BY 1
SELECT coalesce(score, 99) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT floor(cost / 100) AS k, count(*) AS n FROM visits WHERE cost IS NOT NULL GROUP BY 1
SELECT ceil(cost / 250) AS k, count(*) AS n FROM visits WHERE cost IS NOT NULL GROUP BY 1
SELECT round(dose / 10) AS k, count(*) AS n FROM items GROUP BY 1
SELECT round(dose)::int AS k, count(*) AS n FROM items GROUP BY 1
SELECT dose::int AS k, count(*) AS n FROM items GROUP BY 1
SELECT trunc(dose) AS k, count(*) AS n FROM items GROUP BY 1
SELECT trunc(bill / 100) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT round(bill, -2) AS k, count(*) AS n FROM visits GROUP BY 1 -- SELECT round(bill, -2)::int AS k, count(*) FROM visits GROUP BY 1
SELECT day, count(*) AS n FROM visits GROUP BY day
SELECT date_trunc('month', seen) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT date_trunc('week', seen) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT date_trunc('quarter', day) AS k, count(*) AS n FROM visits GROUP BY 1 -- SELECT date_trunc('quarter', day::timestamp) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT extract(year FROM day) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT extract(month FROM day) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT extract(dow FROM seen) AS k, extract(hour FROM seen) AS h, count(*) AS n FROM visits GROUP BY 1, 2
SELECT extract(week FROM seen) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT extract(doy FROM seen) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT extract(isoyear FROM seen) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT to_char(seen, 'YYYY-MM') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT to_char(day, 'Dy') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT format_date('%Y-%m', day) AS k, count(*) AS n FROM visits GROUP BY 1 -- SELECT to_char(day, 'YYYY-MM') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT day - DATE '2025-01-01' AS k, count(*) AS n FROM visits GROUP BY 1
SELECT (day + INTERVAL '1 month')::date AS k, count(*) AS n FROM visits GROUP BY 1
SELECT seen::date AS k, count(*) AS n FROM visits GROUP BY 1
SELECT width_bucket(cost, 0, 1000, 4) AS k, count(*) AS n FROM visits WHERE cost IS NOT NULL GROUP BY 1
SELECT width_bucket(age, ARRAY[18, 40, 65]) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT CASE WHEN age < 40 THEN 'young' WHEN age < 60 THEN 'mid' ELSE 'old' END AS k, count(*) AS n, avg(cost) FROM visits GROUP BY 1
SELECT CASE dept WHEN 'ER' THEN 1 WHEN 'ICU' THEN 2 ELSE 3 END AS k, count(*) AS n FROM visits GROUP BY 1
SELECT CASE WHEN urgent THEN dept ELSE 'none' END AS k, count(*) AS n FROM visits GROUP BY 1
SELECT coalesce(note, 'none') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT upper(dept) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT dept || '-' || (age / 20)::text AS k, count(*) AS n FROM visits GROUP BY 1
SELECT left(dept, 1) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT length(dept) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT cost > 100 AS k, count(*) AS n FROM visits WHERE cost IS NOT NULL GROUP BY 1
SELECT urgent AND score > 0 AS k, count(*) AS n FROM visits WHERE score IS NOT NULL GROUP BY 1
SELECT score::int::boolean AS k, count(*) AS n FROM visits WHERE score IS NOT NULL GROUP BY 1
SELECT urgent::int AS k, count(*) AS n FROM visits GROUP BY 1
SELECT urgent::text AS k, count(*) AS n FROM visits GROUP BY 1
SELECT age::text AS k, count(*) AS n FROM visits GROUP BY 1
SELECT dept IN ('ER', 'ICU') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT premium, count(*) AS n FROM people WHERE premium IS NOT NULL GROUP BY premium
SELECT premium IS NULL AS k, count(*) AS n FROM people GROUP BY 1
SELECT born / 10 * 10 AS k, sex, count(*) AS n FROM people GROUP BY 1, 2
SELECT city, count(*) AS n FROM people GROUP BY city
SELECT 'all' AS k, count(*) AS n FROM people GROUP BY 1
SELECT mark, town, count(*) AS n FROM survey GROUP BY 1, 2
SELECT least(age, 50) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT greatest(score, 0) AS k, count(*) AS n FROM visits WHERE score IS NOT NULL GROUP BY 1
SELECT mod(age, 5) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT age, count(*) AS n FROM visits WHERE age BETWEEN 20 AND 29 GROUP BY age
SELECT age, count(*) AS n FROM visits WHERE age IN (25, 30, 35) GROUP BY age
SELECT age / 10 AS k, count(*) AS n FROM visits WHERE age >= 35 AND age < 61 GROUP BY 1
SELECT day, count(*) AS n FROM visits WHERE day >= '2025-02-01' AND day < '2025-03-01' GROUP BY day
SELECT date_trunc('month', seen) AS k, count(*) AS n FROM visits WHERE seen < '2025-04-15' GROUP BY 1
SELECT dept, count(*) AS n FROM visits WHERE dept <> 'ER' GROUP BY dept
SELECT DISTINCT dept FROM visits
SELECT DISTINCT dept, urgent, dept FROM visits
SELECT dept AS a, dept AS b, count(*) AS n FROM visits GROUP BY 1, 2
SELECT a, c, b, count(*) AS n FROM (SELECT urgent AS a, urgent AS b, age / 40 AS c FROM visits) t WHERE c >= 0 GROUP BY a, c, b
SELECT note AS a, note AS b, count(*) AS n FROM visits GROUP BY 1, visits.note
SELECT DISTINCT age / 20 FROM visits WHERE age >= 20 AND age < 80
SELECT dept FROM visits GROUP BY dept
# joins
SELECT sex, count(*) AS n, sum(cost) FROM visits JOIN people ON person = id GROUP BY sex
SELECT p.city, avg(v.cost), count(*) AS n FROM visits v JOIN people p ON v.person = p.id GROUP BY 1
SELECT p.city, count(v.visit) AS n FROM people p LEFT JOIN visits v ON v.person = p.id GROUP BY 1
SELECT p.sex, count(*) AS n FROM visits v RIGHT JOIN people p ON v.person = p.id AND v.urgent GROUP BY 1
SELECT count(*) FROM people p FULL JOIN visits v ON v.person = p.id AND v.dept = 'ER'
SELECT floor, count(*) AS n, sum(bill) FROM visits JOIN depts ON dept = name GROUP BY floor
SELECT floor, count(*) AS n FROM visits v LEFT JOIN depts d ON v.dept = d.name AND d.floor < 2 GROUP BY floor -- SELECT floor, count(*) FROM visits v JOIN depts d ON v.dept = d.name AND d.floor < 2 GROUP BY floor
SELECT sum(beds) FROM visits JOIN depts ON dept = name
SELECT country, count(*) AS n FROM people JOIN cities ON city = name GROUP BY country
SELECT country, d.floor, count(*) AS n FROM people p JOIN visits v ON p.id = v.person JOIN cities c ON c.name = p.city JOIN depts d ON d.name = v.dept GROUP BY 1, 2
SELECT count(*) FROM people p JOIN depts d ON 2025 - p.born > 10 * d.beds
SELECT beds, count(*) AS n FROM visits v CROSS JOIN depts d GROUP BY beds
SELECT drug, sum(dose), count(*) AS n FROM items GROUP BY drug
SELECT v.dept, i.drug, count(*) AS n, avg(i.dose) FROM items i JOIN visits v ON i.visit = v.visit GROUP BY 1, 2
SELECT p.sex, i.drug, count(*) AS n FROM items i JOIN visits v ON i.visit = v.visit JOIN people p ON p.id = v.person GROUP BY 1, 2
SELECT v.dept, count(i.drug) AS n FROM visits v LEFT JOIN items i ON i.visit = v.visit GROUP BY 1
SELECT count(*) FROM visits a JOIN visits b ON a.person = b.person AND a.visit < b.visit
SELECT count(*) FROM visits a JOIN visits b USING (person) WHERE a.dept = 'ER' AND b.dept = 'ICU'
SELECT count(*) FROM items a JOIN items b ON a.visit = b.visit AND a.drug < b.drug
SELECT count(*) FROM people WHERE id IN (SELECT person FROM visits WHERE dept = 'ICU')
SELECT count(*) FROM people WHERE id NOT IN (SELECT person FROM visits WHERE dept = 'ICU')
SELECT sex, count(*) AS n FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person = p.id AND v.cost > 500) GROUP BY sex
SELECT sex, count(*) AS n FROM people p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.person = p.id AND v.urgent) GROUP BY sex
SELECT count(*) FROM visits WHERE dept IN (SELECT name FROM depts WHERE floor = 1)
SELECT count(*) FROM visits WHERE dept NOT IN (SELECT name FROM depts WHERE floor = 1)
SELECT count(*) FROM visits v WHERE EXISTS (SELECT 1 FROM items i WHERE i.visit = v.visit AND i.drug = 'a')
SELECT count(*) FROM visits v WHERE cost > (SELECT avg(cost) FROM visits w WHERE w.person = v.person)
SELECT count(*) FROM visits v WHERE age > (SELECT max(beds) FROM depts d WHERE d.name = v.dept)
SELECT sum(cost) FROM visits v, LATERAL (SELECT count(*) AS n FROM items i WHERE i.visit = v.visit) t WHERE t.n > 1
SELECT count(*) FROM visits WHERE cost > (SELECT avg(cost) FROM visits)
SELECT dept, count(*) AS n FROM visits WHERE cost > (SELECT 2 * avg(cost) FROM visits) GROUP BY dept
SELECT sex, avg(height) FROM people WHERE city IN (SELECT city FROM people GROUP BY city HAVING count(*) > 120) GROUP BY sex
SELECT count(*) FROM visits v JOIN depts d ON d.name = v.dept WHERE d.floor = 1 AND v.cost > (SELECT avg(cost) FROM visits w WHERE w.dept = d.name)
SELECT count(*) FROM visits v WHERE cost > (SELECT avg(cost) FROM visits w WHERE w.dept = v.dept)
# per unit
SELECT avg(n) FROM (SELECT least(count(*), 20) AS n FROM visits GROUP BY person) t
SELECT n, count(*) AS m FROM (SELECT person, least(count(*), 8) AS n FROM visits GROUP BY person) t GROUP BY n
SELECT avg(least(greatest(s, 0), 8000)) FROM (SELECT sum(cost) AS s FROM visits GROUP BY person) t
SELECT p.sex, avg(least(m, 1000)) FROM people p JOIN (SELECT person, max(cost) AS m FROM visits GROUP BY person) t ON t.person = p.id GROUP BY 1
SELECT dept, avg(cost) FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY seen DESC) AS k FROM visits) t WHERE k = 1 GROUP BY dept
SELECT dept, avg(cost), count(*) FROM (SELECT DISTINCT ON (person) * FROM visits ORDER BY person, seen DESC, dept, cost, bill) t GROUP BY dept
SELECT dept, count(*) FROM (SELECT DISTINCT ON (person, urgent) dept, urgent FROM visits ORDER BY urgent, person, seen, dept) t GROUP BY dept
SELECT DISTINCT ON (dept) dept, urgent, count(*) AS n FROM visits GROUP BY dept, urgent ORDER BY dept, n DESC, urgent
SELECT to_char(seen, 'HH24:00'), count(*) FROM visits GROUP BY 1
SELECT initcap(trim(both 'E' FROM dept)), count(*) FROM visits GROUP BY 1
SELECT width_bucket(age, ARRAY[0, 45, 65]), count(*) FROM visits WHERE age > 0 GROUP BY 1 HAVING count(*) > 0.5
SELECT count(*) FROM visits WHERE note LIKE ANY (ARRAY['a%', '%b']) OR note !~ ALL (ARRAY['^c', '[0-9]$'])
SELECT regexp_count(note, '[a-z]+'), count(*) FROM visits GROUP BY 1
SELECT avg(least(greatest(gap, 0), 365)) FROM (SELECT day - lag(day) OVER (PARTITION BY person ORDER BY day, visit) AS gap FROM visits) t
SELECT count(*) FROM (SELECT person, dept FROM visits GROUP BY person, dept) t
SELECT count(*) FROM (SELECT DISTINCT person, dept FROM visits) t
SELECT count(*) FROM (SELECT person FROM visits GROUP BY person HAVING count(*) > 4) t
SELECT b, count(*) AS n FROM (SELECT person, bool_or(urgent) AS b FROM visits GROUP BY person) t GROUP BY b
SELECT avg(least(n, 24)) FROM (SELECT v.person, count(*) AS n FROM items i JOIN visits v ON i.visit = v.visit GROUP BY v.person) t
SELECT avg(least(n, 24)) FROM (SELECT visit, count(*) AS n FROM items GROUP BY visit) t
SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT id FROM people) u
SELECT count(*) FROM (SELECT id FROM people EXCEPT SELECT person FROM visits) t
SELECT count(*) FROM (SELECT id FROM people INTERSECT SELECT person FROM visits WHERE dept = 'ICU') t
SELECT count(*) FROM (SELECT person, dept FROM visits UNION SELECT person, 'x' FROM visits) t
SELECT avg(least(greatest(s, 0), 1000)) FROM (SELECT person, stddev(cost) AS s FROM visits GROUP BY person) t
SELECT avg(least(greatest(s, 0), 1000)) FROM (SELECT person, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) AS s FROM visits GROUP BY person) t
# grouping sets
SELECT dept, urgent, grouping(dept, urgent) AS g, count(*) AS n FROM visits GROUP BY ROLLUP (dept, urgent)
SELECT dept, urgent, grouping(dept, urgent) AS g, count(*) AS n, sum(cost) FROM visits GROUP BY CUBE (dept, urgent)
SELECT dept, urgent, count(*) AS n, avg(cost) FROM visits GROUP BY GROUPING SETS ((dept), (urgent), ())
SELECT note, grouping(note) AS g, count(*) AS n FROM visits GROUP BY ROLLUP (note)
SELECT dept, date_trunc('quarter', seen) AS q, grouping(dept) AS g, count(*) AS n FROM visits GROUP BY date_trunc('quarter', seen), ROLLUP (dept)
# above the release
SELECT dept, count(*) AS n FROM visits GROUP BY dept HAVING count(*) > 250
SELECT dept, sum(cost) / count(*) FROM visits WHERE cost IS NOT NULL GROUP BY dept
SELECT round(sum(cost) / count(cost)) FROM visits
SELECT a.n - b.n FROM (SELECT count(*) AS n FROM visits WHERE urgent) a CROSS JOIN (SELECT count(*) AS n FROM visits WHERE NOT urgent) b
SELECT dept, round(count(*) * 100.0 / sum(count(*)) OVER (), 1) AS s FROM visits GROUP BY dept
SELECT sum(n), avg(n), min(n), max(n) FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) t
SELECT count(*) FROM (SELECT note FROM visits GROUP BY note) t
WITH m AS (SELECT extract(month FROM day) AS k, count(*) AS n FROM visits GROUP BY 1) SELECT k, n - lag(n) OVER (ORDER BY k), sum(n) OVER (ORDER BY k) FROM m
SELECT dept, count(*) AS n FROM visits GROUP BY dept UNION ALL SELECT 'all', count(*) FROM visits
SELECT (SELECT count(*) FROM visits) * 1.0 / (SELECT count(*) FROM people)
SELECT t.dept, t.n, d.beds FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) t JOIN depts d ON d.name = t.dept
SELECT d.name, t.n FROM depts d LEFT JOIN (SELECT dept, count(*) AS n FROM visits WHERE dept <> 'Eye' GROUP BY dept) t ON d.name = t.dept WHERE d.floor < 2
SELECT dept, rank() OVER (ORDER BY dept) AS r, first_value(count(*)) OVER (ORDER BY dept) FROM visits GROUP BY dept
SELECT k, sum(n) FROM (SELECT age / 10 AS a, CASE WHEN age < 50 THEN 1 ELSE 2 END AS k, count(*) AS n FROM visits GROUP BY 1, 2) t GROUP BY k
SELECT count(*) + 1, -count(*), count(*) / 2, count(*) % 2 = 5, sqrt(count(*)) FROM visits
SELECT dept, count(*) AS n FROM visits GROUP BY dept ORDER BY dept DESC LIMIT 2 OFFSET 1
SELECT dept FROM visits GROUP BY dept EXCEPT SELECT name FROM depts WHERE floor = 1 ORDER BY dept
# text and time
SELECT initcap(note) AS k, count(*) AS n FROM visits WHERE note IS NOT NULL GROUP BY 1
SELECT split_part(note, ' ', 1) AS k, count(*) AS n FROM visits WHERE note IS NOT NULL GROUP BY 1
SELECT replace(note, 'a', 'o') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT translate(dept, 'EI', 'xy') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT lpad(age::text, 4, '0') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT right(dept, 2) || left(dept, 1) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT concat_ws('/', dept, urgent::text) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT reverse(dept) AS k, count(*) AS n FROM visits GROUP BY 1
SELECT regexp_replace(note, '[0-9]+', '#') AS k, count(*) AS n FROM visits GROUP BY 1
SELECT count(*) FROM visits WHERE substring(note FROM '[0-9]+')::int = 12
SELECT count(*) FROM visits WHERE strpos(note, 'ai') > 0 OR starts_with(note, 'C')
SELECT count(*) FROM visits WHERE upper(trim(BOTH 'd' FROM note)) = 'COL'
SELECT count(*) FROM visits WHERE position('-' IN note) = 2
SELECT avg(date_diff(day, DATE '2025-01-01', DAY)) FROM visits -- SELECT avg(day - DATE '2025-01-01') FROM visits
SELECT count(*) FROM visits WHERE seen - INTERVAL '36 hours' >= day
SELECT count(*) FROM visits WHERE seen::time > TIME '12:30:00'
SELECT count(*) FROM visits WHERE to_date(to_char(day, 'DD.MM.YYYY'), 'DD.MM.YYYY') = day
SELECT extract(quarter FROM seen) * 10 + extract(isodow FROM seen) AS k, count(*) AS n FROM visits GROUP BY 1
# more shapes
SELECT dept, count(DISTINCT person) AS n FROM visits GROUP BY dept
SELECT dept, count(DISTINCT note), count(DISTINCT age) FROM visits GROUP BY dept
SELECT dept, count(*) FILTER (WHERE urgent) AS n, avg(cost) FILTER (WHERE score > 0) FROM visits GROUP BY dept
SELECT note, count(DISTINCT person) AS n FROM visits GROUP BY note
SELECT dept, avg(cost), stddev(cost), sum(cost), count(cost) AS n FROM visits GROUP BY dept ORDER BY dept
SELECT dept, sum(bill) FROM visits GROUP BY dept HAVING sum(bill) > 100000 ORDER BY 1
SELECT age::text AS age, count(*) AS n FROM visits GROUP BY age
SELECT age + 1 AS age, count(*) AS n FROM visits GROUP BY age
WITH v AS (SELECT * FROM visits WHERE urgent), p AS (SELECT id, sex FROM people) SELECT sex, count(*) AS n FROM v JOIN p ON v.person = p.id GROUP BY sex
SELECT k, count(*) AS n FROM (SELECT person, dept AS k FROM visits UNION ALL SELECT id, sex FROM people) t GROUP BY k
SELECT count(*) FROM visits JOIN (VALUES ('ER', 1), ('Eye', 2)) AS w (d, x) ON d = dept
SELECT x, count(*) AS n FROM visits JOIN (VALUES ('ER', 1), ('Eye', 2)) AS w (d, x) ON d = dept GROUP BY x
SELECT dept, name, count(*) AS n FROM visits CROSS JOIN cities WHERE people > 700 GROUP BY 1, 2
SELECT avg(least(r, 8)) FROM (SELECT row_number() OVER (PARTITION BY person ORDER BY cost DESC) AS r FROM visits) t
SELECT avg(least(greatest(s, 0), 8000)) FROM (SELECT sum(bill) OVER (PARTITION BY person ORDER BY visit ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM visits) t
SELECT avg(least(greatest(s, 0), 2000)) FROM (SELECT first_value(bill) OVER (PARTITION BY person ORDER BY visit) AS s FROM visits) t
SELECT count(*) FROM (SELECT ntile(2) OVER (PARTITION BY person ORDER BY visit) AS s FROM visits) t WHERE s = 2
SELECT avg(least(greatest(s, 0), 9)) FROM (SELECT count(*) FILTER (WHERE urgent) OVER (PARTITION BY person, dept) AS s FROM visits) t
SELECT sum(least((SELECT count(*) FROM items i WHERE i.visit = v.visit AND i.drug = 'a'), 9)) FROM visits v WHERE v.dept = 'ER' -- SELECT count(*) FROM items i JOIN visits v ON i.visit = v.visit WHERE i.drug = 'a' AND v.dept = 'ER'
SELECT count(*) FROM people p WHERE (SELECT count(*) FROM visits v WHERE v.person = p.id) > 5
SELECT count(*) FROM people p LEFT JOIN LATERAL (SELECT max(v.bill) AS m FROM visits v WHERE v.person = p.id) t ON true WHERE t.m > 1000 OR t.m IS NULL
SELECT dept, sum(n) OVER (ORDER BY dept), n::double precision / sum(n) OVER () FROM (SELECT dept, count(*) AS n FROM visits GROUP BY dept) t
SELECT dept, max(n) - min(n) FROM (SELECT dept, extract(month FROM day) AS m, count(*) AS n FROM visits GROUP BY 1, 2) t GROUP BY dept
SELECT a.dept, a.n, b.n FROM (SELECT dept, count(*) AS n FROM visits WHERE urgent GROUP BY dept) a JOIN (SELECT dept, count(*) AS n FROM visits WHERE NOT urgent GROUP BY dept) b ON a.dept = b.dept
SELECT dept, CASE WHEN count(*) > 100 THEN 'many' ELSE 'few' END FROM visits GROUP BY dept
SELECT coalesce(sum(cost) FILTER (WHERE age < 0), 0), greatest(count(*), 10), nullif(count(*), 1) FROM visits
SELECT name FROM depts WHERE floor = (SELECT max(floor) FROM depts)
VALUES (1, 'a'), (2, 'b')
`
