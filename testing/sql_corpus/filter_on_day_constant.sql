/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
rows: t.d
-- A constant narrows nothing that is required, but no row with NULL passes.
---*/
SELECT d, v FROM t WHERE d >= DATE '2024-02-26'
