/*---
table t(m DATE, k INTEGER, v INTEGER) by month(m)
output month(m)
maps t: 2 months back
---*/
SELECT m, k, count(*) OVER (ORDER BY m
  RANGE BETWEEN INTERVAL 2 MONTHS PRECEDING AND CURRENT ROW) AS n FROM t
