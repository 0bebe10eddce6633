/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: same day
tight
---*/
SELECT t.d, u.w FROM t JOIN u ON t.d IS NOT DISTINCT FROM u.d
