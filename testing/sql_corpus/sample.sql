/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: all
findings: random
no_data: another sample each time
---*/
SELECT d, v FROM t USING SAMPLE 10 ROWS
