-- The average balance is asked first, in a statement of its own: it is about 5000.
SELECT substring(c_phone FROM 1 FOR 2) AS cntrycode, count(*) AS numcust, sum(c_acctbal) AS totacctbal
FROM customer
WHERE substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17') AND c_acctbal > 5000
  AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)
GROUP BY cntrycode
ORDER BY cntrycode
