/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: all
---*/
SELECT d, v, (SELECT max(w) FROM u WHERE u.k = t.k) AS top FROM t
