/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day
exists: t
---*/
SELECT d, k FROM t EXCEPT SELECT d, k FROM u
