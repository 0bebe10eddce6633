/*---
table t(d DATE, x DOUBLE) by day(d)
output day(d)
maps t: same day
order_sensitive
---*/
SELECT d, sum(x) AS total, avg(x) AS mean FROM t GROUP BY d
