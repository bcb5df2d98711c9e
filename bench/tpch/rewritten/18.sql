-- Not who placed large orders, but how many there are, and their worth.
SELECT count(*) AS orders, sum(o_totalprice) AS worth
FROM orders
WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
