/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
rows:
---*/
SELECT DATE '2024-02-28' AS d, v FROM t
