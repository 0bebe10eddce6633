/*---
table t(d DATE, region VARCHAR, k INTEGER, v INTEGER) by day(d), region
output day(d), region
maps t: same day, all values
---*/
SELECT d, upper(region) AS region, v FROM t
