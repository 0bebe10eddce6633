/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
findings: ties
---*/
SELECT DISTINCT ON (k) d, k, v FROM t ORDER BY k, d, v
