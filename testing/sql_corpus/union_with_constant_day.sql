/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: all
---*/
SELECT d, v AS x FROM t UNION ALL SELECT DATE '2024-03-01', w FROM u
