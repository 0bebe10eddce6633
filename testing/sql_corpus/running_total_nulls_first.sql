/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: everything earlier, NULL to every
tight
---*/
SELECT d, CAST(sum(v) OVER (ORDER BY d NULLS FIRST) AS BIGINT) AS total FROM t
