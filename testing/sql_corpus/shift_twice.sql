/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 3 days earlier
---*/
SELECT d + 1 AS d, v FROM (SELECT d + 2 AS d, v FROM t)
