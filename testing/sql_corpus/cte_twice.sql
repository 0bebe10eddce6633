/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 1 day earlier, no NULL; same day
exists: t
---*/
WITH daily AS (SELECT d, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY d)
SELECT a.d, a.total, b.total AS before FROM daily AS a LEFT JOIN daily AS b ON b.d = a.d - 1
