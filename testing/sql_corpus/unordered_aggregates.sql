/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
findings: unordered
no_data: in no order
---*/
SELECT d, first(v) AS one, list(v) AS every FROM t GROUP BY d
