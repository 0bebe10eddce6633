/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output month(m)
maps t: day → month
reads m: t.d
rows: t.d
tight
---*/
SELECT date_trunc('month', d) AS m, count(*) AS n FROM t GROUP BY 1
