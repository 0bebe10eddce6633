/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
rows: t.k
tight
---*/
SELECT d, v FROM t WHERE k > 0
