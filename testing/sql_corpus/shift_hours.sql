/*---
table t(ts TIMESTAMP, k INTEGER, v INTEGER) by day(ts)
output day(ts)
maps t: 6 hours earlier
---*/
SELECT ts + INTERVAL 6 HOURS AS ts, v FROM t
