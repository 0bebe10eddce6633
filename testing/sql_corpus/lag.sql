/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: everything earlier, every to NULL
findings: ties
-- Rows before it may lie any number of days back.
---*/
SELECT DISTINCT d, lag(d) OVER (ORDER BY d) AS before FROM (SELECT DISTINCT d FROM t)
