/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
reads n: t.k
tight
---*/
SELECT x.d, x.n FROM (SELECT d, count(DISTINCT k) AS n FROM t GROUP BY d) AS x
