/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day
rows: t.d, t.k, u.d, u.k
tight
---*/
SELECT d, k FROM t UNION SELECT d, k FROM u
