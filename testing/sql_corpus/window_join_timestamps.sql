/*---
table t(ts TIMESTAMP, k INTEGER, v INTEGER) by day(ts)
output day(ts)
maps t: same day, no NULL; 1 day back, no NULL
---*/
SELECT a.ts, count(*) AS n FROM t AS a
JOIN t AS w ON w.ts > a.ts - INTERVAL 24 HOURS AND w.ts <= a.ts GROUP BY a.ts
