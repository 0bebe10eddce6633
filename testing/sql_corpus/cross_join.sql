/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table a(k INTEGER, name VARCHAR)
output day(d)
maps t: same day
maps a: all
---*/
SELECT t.d, a.name FROM t CROSS JOIN a
