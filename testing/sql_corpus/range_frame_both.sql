/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 1 day back, 2 days ahead
tight
---*/
SELECT d, k, count(*) OVER (ORDER BY d
  RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 2 DAYS FOLLOWING) AS n FROM t
