/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
findings: ties
---*/
SELECT DISTINCT ON (d) d, k, v FROM t ORDER BY d, k, v
