/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output month(m)
maps t: day → month
tight
---*/
WITH a AS (SELECT d, v FROM t WHERE k > 0),
b AS (SELECT d, sum(v) AS v FROM a GROUP BY d),
c AS (SELECT date_trunc('month', d) AS m, max(v) AS top FROM b GROUP BY 1)
SELECT m, CAST(top AS BIGINT) AS top FROM c
