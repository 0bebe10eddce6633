/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: same day, no NULL
rows: t.d, u.d
---*/
SELECT d, v FROM t WHERE d IN (SELECT d FROM u)
