/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: 1 day back, 1 day ahead, no NULL
tight
---*/
SELECT t.d, u.w FROM t JOIN u ON u.d - t.d BETWEEN -1 AND 1 AND u.d >= t.d - 1 AND u.d <= t.d + 1
