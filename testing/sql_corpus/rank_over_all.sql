/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output all
maps t: all
---*/
SELECT k, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS r FROM t GROUP BY k
