/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day, no NULL
---*/
SELECT d, v FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.d = t.d)
