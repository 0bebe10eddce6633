/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: all
reads top: u.w
---*/
SELECT d, v, (SELECT max(w) FROM u) AS top FROM t
