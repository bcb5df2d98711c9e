-- The average quantity of a part is asked first, in a statement of its own: it is about 25.5, and a fifth of that 5.1.
SELECT sum(l_extendedprice) / 7.0 AS avg_yearly
FROM lineitem, part
WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX' AND l_quantity < 5.1
