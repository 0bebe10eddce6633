/*---
table t(ts TIMESTAMP, k INTEGER, v INTEGER) by day(ts)
output day(d)
maps t: 2 days back
---*/
SELECT d, CAST(sum(v) OVER (ORDER BY d RANGE BETWEEN INTERVAL 2 DAYS PRECEDING AND CURRENT ROW) AS BIGINT) AS total
FROM (SELECT CAST(ts AS DATE) AS d, v FROM t)
