/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
exists: any
-- Every day of the calendar has a row, with or without input.
---*/
SELECT CAST(c.d AS DATE) AS d, count(t.v) AS n
FROM generate_series(DATE '2024-02-20', DATE '2024-03-10', INTERVAL 1 DAY) AS c(d)
LEFT JOIN t ON t.d = CAST(c.d AS DATE) GROUP BY 1
