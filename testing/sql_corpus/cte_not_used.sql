/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: all
rows:
-- The engine binds u although no row of it matters.
---*/
WITH nobody AS (SELECT * FROM u) SELECT d, v FROM t
