/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day
---*/
SELECT d, t.v, u.w FROM t FULL JOIN u USING (d)
