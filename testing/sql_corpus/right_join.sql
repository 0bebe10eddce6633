/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: same day
exists: u
tight
---*/
SELECT u.d, t.v FROM t RIGHT JOIN u ON t.d = u.d AND t.k = u.k
