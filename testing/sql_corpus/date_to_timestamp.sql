/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(ts)
maps t: same day
tight
---*/
SELECT CAST(d AS TIMESTAMP) AS ts, v FROM t
