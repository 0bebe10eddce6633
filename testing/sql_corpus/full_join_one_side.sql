/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, every to NULL
maps u: same day, every to NULL
---*/
SELECT t.d, t.v, u.w FROM t FULL JOIN u ON t.d = u.d
