/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day, no NULL
exists: t
tight
---*/
SELECT t.d, t.v FROM t ANTI JOIN u ON t.d = u.d
