/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
rows: t.d, t.k
tight
---*/
SELECT d, k, CAST(sum(v) AS BIGINT) AS total, count(*) AS n FROM t GROUP BY d, k
