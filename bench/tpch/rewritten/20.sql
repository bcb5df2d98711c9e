-- What is sold is compared with what is in stock for each supplier, not for each of 800,000 pairs of part and supplier.
WITH sold AS (
  SELECT l_suppkey AS supplier, sum(l_quantity) AS quantity
  FROM lineitem, part
  WHERE l_partkey = p_partkey AND p_name LIKE 'forest%'
    AND l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1 year'
  GROUP BY l_suppkey),
stock AS (
  SELECT ps_suppkey AS supplier, sum(ps_availqty) AS quantity
  FROM partsupp, part
  WHERE ps_partkey = p_partkey AND p_name LIKE 'forest%'
  GROUP BY ps_suppkey)
SELECT s_name, s_address
FROM supplier, nation, sold, stock
WHERE s_suppkey = sold.supplier AND s_suppkey = stock.supplier AND stock.quantity > 0.5 * sold.quantity
  AND s_nationkey = n_nationkey AND n_name = 'CANADA'
ORDER BY s_name
