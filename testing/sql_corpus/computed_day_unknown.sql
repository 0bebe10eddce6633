/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
-- Nobody proves what strptime does.
---*/
SELECT CAST(strptime(strftime(d, '%Y-%m-%d'), '%Y-%m-%d') AS DATE) AS d, v FROM t
