/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table a(k INTEGER, name VARCHAR)
output day(d)
maps t: same day
maps a: all
reads x: a.name
exists: t
---*/
SELECT t.d, x.name AS x, y.name AS y FROM t LEFT JOIN a AS x ON x.k = t.k LEFT JOIN a AS y ON y.k = t.v
