/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
rows:
-- The order of a table is nobody's.
---*/
SELECT d, v FROM t ORDER BY v
