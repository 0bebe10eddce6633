/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
reads total: t.v
rows: t.d
exists: t
tight
---*/
SELECT d, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY d
