/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(m)
maps t: 1 month ahead
-- The first of a month needs all of its days; nothing else is known to need nothing.
---*/
SELECT date_trunc('month', d) AS m, count(*) AS n FROM t GROUP BY 1
