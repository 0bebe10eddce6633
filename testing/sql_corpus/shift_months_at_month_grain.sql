/*---
table t(m DATE, v INTEGER) by month(m)
output month(m)
maps t: 12 months earlier
---*/
SELECT m + INTERVAL 1 YEAR AS m, v FROM t
