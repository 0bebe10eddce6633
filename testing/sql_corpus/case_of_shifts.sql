/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 1 day earlier; same day
tight
---*/
SELECT CASE WHEN k = 0 THEN d + 1 ELSE d END AS d, v FROM t
