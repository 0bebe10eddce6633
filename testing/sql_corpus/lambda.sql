/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
reads xs: t.k, t.v
---*/
SELECT d, list_transform([v, v + 1], lambda x: x + k) AS xs FROM t
