/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: 3 days back, 1 day earlier at its end, no NULL
tight
---*/
SELECT t.d, t.k, count(u.w) AS n
FROM t LEFT JOIN u ON u.d >= t.d - 3 AND u.d < t.d
GROUP BY t.d, t.k
