/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 1 month earlier
---*/
SELECT d + INTERVAL '1 month' AS d, v FROM t
