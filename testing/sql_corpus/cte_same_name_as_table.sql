/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
tight
---*/
WITH t AS (SELECT d, v + 1 AS v FROM t) SELECT d, v FROM t
