/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
tight
---*/
SELECT d, k, v, rank() OVER (PARTITION BY d ORDER BY v) AS r FROM t
