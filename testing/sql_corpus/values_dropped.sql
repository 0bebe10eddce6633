/*---
table t(d DATE, region VARCHAR, k INTEGER, v INTEGER) by day(d), region
output day(d)
maps t: same day, all values
---*/
SELECT d, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY d
