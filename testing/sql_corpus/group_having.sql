/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
rows: t.d, t.v
---*/
SELECT d, count(*) AS n FROM t GROUP BY d HAVING sum(v) > 1
