/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 1 month back, 1 month ahead
-- All days of the month of the day.
---*/
SELECT d, v, count(*) OVER (PARTITION BY date_trunc('month', d)) AS n FROM t
