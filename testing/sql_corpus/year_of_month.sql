/*---
table t(m DATE, v INTEGER) by month(m)
output year(y)
maps t: month → year
---*/
SELECT date_trunc('year', m) AS y, count(*) AS n FROM t GROUP BY 1
