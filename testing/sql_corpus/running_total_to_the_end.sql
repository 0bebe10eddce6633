/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: everything later, NULL to every
tight
---*/
SELECT d, count(*) OVER (ORDER BY d RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS n FROM t
