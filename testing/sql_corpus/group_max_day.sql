/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
-- The partition column is an aggregate.
---*/
SELECT k, max(d) AS d FROM t GROUP BY k
