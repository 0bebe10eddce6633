/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 6 days back, no NULL; same day, no NULL
exists: t, t
reads total: t.v
---*/
SELECT a.d, CAST(sum(w.v) AS BIGINT) AS total
FROM (SELECT DISTINCT d FROM t) AS a
JOIN t AS w ON w.d BETWEEN a.d - 6 AND a.d
GROUP BY a.d
