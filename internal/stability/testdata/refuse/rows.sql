-- D041: rows of a private table are no answer.
SELECT age /* ERROR D041 "rows of private table" */ FROM visits;
SELECT patient_id /* ERROR D041 "rows of private table" */ , count(*) FROM visits GROUP BY patient_id;
SELECT count(*) FROM visits;
SELECT avg(n) FROM (SELECT least(count(*), 20) AS n FROM visits GROUP BY patient_id) t;
