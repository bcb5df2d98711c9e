-- Which orders are the dearest is a question about single customers. What they are worth together, by month, is not.
SELECT date_trunc('month', o_orderdate) AS month, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate BETWEEN DATE '1994-11-01' AND DATE '1995-03-14' AND l_shipdate > DATE '1995-03-15'
GROUP BY 1
ORDER BY revenue DESC
