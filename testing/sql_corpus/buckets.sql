/*---
table t(id INTEGER, v INTEGER) by bucket(4, id)
output bucket(4, id)
maps t: same values
---*/
SELECT id, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY id
