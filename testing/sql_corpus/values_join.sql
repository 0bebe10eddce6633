/*---
table t(d DATE, region VARCHAR, k INTEGER, v INTEGER) by day(d), region
table u(region VARCHAR, w INTEGER) by region
output region
maps t: same values
maps u: same values
---*/
SELECT u.region, u.w, t.v FROM u JOIN t ON t.region = u.region
