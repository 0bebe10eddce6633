/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 6 days back
reads total: t.d, t.k, t.v
exists: t
tight
---*/
SELECT d, k, CAST(sum(v) OVER (PARTITION BY k ORDER BY d
  RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW) AS BIGINT) AS total
FROM t
