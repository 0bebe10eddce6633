/*---
table t(m DATE, v INTEGER) by month(m)
output month(m)
maps t: 2 months back, no NULL; same month, no NULL
---*/
WITH by_month AS (SELECT date_trunc('month', m) AS m, sum(v) AS v FROM t GROUP BY 1)
SELECT a.m, CAST(sum(w.v) AS BIGINT) AS total
FROM by_month AS a JOIN by_month AS w ON w.m BETWEEN a.m - INTERVAL 2 MONTH AND a.m
GROUP BY a.m
