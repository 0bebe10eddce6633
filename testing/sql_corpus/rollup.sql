/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day, every to NULL
rows: t.d, t.k
exists: any
-- The groups that leave d out have NULL for it.
---*/
SELECT d, k, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY ROLLUP (d, k)
