/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: everything later, every to NULL
findings: ties
no_data: rows of one day are in no order
---*/
SELECT d, k, v FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY d DESC) = 1
