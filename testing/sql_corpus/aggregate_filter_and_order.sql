/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
reads n: t.k, t.v
---*/
SELECT d, count(v) FILTER (WHERE k > 0) AS n FROM t GROUP BY d
