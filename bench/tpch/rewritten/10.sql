-- Not the customers who returned the most, but the nations whose customers did.
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1993-10-01' + INTERVAL '3 months'
  AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY n_name
ORDER BY revenue DESC
LIMIT 20
