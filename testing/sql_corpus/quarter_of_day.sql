/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output quarter(q)
maps t: day → quarter
---*/
SELECT date_trunc('quarter', d) AS q, count(*) AS n FROM t GROUP BY 1
