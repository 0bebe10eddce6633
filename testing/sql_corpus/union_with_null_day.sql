/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day, every to NULL
exists: t | u
---*/
SELECT d, v AS x FROM t UNION ALL SELECT NULL::DATE, w FROM u
