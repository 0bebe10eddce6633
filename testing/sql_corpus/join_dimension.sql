/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table a(k INTEGER, name VARCHAR)
output day(d)
maps t: same day
maps a: all
reads name: a.name
rows: t.k, a.k
exists: t, a
---*/
SELECT t.d, a.name, t.v FROM t JOIN a ON a.k = t.k
