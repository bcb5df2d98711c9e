package stability_test

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/diagnostic/diagnostictest"
)

// followed are refused statements, what their hints say, and the statements that follow it.
var followed = [][3]string{
	{"SELECT count(*) FROM visits WHERE age < ANY (SELECT floor FROM departments)", "for the others compare with min or max", "SELECT count(*) FROM visits WHERE age < (SELECT max(floor) FROM departments)"},
	{"SELECT count(*) FROM visits WHERE age <> ANY (SELECT floor FROM departments)", "= ANY and <> ALL are answered", "SELECT count(*) FROM visits WHERE age <> ALL (SELECT floor FROM departments)"},
	{"SELECT sum(age) OVER (GROUPS 1 PRECEDING) FROM visits", "add ORDER BY to the window, or write ROWS", "SELECT count(*) FROM (SELECT sum(age) OVER (PARTITION BY patient_id ORDER BY age GROUPS 1 PRECEDING) FROM visits) AS t"},
	{"SELECT count(*) FROM visits WHERE seen_at AT TIME ZONE 'UTC' > '2025-03-01'", "x + INTERVAL '2 hours'", "SELECT count(*) FROM visits WHERE seen_at + INTERVAL '2 hours' > '2025-03-01'"},
	{"SELECT department, age FROM visits GROUP BY department", "add it to GROUP BY, or aggregate it", "SELECT department, age, avg(age) FROM visits GROUP BY department, age"},
	{"SELECT count(*) FROM (SELECT * FROM visits ORDER BY cost LIMIT 10) t", "LIMIT is free above the aggregation", "SELECT count(*) FROM visits ORDER BY 1 LIMIT 10"},
	{"SELECT avg(s) FROM (SELECT sum(score) OVER (PARTITION BY score) AS s FROM survey) t", "rank() OVER (ORDER BY count(*) DESC) with GROUP BY", "SELECT score, rank() OVER (ORDER BY count(*) DESC) FROM survey GROUP BY score"},
	{"SELECT avg(r) FROM (SELECT row_number() OVER (ORDER BY cost) AS r FROM visits) t", "within one unit write PARTITION BY visits.patient_id", "SELECT avg(least(r, 50)) FROM (SELECT row_number() OVER (PARTITION BY visits.patient_id ORDER BY cost) AS r FROM visits) t"},
	{"SELECT 1 FROM visits GROUP BY count(*)", "aggregate in a subquery in FROM, and use its column here", "SELECT 1 FROM (SELECT count(*) AS n FROM visits GROUP BY department) AS t GROUP BY n"},
	{"SELECT count(*) FROM visits WHERE age > (SELECT floor FROM departments)", "(SELECT max(x) FROM ...)", "SELECT count(*) FROM visits WHERE age > (SELECT max(floor) FROM departments)"},
	{"SELECT sum(count(*)) FROM visits", "SELECT avg(n) FROM (SELECT count(*) AS n FROM ... GROUP BY ...) AS t", "SELECT avg(n) FROM (SELECT count(*) AS n FROM visits GROUP BY department) AS t"},
	{"SELECT age FROM visits", "ask for count(*), sum(x), avg(x), ... perhaps with GROUP BY", "SELECT department, count(*), sum(age), avg(age) FROM visits GROUP BY department"},
	{"SELECT sum(length(note)) FROM visits", "least(..., 100) around it", "SELECT sum(least(length(note), 100)) FROM visits"},
	{"SELECT avg(extract(day FROM stay)) FROM visits", "least(greatest(..., 0), 100) around it", "SELECT avg(least(greatest(extract(day FROM stay), 0), 100)) FROM visits"},
	{"SELECT sum(visit_id) FROM visits", "write least(greatest(visit_id, 0), 100) in its place", "SELECT sum(least(greatest(visit_id, 0), 100)) FROM visits"},
	{"SELECT median(visit_id) FROM visits", "write least(greatest(visit_id, 0), 100) in its place", "SELECT median(least(greatest(visit_id, 0), 100)) FROM visits"},
	{"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY visit_id) FROM visits", "write least(greatest(visit_id, 0), 100) in its place", "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY least(greatest(visit_id, 0), 100)) FROM visits"},
	{"SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY length(note)) FROM visits", "least(..., 100) around it", "SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY least(length(note), 100)) FROM visits"},
	{"SELECT max(visit_id) FROM visits", "write least(greatest(visit_id, 0), 100) in its place", "SELECT max(least(greatest(visit_id, 0), 100)) FROM visits"},
	{"SELECT stddev(visit_id) FROM visits", "write least(greatest(visit_id, 0), 100) in its place", "SELECT stddev(least(greatest(visit_id, 0), 100)) FROM visits"},
	{"SELECT corr(visit_id, age) FROM visits", "least(greatest(..., 0), 100) around it", "SELECT corr(least(greatest(visit_id, 0), 100), age) FROM visits"},
	{"SELECT approx_quantiles(visit_id, 4) FROM visits", "write least(greatest(visit_id, 0), 100) in its place", "SELECT approx_quantiles(least(greatest(visit_id, 0), 100), 4) FROM visits"},
	{"SELECT sum(visit_id::double precision) FROM visits", "least(greatest(..., 0), 100) around it", "SELECT sum(least(greatest(visit_id::double precision, 0), 100)) FROM visits"},
	{"SELECT sum(least(greatest(visit_id, -9000000000000000000), 9000000000000000000)) FROM visits", "cast to double precision", "SELECT sum(CAST(least(greatest(visit_id, -9000000000000000000), 9000000000000000000) AS double precision)) FROM visits"},
	{"SELECT count(*) FROM visits WHERE age > 80 OR department IN (SELECT name FROM departments)", "by AND, or use a LEFT JOIN and test for NULL", "SELECT count(*) FROM visits LEFT JOIN departments ON name = department WHERE age > 80 OR name IS NOT NULL"},
	{"SELECT sum(rank() OVER (ORDER BY age)) FROM visits", "compute it in a subquery in FROM, and aggregate its column", "SELECT sum(least(r, 9)) FROM (SELECT rank() OVER (PARTITION BY patient_id ORDER BY age) AS r FROM visits) AS t"},
	{"SELECT rank() OVER (ORDER BY age) AS r FROM visits GROUP BY r", "compute it in a subquery in FROM, and group by its column", "SELECT r, count(*) FROM (SELECT rank() OVER (PARTITION BY patient_id ORDER BY age) AS r FROM visits) AS t GROUP BY r"},
	{"SELECT department FROM visits GROUP BY department HAVING rank() OVER (ORDER BY count(*)) = 1", "compute it in a subquery in FROM, and write the condition around it", "SELECT department FROM (SELECT department, rank() OVER (ORDER BY count(*)) AS r FROM visits GROUP BY department) AS t WHERE r = 1"},
	{"SELECT lag(rank() OVER (ORDER BY age)) OVER (ORDER BY age) FROM visits GROUP BY age", "compute the inner one in a subquery in FROM", "SELECT lag(r) OVER (ORDER BY age) FROM (SELECT age, rank() OVER (ORDER BY age) AS r FROM visits GROUP BY age) AS t"},
	{"SELECT count(*) FROM visits WHERE cost % 2 > 1", "x::numeric(18,6) % 2", "SELECT count(*) FROM visits WHERE cost::numeric(18,6) % 2 > 1"},
	{"SELECT median(note) FROM visits", "convert it with CAST", "SELECT median(least(greatest(CAST(note AS integer), 0), 9)) FROM visits"},
	{"SELECT count(*) FROM visits WHERE -department > 1", "convert it with CAST", "SELECT count(*) FROM visits WHERE -CAST(department AS integer) > 1"},
	{"SELECT avg(b) FROM (SELECT patient_id, bool_and(age) AS b FROM visits GROUP BY patient_id) AS t", "CAST(... AS boolean)", "SELECT avg(b) FROM (SELECT patient_id, bool_and(CAST(age AS boolean)) AS b FROM visits GROUP BY patient_id) AS t"},
	{"SELECT count(*) FROM visits WHERE sqrt(department) > 1", "CAST(... AS double)", "SELECT count(*) FROM visits WHERE sqrt(CAST(department AS double)) > 1"},
	{"SELECT count(*) FROM visits WHERE left(department, patient_id) = 'E'", "CAST(... AS integer)", "SELECT count(*) FROM visits WHERE left(department, CAST(patient_id AS integer)) = 'E'"},
	{"SELECT count(*) FROM visits WHERE lower(age) = 'x'", "CAST(... AS text)", "SELECT count(*) FROM visits WHERE lower(CAST(age AS text)) = 'x'"},
	{"SELECT count(*) FROM visits WHERE age IN (1, department)", "CAST(... AS integer)", "SELECT count(*) FROM visits WHERE age IN (1, CAST(department AS integer))"},
	{"SELECT count(*) FROM visits WHERE department + 1 > 2", "convert one side with CAST", "SELECT count(*) FROM visits WHERE CAST(department AS integer) + 1 > 2"},
	{"SELECT patient_id, count(*) FROM visits GROUP BY patient_id", "SELECT count(*), avg(n) FROM (SELECT count(*) AS n ... GROUP BY ...) AS t", "SELECT count(*), avg(least(n, 50)) FROM (SELECT count(*) AS n FROM visits GROUP BY patient_id) AS t"},
	{"SELECT patient_id, sum(cost) FROM visits GROUP BY patient_id", "or leave out the key that names the unit", "SELECT department, sum(cost) FROM visits GROUP BY department"},
	{"SELECT bool_or(age > 3) FROM visits", "count the rows for which it is true, with FILTER (WHERE ...)", "SELECT count(*) FILTER (WHERE age > 3) FROM visits"},
	{"SELECT sum(DISTINCT age) FROM visits", "count(DISTINCT ...), or make the rows distinct in a subquery", "SELECT count(DISTINCT age) FROM visits"},
	{"SELECT avg(DISTINCT age) FROM visits", "make the rows distinct in a subquery", "SELECT avg(age) FROM (SELECT DISTINCT patient_id, age FROM visits) AS t"},
	{"SELECT count(*) FROM visits WHERE age IN (SELECT * FROM generate_series(1, 3))", "or write VALUES", "SELECT count(*) FROM visits WHERE age IN (VALUES (1), (2), (3))"},
	{"SELECT count(*) FROM visits JOIN generate_series(1, 3) AS g ON g = age", "or write VALUES", "SELECT count(*) FROM visits JOIN (VALUES (1), (2), (3)) AS g (g) ON g = age"},
	{"SELECT count(*) FROM visits WHERE department IN (ARRAY['ER'])", "for a list of values write IN (...)", "SELECT count(*) FROM visits WHERE department IN ('ER')"},
	{"SELECT count(*) FROM visits WHERE to_char(age, '999') = '1'", "write CAST(x AS text), or round(x, 2)", "SELECT count(*) FROM visits WHERE CAST(age AS text) = '1' OR round(age, 2) = 1"},
	{"SELECT to_char(seen_at, 'YYYY-WW'), count(*) FROM visits GROUP BY 1", "extract(doy FROM x)", "SELECT extract(doy FROM seen_at), count(*) FROM visits GROUP BY 1"},
	{"SELECT count(*) FROM visits JOIN visits ON true", "visits AS other", "SELECT count(*) FROM visits JOIN visits AS other ON visits.patient_id = other.patient_id"},
	{"SELECT count(*) AS n FROM visits GROUP BY n", "to group by an aggregate, aggregate in a subquery in FROM first", "SELECT n, count(*) FROM (SELECT patient_id, count(*) AS n FROM visits GROUP BY patient_id) AS t GROUP BY n"},
	{"SELECT string_agg(department, ',') FROM visits", "SELECT x, count(*) ... GROUP BY x", "SELECT department, count(*) FROM visits GROUP BY department"},
	{"SELECT count((seen_at - seen_at)::text) FROM visits", "extract(epoch FROM x)", "SELECT count(extract(epoch FROM seen_at - seen_at)::text) FROM visits"},
	{"SELECT department FROM visits GROUP BY department EXCEPT ALL SELECT name FROM departments", "leave ALL out", "SELECT department FROM visits GROUP BY department EXCEPT SELECT name FROM departments"},
	{"SELECT count(*) FROM visits WHERE department COLLATE \"C\" = 'er'", "lower(x) compares without case", "SELECT count(*) FROM visits WHERE lower(department) = 'er'"},
	{"SELECT percentile_cont(0.1) WITHIN GROUP (ORDER BY age DESC) FROM visits", "the quantile 1 - p", "SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY age) FROM visits"},
	{"SELECT department FROM visits GROUP BY DISTINCT department", "leave DISTINCT out", "SELECT department FROM visits GROUP BY department"},
	{"SELECT lower(note) OVER (), count(*) FROM visits GROUP BY note", "leave OVER out", "SELECT lower(note), count(*) FROM visits GROUP BY note"},
	{"SELECT department, age, count(*) FROM visits GROUP BY CUBE (department, age, department, age, department, age, department)", "GROUP BY GROUPING SETS ((a, b), (a), ())", "SELECT department, age, count(*) FROM visits GROUP BY GROUPING SETS ((department, age), (department), ())"},
	{"SELECT grouping(age) FROM visits GROUP BY department", "name keys of GROUP BY", "SELECT grouping(department), count(*) FROM visits GROUP BY department"},
	{"SELECT sum(*) FROM visits", "sum(x)", "SELECT sum(age) FROM visits"},
	{"SELECT FROM visits", "SELECT count(*)", "SELECT count(*) FROM visits"},
	{"SELECT sum(count(*)) OVER (ORDER BY CAST(sum(age) AS decimal(38,0)) RANGE 1 PRECEDING) FROM visits GROUP BY department", "CAST(x AS decimal(18, 2))", "SELECT sum(count(*)) OVER (ORDER BY CAST(sum(age) AS decimal(18, 2)) RANGE 1 PRECEDING) FROM visits GROUP BY department"},
	{"SELECT sum(count(*)) OVER (ORDER BY department RANGE 1 PRECEDING) FROM visits GROUP BY department", "order by a number, or write ROWS", "SELECT sum(count(*)) OVER (ORDER BY department ROWS 1 PRECEDING) FROM visits GROUP BY department"},
	{"SELECT sum(count(*)) OVER (ORDER BY date_trunc('day', seen_at) RANGE BETWEEN INTERVAL '6 days' PRECEDING AND CURRENT ROW) FROM visits GROUP BY date_trunc('day', seen_at)", "order by extract(epoch FROM ...), with the span in seconds", "SELECT sum(count(*)) OVER (ORDER BY extract(epoch FROM date_trunc('day', seen_at)) RANGE BETWEEN 518400 PRECEDING AND CURRENT ROW) FROM visits GROUP BY date_trunc('day', seen_at)"},
	{"SELECT sum(count(*)) OVER (ORDER BY department, age RANGE 1 PRECEDING) FROM visits GROUP BY department, age", "order by one column, or write ROWS", "SELECT sum(count(*)) OVER (ORDER BY age RANGE 1 PRECEDING) FROM visits GROUP BY department, age"},
	{"SELECT department FROM visits GROUP BY department UNION ALL SELECT name FROM departments ORDER BY lower(department)", "put the UNION into FROM and sort around it", "SELECT department FROM (SELECT department FROM visits GROUP BY department UNION ALL SELECT name FROM departments) AS t ORDER BY lower(department)"},
	{"SELECT department FROM visits WHERE count(*) > 5 GROUP BY department", "put the condition into HAVING", "SELECT department FROM visits GROUP BY department HAVING count(*) > 5"},
	{"SELECT department, count(*) FROM visits GROUP BY department QUALIFY row_number() = 1", "put the query into FROM, and WHERE around it", "SELECT * FROM (SELECT department, row_number() OVER (ORDER BY count(*)) AS r FROM visits GROUP BY department) AS t WHERE r = 1"},
	{"SELECT count(*) FROM visits JOIN departments ON age = (SELECT max(floor) FROM departments)", "put the subquery into FROM and join it", "SELECT count(*) FROM visits JOIN (SELECT max(floor) AS m FROM departments) AS t ON age = m"},
	{"SELECT DISTINCT department FROM visits ORDER BY age", "put the query into FROM and sort around it", "SELECT department FROM (SELECT DISTINCT department FROM visits) AS t ORDER BY department"},
	{"SELECT count(*) FROM visits WHERE (department, age) IN (SELECT name, floor FROM departments)", "EXISTS", "SELECT count(*) FROM visits WHERE EXISTS (SELECT 1 FROM departments WHERE name = department AND floor = age)"},
	{"SELECT max(stay) FROM visits", "extract(epoch from ...)", "SELECT max(least(greatest(extract(epoch from stay), 0), 100)) FROM visits"},
	{"SELECT stay, count(*) FROM visits GROUP BY stay", "extract(epoch from ...)", "SELECT extract(epoch from stay), count(*) FROM visits GROUP BY 1"},
	{"SELECT max(seen_at) FROM visits", "to_timestamp(CAST(max(extract(epoch FROM x)) AS bigint))", "SELECT to_timestamp(CAST(max(extract(epoch FROM seen_at)) AS bigint)) FROM visits"},
	{"SELECT median(seen_at) FROM visits", "to_timestamp(CAST(... AS bigint))", "SELECT to_timestamp(CAST(median(extract(epoch FROM seen_at)) AS bigint)) FROM visits"},
	{"SELECT max(note) FROM visits", "count by value and keep the largest", "SELECT note, count(*) FROM visits GROUP BY note ORDER BY note DESC LIMIT 1"},
	{"SELECT mode() WITHIN GROUP (ORDER BY department), count(*) FROM visits GROUP BY age", "in a SELECT of their own, and join the two by their keys", "SELECT a.age, a.m, b.n FROM (SELECT age, mode() WITHIN GROUP (ORDER BY department) AS m FROM visits GROUP BY age) AS a JOIN (SELECT age, count(*) AS n FROM visits GROUP BY age) AS b ON a.age = b.age"},
	{"SELECT count(*) FROM visits a JOIN visits b ON a.department = b.department", "a.patient_id = b.patient_id", "SELECT count(*) FROM visits a JOIN visits b ON a.department = b.department AND a.patient_id = b.patient_id"},
	{"SELECT count(*) FROM visits WHERE note IN (SELECT note FROM visits)", "as a.patient_id = b.patient_id", "SELECT count(*) FROM visits a WHERE note IN (SELECT note FROM visits b WHERE a.patient_id = b.patient_id)"},
	{"SELECT count(*) FROM visits JOIN patients ON age = born", "visits.patient_id = patients.id", "SELECT count(*) FROM visits JOIN patients ON age = born AND visits.patient_id = patients.id"},
	{"SELECT count(*) FROM prescriptions JOIN visits ON age > 3", "join along the declared reference", "SELECT count(*) FROM prescriptions JOIN visits ON age > 3 AND prescriptions.visit = visits.visit_id"},
	{"SELECT name, count(*) FROM departments d LEFT JOIN visits v ON v.department = d.name GROUP BY name", "or preserve the private side", "SELECT name, count(*) FROM departments d RIGHT JOIN visits v ON v.department = d.name GROUP BY name"},
	{"SELECT count(*) FROM departments WHERE name IN (SELECT department FROM visits)", "start from the private table and join the public one", "SELECT count(*) FROM visits JOIN departments ON name = department"},
	{"SELECT count(*) FROM (SELECT department FROM visits UNION ALL SELECT name FROM departments) t", "aggregate the private rows first", "SELECT sum(n) FROM (SELECT count(*) AS n FROM visits UNION ALL SELECT count(*) FROM departments) t"},
	{"SELECT patient_id, department, count(*) FROM visits GROUP BY ROLLUP (department, patient_id)", "", "SELECT department, count(*) FROM visits GROUP BY ROLLUP (department)"},
	{"SELECT count(*) FROM unbounded", "aggregating by the unit first also works", "SELECT sum(least(n, 10)) FROM (SELECT patient_id, count(*) AS n FROM unbounded GROUP BY patient_id) AS t"},
	{"SELECT x, count(DISTINCT patient_id) FROM unbounded GROUP BY x", "aggregating by the unit first also works", "SELECT m, count(*) FROM (SELECT patient_id, max(x) AS m FROM unbounded GROUP BY patient_id) AS t GROUP BY m"},
	{"SELECT 1 FROM visits HAVING true", "count(*)", "SELECT count(*) FROM visits HAVING true"},
	{"SELECT count(*) FROM visits WHERE department && 'x'", "write AND", "SELECT count(*) FROM visits WHERE department = 'x' AND true"},
	{"SELECT department FROM visits GROUP BY department ORDER BY department USING <", "ASC or DESC", "SELECT department FROM visits GROUP BY department ORDER BY department DESC"},
	{"SELECT count(treat(age AS int4)) FROM visits", "write CAST", "SELECT count(cast(age AS int4)) FROM visits"},
	{"SELECT count(*) FROM visits WHERE extract(year FROM '2025-01-01') = 1", "DATE or TIMESTAMP before the constant", "SELECT count(*) FROM visits WHERE extract(year FROM DATE '2025-01-01') = 2025"},
	{"SELECT count(*) FROM visits NATURAL JOIN patients", "JOIN ... USING (columns)", "SELECT count(*) FROM visits JOIN visits AS b USING (patient_id)"},
	{"SELECT count(*) FROM visits WHERE note SIMILAR TO 'x'", "LIKE, or ~ with a regular expression", "SELECT count(*) FROM visits WHERE note LIKE 'x' OR note ~ 'x'"},
	{"SELECT TOP 5 department FROM visits GROUP BY department", "LIMIT 5 at the end", "SELECT department FROM visits GROUP BY department LIMIT 5"},
	{"SELECT department FROM visits GROUP BY department LIMIT 1, 2", "LIMIT count OFFSET start", "SELECT department FROM visits GROUP BY department LIMIT 2 OFFSET 1"},
	{"SELECT department FROM visits GROUP BY department ORDER BY department FETCH FIRST 3 ROWS WITH TIES", "write ONLY, or LIMIT", "SELECT department FROM visits GROUP BY department ORDER BY department FETCH FIRST 3 ROWS ONLY"},
	{"SELECT avg(least(s, 10)) FROM (SELECT last_value(age) OVER (PARTITION BY patient_id ORDER BY department) AS s FROM visits) t", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "SELECT avg(least(s, 10)) FROM (SELECT last_value(age) OVER (PARTITION BY patient_id ORDER BY department ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS s FROM visits) t"},
	{"SELECT count(*) FROM visits WHERE @ age = 1", "abs(x)", "SELECT count(*) FROM visits WHERE abs(age) = 1"},
	{"SELECT avg(date_diff(seen_at, DATE '2025-01-01', WEEK)) FROM visits", "DAY, QUARTER or YEAR", "SELECT avg(date_diff(seen_at, DATE '2025-01-01', DAY)) FROM visits"},
	{"SELECT date_trunc(department, seen_at), count(*) FROM visits GROUP BY 1", "as in 'month'", "SELECT date_trunc('month', seen_at), count(*) FROM visits GROUP BY 1"},
	{"SELECT percentile_cont(0.5) FROM visits", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM visits"},
	{"SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY age) FROM visits", "percentile_cont(0.5)", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM visits"},
	{"SELECT width_bucket(cost, 0, age, 3), count(*) FROM visits GROUP BY 1", "width_bucket(x, 0, 100, 10)", "SELECT width_bucket(cost, 0, 100, 10), count(*) FROM visits GROUP BY 1"},
	{"SELECT width_bucket(cost, ARRAY[0, age]), count(*) FROM visits GROUP BY 1", "width_bucket(x, ARRAY[0, 100, 500])", "SELECT width_bucket(cost, ARRAY[0, 100, 500]), count(*) FROM visits GROUP BY 1"},
	{"SELECT count(*) FROM visits WHERE seen_at > DATE '2025-01-01' + INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1 day 2 hours'", "SELECT count(*) FROM visits WHERE seen_at > DATE '2025-01-01' + INTERVAL '1 day 2 hours'"},
	{"SELECT count(to_date(note, 'DD.MON.YYYY')) FROM visits", "to_date(x, 'DD.MM.YYYY')", "SELECT count(to_date(note, 'DD.MM.YYYY')) FROM visits"},
	{"SELECT count(to_timestamp(cost)) FROM visits", "to_timestamp(CAST(floor(x) AS bigint))", "SELECT count(to_timestamp(CAST(floor(cost) AS bigint))) FROM visits"},
	{"SELECT count(substring(note SIMILAR 'x' ESCAPE '#')) FROM visits", "SUBSTRING(x FROM 'pattern')", "SELECT count(substring(note FROM 'x')) FROM visits"},
	{"SELECT count(*) FROM visits WHERE note ~ '\\w+'", "[...]", "SELECT count(*) FROM visits WHERE note ~ '[A-Za-z0-9_]+'"},
	{"SELECT count(substring(note FROM 'a|ab')) FROM visits", "'([^@]*)@' or '[a-z]+[0-9]*'", "SELECT count(substring(note FROM '[a-z]+[0-9]*')), count(substring(note FROM '([^@]*)@')) FROM visits"},
	{"TABLE departments", "SELECT * FROM the table", "SELECT * FROM departments"},
	{"SELECT rank() FROM visits GROUP BY department", "rank() OVER (PARTITION BY x ORDER BY y)", "SELECT rank() OVER (PARTITION BY department ORDER BY count(*)) FROM visits GROUP BY department"},
	{"SELECT 0.00000000000000000001 * 0.00000000000000000001", "x::double precision", "SELECT 0.00000000000000000001::double precision * 0.00000000000000000001"},
	{"SELECT count(*) FROM visits GROUP BY ALL department", "leave ALL out and list the grouping keys", "SELECT count(*) FROM visits GROUP BY department"},
	{"SELECT score FROM (SELECT score FROM survey UNION ALL SELECT score FROM survey) t GROUP BY score", "express it in one pass", "SELECT score FROM survey GROUP BY score"},
	{"SELECT sum(age) OVER w FROM visits", "OVER (PARTITION BY x ORDER BY y)", "SELECT count(s) FROM (SELECT sum(age) OVER (PARTITION BY patient_id ORDER BY seen_at) AS s FROM visits) AS t"},
	{"SELECT count(*) FROM visits WHERE sqrt(cost, 2) > 1", "write sqrt(x)", "SELECT count(*) FROM visits WHERE sqrt(cost) > 1"},
	{"SELECT count(*) FROM visits AS v, LATERAL f(v.age) s", "LATERAL (SELECT ...)", "SELECT count(*) FROM visits AS v, LATERAL (SELECT max(floor) AS f FROM departments WHERE name = v.department) s"},
	{"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age, cost) FROM visits", "write WITHIN GROUP (ORDER BY x)", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM visits"},
	{"SELECT percentile_cont(ARRAY []) WITHIN GROUP (ORDER BY age) FROM visits", "ARRAY[0.25, 0.5, 0.75]", "SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY age) FROM visits"},
	{"SELECT count(*) FROM visits WHERE age = ANY (ARRAY [])", "ARRAY[]::integer[]", "SELECT count(*) FROM visits WHERE age = ANY (ARRAY[]::integer[])"},
	{"SELECT count(*) FROM visits WHERE seen_at > DATE '2025-01-01' + INTERVAL(3) '1 day'", "INTERVAL '...' alone", "SELECT count(*) FROM visits WHERE seen_at > DATE '2025-01-01' + INTERVAL '1 day'"},
	{"SELECT count(note::numeric(age)) FROM visits", "numeric(10, 2) or varchar(20)", "SELECT count(note::numeric(10, 2)), count(note::varchar(20)) FROM visits"},
	{"SELECT count(substring(note)) FROM visits", "substring(x, y)", "SELECT count(substring(note, 2)) FROM visits"},
	{"SELECT department FROM visits GROUP BY department LIMIT 1.5", "LIMIT 10", "SELECT department FROM visits GROUP BY department LIMIT 10"},
	{"SELECT percentile_disc(age) WITHIN GROUP (ORDER BY age) FROM visits", "percentile_disc(0.5)", "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age) FROM visits"},
	{"SELECT count(*) FROM visits WHERE grouping(age) = 0 GROUP BY age", "the select list, HAVING or ORDER BY", "SELECT count(*) FROM visits GROUP BY age HAVING grouping(age) = 0 ORDER BY grouping(age)"},
	{"SELECT rank(age) OVER () FROM visits GROUP BY age", "rank() OVER (...)", "SELECT rank() OVER (ORDER BY age) FROM visits GROUP BY age"},
	{"SELECT lag() OVER () FROM visits GROUP BY age", "write lag(x)", "SELECT lag(age) OVER () FROM visits GROUP BY age"},
	{"SELECT sum(age) OVER (w) FROM visits GROUP BY age WINDOW w AS (ORDER BY age ROWS 1 PRECEDING)", "write OVER w, or the whole window", "SELECT sum(age) OVER w FROM visits GROUP BY age WINDOW w AS (ORDER BY age ROWS 1 PRECEDING)"},
	{"SELECT count(*) FROM visits WHERE power(cost) > 1", "power(x, y)", "SELECT count(*) FROM visits WHERE power(cost, 2) > 1"},
	{"SELECT count(*) FROM visits WHERE round(cost, 1, 2) > 1", "round(x)", "SELECT count(*) FROM visits WHERE round(cost) > 1"},
	{"SELECT CAST(age AS numeric(50,2)) FROM visits GROUP BY age", "numeric(p,s) with at most 38 digits", "SELECT CAST(age AS numeric(38,2)), CAST(age AS double precision), CAST(age AS smallint), CAST(age AS real), CAST(age AS varchar(3)) FROM visits GROUP BY age"},
	{"SELECT avg(date_diff(age, DATE '2025-01-01', DAY)) FROM visits", "date_diff(later, earlier, DAY)", "SELECT avg(date_diff(seen_at, TIMESTAMP '2025-01-01', DAY)) FROM visits"},
	{"SELECT count(regexp_replace(note, '(a)(b)(c)(d)(e)(f)(g)(h)', '')) FROM visits", "(?:...)", "SELECT count(regexp_replace(note, '(?:a)(?:b)(?:c)(?:d)(?:e)(?:f)(g)(h)', '')) FROM visits"},
	{"SELECT (string_to_array(department, ' '))[1], count(*) FROM visits GROUP BY 1", "split_part(x, ',', 2)", "SELECT split_part(department, ' ', 1), count(*) FROM visits GROUP BY 1"},
	{"SELECT count(*) FROM visits WHERE trim(lower(department)) LIKE ANY (ARRAY['a%', 'b%'])", "x LIKE ANY (ARRAY['a%', 'b%'])", "SELECT count(*) FROM visits WHERE department LIKE ANY (ARRAY['a%', 'b%'])"},
	{"SELECT count(DISTINCT (department, age)) FROM visits", "count(DISTINCT a || ' ' || b)", "SELECT count(DISTINCT department || ' ' || age::text) FROM visits"},
	{"SELECT avg(gap) FROM (SELECT seen_at - lag(seen_at) OVER (PARTITION BY patient_id ORDER BY seen_at) AS gap FROM visits) AS t", "extract(epoch FROM x)",
		"SELECT avg(extract(epoch FROM gap) / 86400) FROM (SELECT seen_at - lag(seen_at) OVER (PARTITION BY patient_id ORDER BY seen_at) AS gap FROM visits) AS t"},
	{"SELECT DISTINCT ON (department) department, count(*) FROM visits GROUP BY department", "ORDER BY with the expressions of DISTINCT ON first", "SELECT DISTINCT ON (department) department, count(*) FROM visits GROUP BY department ORDER BY department, count(*)"},
	{"SELECT DISTINCT ON (department) department, count(*) FROM visits GROUP BY department ORDER BY count(*)", "ORDER BY with them first", "SELECT DISTINCT ON (department) department, count(*) FROM visits GROUP BY department ORDER BY department, count(*) DESC"},
	{"SELECT count(*) FROM visits WHERE age > $1", "write the constant itself", "SELECT count(*) FROM visits WHERE age > 3"},
}

// Who follows a refusal's hint is answered.
func TestHintsAreAnswered(t *testing.T) {
	c := load(t)
	for _, of := range followed {
		var d *diagnostic.Diagnostic
		if _, err := analyze(c, of[0]); !errors.As(err, &d) {
			t.Errorf("%s\nis not refused: %v", of[0], err)
		} else if !strings.Contains(d.Hint, of[1]) || d.Hint == "" {
			t.Errorf("%s\n%s %s\nhas the hint %q, not %q", of[0], d.Code, d.Message, d.Hint, of[1])
		}
		if _, err := analyze(c, of[2]); err != nil {
			t.Errorf("%s\n  whose hint was %q, is written anew as\n%s\n%v", of[0], of[1], of[2], err)
		}
	}
}

// A hint that shows SQL is one that is followed above, but for those about what is no statement.
func TestHintsWithSQLAreFollowed(t *testing.T) {
	c := load(t)
	var refused []string
	for _, e := range diagnostic.Entries() {
		if e.Code < "D070" && e.Example != "" {
			refused = append(refused, e.Example)
		}
	}
	for _, of := range []string{"../sqlparse", "../bind", "."} {
		files, err := filepath.Glob(of + "/testdata/refuse/*.sql")
		if err != nil || files == nil {
			t.Fatalf("%s: %v", of, err)
		}
		for _, f := range files {
			cases, err := diagnostictest.Read(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range cases {
				refused = append(refused, k.SQL)
			}
		}
	}
	seen := map[string]bool{}
	for _, sql := range refused {
		var d *diagnostic.Diagnostic
		if _, err := analyze(c, sql); !errors.As(err, &d) || d.Code < "D005" || seen[d.Hint] || strings.HasPrefix(d.Hint, "leave it out") || !shown.MatchString(d.Hint) {
			continue
		}
		seen[d.Hint] = true
		if !slices.ContainsFunc(followed, func(of [3]string) bool { return of[1] != "" && strings.Contains(d.Hint, of[1]) }) {
			t.Errorf("%s\n%s: nobody follows %q", sql, d.Code, d.Hint)
		}
	}
}

// shown is SQL in a hint.
var shown = regexp.MustCompile(`[a-z_]+ ?\([^)]|\b(SELECT|CAST|GROUP|ORDER|OVER|EXISTS|FILTER|INTERVAL|ARRAY|WITHIN|ROWS|LIMIT|HAVING|WHERE|JOIN|UNION|DISTINCT)\b|::`)
