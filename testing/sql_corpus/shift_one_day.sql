/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 1 day earlier
tight
---*/
SELECT d + 1 AS d, v FROM t
