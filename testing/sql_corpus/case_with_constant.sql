/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
---*/
SELECT CASE WHEN k = 0 THEN DATE '2024-03-01' ELSE d END AS d, v FROM t
