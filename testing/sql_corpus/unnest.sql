/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
tight
---*/
SELECT d, unnest([v, v + 1]) AS x FROM t
