/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: 1 day earlier
exists: t | u
tight
---*/
SELECT d, v AS x FROM t UNION ALL SELECT d + 1, w FROM u
