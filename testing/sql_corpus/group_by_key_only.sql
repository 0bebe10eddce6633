/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output all
maps t: all
reads total: t.v
rows: t.k
exists: t
---*/
SELECT k, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY k
