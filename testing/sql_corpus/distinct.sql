/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
rows: t.d, t.k
tight
---*/
SELECT DISTINCT d, k FROM t
