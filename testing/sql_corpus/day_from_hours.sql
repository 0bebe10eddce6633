/*---
table t(ts TIMESTAMP, v INTEGER) by hour(ts)
output day(d)
maps t: hour → day
---*/
SELECT date_trunc('day', ts) AS d, count(*) AS n FROM t GROUP BY ALL
