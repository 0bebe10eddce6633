/*---
table t(ts TIMESTAMP, k INTEGER, v INTEGER) by day(ts)
output day(d)
maps t: same day
tight
---*/
SELECT CAST(ts AS DATE) AS d, k, v FROM t
