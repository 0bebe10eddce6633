/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(ts)
maps t: all
-- TRY_CAST may turn a value into NULL.
---*/
SELECT TRY_CAST(d AS TIMESTAMP) AS ts, v FROM t
