/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
findings: ties
rows: t.d, t.k, t.v
exists: t
---*/
SELECT d, k, v FROM t ORDER BY d, k, v LIMIT 3
