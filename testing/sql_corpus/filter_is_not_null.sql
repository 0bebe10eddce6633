/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
rows: t.d
tight
---*/
SELECT d, v FROM t WHERE d IS NOT NULL
