/*---
table t(d DATE, k INTEGER, v INTEGER) by day(d)
output day(d)
maps t: same day
tight
---*/
SELECT d, list(v ORDER BY k, v) AS every, string_agg(k::VARCHAR, ',' ORDER BY k) AS ks FROM t GROUP BY d
