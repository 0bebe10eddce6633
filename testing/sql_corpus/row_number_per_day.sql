/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
findings: ties
tight
---*/
SELECT d, k, v FROM t QUALIFY row_number() OVER (PARTITION BY d ORDER BY k, v) = 1
