/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: everything earlier, every to NULL
tight
-- The frame of ORDER BY alone starts at the first row; NULL comes last.
---*/
SELECT d, CAST(sum(v) OVER (ORDER BY d) AS BIGINT) AS total FROM t
