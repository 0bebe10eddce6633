/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: 2 days ahead, no NULL
maps u: same day, no NULL
tight
---*/
SELECT u.d, t.v FROM t JOIN u ON u.d BETWEEN t.d - 2 AND t.d
