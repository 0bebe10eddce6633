/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output month(d)
maps t: day → month
tight
---*/
SELECT d, v FROM t
