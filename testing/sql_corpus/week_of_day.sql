/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output week(w)
maps t: day → week
tight
---*/
SELECT date_trunc('week', d) AS w, count(*) AS n FROM t GROUP BY 1
