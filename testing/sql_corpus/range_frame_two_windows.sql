/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 2 days back, no NULL; same day
reads total: t.d, t.v
---*/
SELECT d, k, CAST(sum(v) OVER (ORDER BY d RANGE BETWEEN INTERVAL 2 DAYS PRECEDING AND CURRENT ROW) AS BIGINT) AS total,
  count(*) OVER (PARTITION BY d) AS n
FROM t
