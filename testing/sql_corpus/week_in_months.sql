/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output month(w)
maps t: day → month, 7 days ahead
-- A week may start in one month and end in the next.
---*/
SELECT date_trunc('week', d) AS w, count(*) AS n FROM t GROUP BY 1
