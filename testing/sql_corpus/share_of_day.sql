/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
order_sensitive
tight
---*/
SELECT d, k, v / sum(v::DOUBLE) OVER (PARTITION BY d) AS share FROM t
