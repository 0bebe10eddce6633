/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
---*/
SELECT d + k AS d, v FROM t
