/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: same day, no NULL
rows: t.d, t.k, u.d, u.k
tight
---*/
SELECT t.d, u.w FROM t, u WHERE t.k = u.k AND u.d = t.d
