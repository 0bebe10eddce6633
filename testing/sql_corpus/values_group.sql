/*---
table t(d DATE, region VARCHAR, k INTEGER, v INTEGER) by day(d), region
output day(d), region
maps t: same day, same values
---*/
SELECT d, region, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY d, region
