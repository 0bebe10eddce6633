/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
---*/
SELECT coalesce(d, DATE '2024-03-01') AS d, v FROM t
