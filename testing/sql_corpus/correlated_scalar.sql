/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day, no NULL
---*/
SELECT d, v, (SELECT max(w) FROM u WHERE u.d = t.d) AS top FROM t
