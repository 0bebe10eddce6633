/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: 12 months earlier, no NULL
---*/
SELECT t.d, u.w FROM t LEFT JOIN u ON u.d = t.d - INTERVAL 1 YEAR
