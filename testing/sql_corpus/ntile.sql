/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
findings: ties
no_data: rows of one day are in no order
---*/
SELECT d, ntile(4) OVER (ORDER BY d) AS quarter FROM t
