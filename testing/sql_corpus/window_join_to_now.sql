/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: everything earlier, no NULL
-- Everything up to the day.
---*/
SELECT t.d, count(*) AS n FROM t JOIN u ON u.d <= t.d GROUP BY t.d
