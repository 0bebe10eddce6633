/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output all
maps t: all
exists: any
-- There is always one row.
---*/
SELECT count(*) AS n, max(d) AS last FROM t
