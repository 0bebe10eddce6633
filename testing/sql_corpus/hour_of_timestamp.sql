/*---
table t(ts TIMESTAMP, v INTEGER) by hour(ts)
output hour(h)
maps t: same hour
---*/
SELECT date_trunc('hour', ts) AS h, sum(v)::BIGINT AS total FROM t GROUP BY 1
