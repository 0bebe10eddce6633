/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(x)
maps t: all
-- What comes out of a list is not followed.
---*/
SELECT unnest([d, d + 1]) AS x, v FROM t
