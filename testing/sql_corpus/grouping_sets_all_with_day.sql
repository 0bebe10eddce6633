/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
tight
---*/
SELECT d, k, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY GROUPING SETS ((d, k), (d))
