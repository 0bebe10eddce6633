/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, every to NULL
maps u: same day, every to NULL, no NULL
-- Without a partner the row has NULL for a day.
---*/
SELECT u.d, t.v FROM t LEFT JOIN u ON t.d = u.d
