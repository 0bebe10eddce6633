/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: everything later, NULL to every
findings: ties
---*/
SELECT d, lead(d) OVER (ORDER BY d) AS next FROM (SELECT DISTINCT d FROM t)
