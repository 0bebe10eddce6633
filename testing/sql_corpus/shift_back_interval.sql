/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 7 days later
---*/
SELECT d - INTERVAL 7 DAY AS d, v FROM t
