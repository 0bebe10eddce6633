/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day
tight
---*/
SELECT coalesce(t.d, u.d) AS d, t.v, u.w FROM t FULL JOIN u ON t.d = u.d AND t.k = u.k
