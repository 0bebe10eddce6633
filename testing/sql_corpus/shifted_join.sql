/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: 1 day earlier, no NULL
tight
---*/
SELECT t.d, t.v, u.w AS before FROM t LEFT JOIN u ON u.d = t.d - 1 AND u.k = t.k
