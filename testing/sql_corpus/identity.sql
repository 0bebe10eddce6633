/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
reads v: t.v
rows:
exists: t
tight
---*/
SELECT d, k, v FROM t
