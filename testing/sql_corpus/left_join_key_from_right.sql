/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: all
maps u: same day, every to NULL
exists: t, u | t
-- A row whose partner goes away moves to NULL: any day of u can do that to it.
---*/
SELECT u.d, t.v FROM t LEFT JOIN u ON t.k = u.k
