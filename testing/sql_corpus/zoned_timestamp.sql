/*---
table t(ts TIMESTAMP WITH TIME ZONE, v INTEGER) by day(ts)
output day(d)
maps t: same day
tight
---*/
SELECT CAST(ts AS DATE) AS d, v FROM t
