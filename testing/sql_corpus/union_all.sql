/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day
reads x: t.v, u.w
rows:
exists: t | u
tight
---*/
SELECT d, v AS x FROM t UNION ALL SELECT d, w FROM u
