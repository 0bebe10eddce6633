/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: 32 days back, 29 days earlier at its end
-- Months and days do not add up exactly.
---*/
SELECT d + INTERVAL '1 month 1 day' AS d, v FROM t
