/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 6 days back, no NULL; same day, no NULL
---*/
SELECT a.d, a.k, CAST(sum(w.v) AS BIGINT) AS total
FROM t AS a JOIN t AS w ON w.k = a.k AND w.d > a.d - INTERVAL 7 DAY AND w.d <= a.d
GROUP BY a.d, a.k
