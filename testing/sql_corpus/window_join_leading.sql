/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: 2 days ahead, no NULL
tight
---*/
SELECT t.d, u.w FROM t JOIN u ON u.d BETWEEN t.d AND t.d + 2
