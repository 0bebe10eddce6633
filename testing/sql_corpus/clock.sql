/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
findings: clock
no_data: other values each time
---*/
SELECT d, now() AS at, current_date AS today FROM t
