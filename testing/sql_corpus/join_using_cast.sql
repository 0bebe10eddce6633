/*---
table t(ts TIMESTAMP, k INTEGER, v INTEGER) by day(ts)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: same day, no NULL
---*/
SELECT u.d, t.v FROM t JOIN u ON CAST(t.ts AS DATE) = u.d
