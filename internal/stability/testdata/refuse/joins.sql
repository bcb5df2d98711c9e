-- D046: rows of different units must not meet.
SELECT count(*) FROM visits a JOIN visits b ON a.department = b.department /* ERROR D046 "other than their unit" */;
SELECT count(*) FROM visits a CROSS JOIN visits b /* ERROR D046 "other than their unit" */;
SELECT count(*) FROM visits WHERE note IN (SELECT note FROM visits) /* ERROR D046 "other than their unit" */;
SELECT count(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id;
SELECT count(*) FROM visits a JOIN patients b ON a.patient_id = b.id AND a.age = b.born;
-- D042: no public row may be kept for being unmatched.
SELECT count(*) FROM departments d LEFT JOIN visits v ON v.department = d.name /* ERROR D042 "public table" */;
SELECT count(*) FROM visits v RIGHT JOIN departments d ON v.department = d.name /* ERROR D042 "public table" */;
SELECT count(*) FROM visits v FULL JOIN departments d ON v.department = d.name /* ERROR D042 "public table" */;
SELECT count(*) FROM visits v LEFT JOIN departments d ON v.department = d.name;
SELECT count(*) FROM departments WHERE name IN (SELECT department FROM visits) /* ERROR D042 "public rows filtered" */;
SELECT name FROM (SELECT department, count(*) AS n FROM visits GROUP BY department) r RIGHT JOIN visits v ON v.age = r.n FULL JOIN departments d ON d.floor = r.n /* ERROR D042 "public table" */;
-- A release is public to the private rows that it is joined with.
SELECT count(*) FROM visits v CROSS JOIN (SELECT avg(cost) AS m FROM visits) a WHERE v.cost > a.m;
SELECT count(*) FROM (SELECT avg(cost) AS m FROM visits) a LEFT JOIN visits v ON v.cost > a.m /* ERROR D042 "public table" */;
SELECT m FROM (SELECT avg(cost) AS m FROM visits) a WHERE EXISTS (SELECT 1 FROM visits v WHERE v.cost > a.m) /* ERROR D042 "public rows filtered" */;
SELECT v.cost, a.m /* ERROR D041 "rows of private table" */ FROM visits v CROSS JOIN (SELECT avg(cost) AS m FROM visits) a;
-- D044, D052, D053
SELECT count(*) FROM visits v JOIN shifts /* ERROR D044 "domain" */ s ON s.department = v.department;
SELECT count(*) FROM (SELECT department FROM visits UNION ALL SELECT name FROM departments /* ERROR D052 "private rows" */) t;
SELECT count(*) FROM (SELECT score FROM survey UNION ALL SELECT score FROM survey /* ERROR D053 "cannot be combined" */) t;
SELECT patient_id, department, count(*) FROM visits GROUP BY ROLLUP (department, patient_id /* ERROR D052 "some grouping sets have the unit among their keys" */);
