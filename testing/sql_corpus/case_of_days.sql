/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: same day, no NULL
---*/
SELECT CASE WHEN t.v > 0 THEN t.d ELSE u.d END AS d, u.w FROM t JOIN u ON t.d = u.d
