/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: everything earlier, every to NULL
---*/
SELECT d, k, rank() OVER (PARTITION BY k ORDER BY d) AS r FROM t
