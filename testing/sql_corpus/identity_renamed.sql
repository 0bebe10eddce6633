/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(the_day)
maps t: same day
reads the_day: t.d
reads twice: t.v
tight
---*/
SELECT d AS the_day, v * 2 AS twice FROM t
