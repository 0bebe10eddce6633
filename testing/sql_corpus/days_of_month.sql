/*---
table t(m DATE, k INTEGER, v INTEGER) by month(m)
output day(m)
maps t: month → day
---*/
SELECT m, k, v FROM t
