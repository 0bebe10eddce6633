/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: all
no_data: it would not end
---*/
WITH RECURSIVE r(d, n) AS (
  SELECT min(d), 1 FROM u UNION ALL SELECT d + 1, n + 1 FROM r WHERE n < 5)
SELECT t.d, r.n FROM t JOIN r ON r.d = t.d
