/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 2 days back
tight
---*/
SELECT d, k, count(*) OVER (ORDER BY d DESC
  RANGE BETWEEN CURRENT ROW AND INTERVAL 2 DAYS FOLLOWING) AS n FROM t
