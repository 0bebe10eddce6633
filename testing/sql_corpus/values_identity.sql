/*---
table t(d DATE, region VARCHAR, k INTEGER, v INTEGER) by day(d), region
output day(d), region
maps t: same day, same values
tight
---*/
SELECT d, region, v FROM t
