/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: same day, no NULL
tight
---*/
SELECT u.d, t.v, u.w FROM t JOIN u USING (d, k)
