/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 3 days back
-- The rows themselves are needed too.
---*/
SELECT d, k, count(*) OVER (ORDER BY d
  RANGE BETWEEN INTERVAL 3 DAYS PRECEDING AND INTERVAL 1 DAY PRECEDING) AS n FROM t
