/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(b)
maps t: 2 days ahead
---*/
SELECT time_bucket(INTERVAL 2 DAYS, d) AS b, count(*) AS n FROM t GROUP BY 1
