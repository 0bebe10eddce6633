/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output month(m)
maps t: day → month
tight
---*/
SELECT CAST(date_trunc('month', d) AS DATE) AS m, k, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY 1, 2
