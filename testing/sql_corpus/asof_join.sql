/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day, no NULL
maps u: everything earlier, no NULL
findings: ties
no_data: which of several equally near rows is taken is open, and what is near to NULL
---*/
SELECT t.d, u.w FROM t ASOF JOIN u ON t.k = u.k AND t.d >= u.d
