/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day, no NULL
---*/
SELECT t.d, x.n FROM t, LATERAL (SELECT count(*) AS n FROM u WHERE u.d = t.d) AS x
