/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 2 days ahead
tight
---*/
SELECT d, k, count(*) OVER (ORDER BY d DESC
  RANGE BETWEEN INTERVAL 2 DAYS PRECEDING AND CURRENT ROW) AS n FROM t
