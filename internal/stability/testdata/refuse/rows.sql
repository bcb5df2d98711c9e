-- D041: rows of a private table are no answer.
SELECT age /* ERROR D041 "rows of private table" */ FROM visits;
SELECT patient_id /* ERROR D041 "rows of private table" */ , count(*) FROM visits GROUP BY patient_id;
SELECT count(*) FROM visits;
SELECT avg(n) FROM (SELECT least(count(*), 20) AS n FROM visits GROUP BY patient_id) t;
-- D054: a window over private rows stays within one unit.
SELECT avg(r) FROM (SELECT row_number() OVER (ORDER BY cost) /* ERROR D054 "rows of several units" */ AS r FROM visits) t;
SELECT sum(cost) OVER () /* ERROR D054 "rows of several units" */ FROM visits;
SELECT avg(s) FROM (SELECT lag(cost) OVER (PARTITION BY department ORDER BY seen_at) /* ERROR D054 "rows of several units" */ AS s FROM visits) t;
SELECT avg(least(s, 10)) FROM (SELECT last_value(age) OVER (PARTITION BY patient_id ORDER BY department) /* ERROR D054 "leaves tied" */ AS s FROM visits) t;
SELECT avg(least(s, 10)) FROM (SELECT first_value(age) OVER (PARTITION BY patient_id ORDER BY department) AS s FROM visits) t;
SELECT row_number() OVER (PARTITION BY patient_id ORDER BY cost) /* ERROR D041 "rows of private table" */ FROM visits;
SELECT avg(s) FROM (SELECT sum(score) OVER (PARTITION BY score) /* ERROR D054 "rows of several units" */ AS s FROM survey) t;
-- GROUP BY a reference, or what it refers to, keeps each group within a unit.
SELECT visit /* ERROR D041 "rows of private table" */ , sum(dose) FROM prescriptions GROUP BY visit;
SELECT patient_id /* ERROR D041 "rows of private table" */ , count(*) FROM visits GROUP BY patient_id ORDER BY 2 DESC LIMIT 3;
