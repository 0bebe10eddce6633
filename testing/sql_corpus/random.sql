/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
findings: random
no_data: other values each time
---*/
SELECT d, random() AS r, uuid() AS id FROM t
