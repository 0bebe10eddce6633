/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: same day, no NULL
rows: t.d, u.d
exists: t, u
tight
---*/
SELECT t.d, t.v FROM t SEMI JOIN u ON t.d = u.d
