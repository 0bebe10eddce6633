/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
table u(d DATE, k INTEGER, w INTEGER) by day(d)
output day(d)
maps t: same day
maps u: all
-- One NULL in the list and nothing is outside of it.
---*/
SELECT d, v FROM t WHERE d NOT IN (SELECT d FROM u)
