/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
reads k: t.k
tight
---*/
SELECT * FROM t
