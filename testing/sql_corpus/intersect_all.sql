/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day
exists: t, u
---*/
SELECT d, k FROM t INTERSECT ALL SELECT d, k FROM u
