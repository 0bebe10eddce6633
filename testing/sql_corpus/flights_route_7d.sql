/*---
table daily_route(flight_date DATE, origin VARCHAR, destination VARCHAR, flights BIGINT, delay_sum BIGINT) by day(flight_date)
output day(flight_date)
maps daily_route: 6 days back
exists: daily_route
tight
---*/
-- Each day of a route with the seven days that end with it.
SELECT
  flight_date,
  origin,
  destination,
  CAST(sum(flights) OVER week AS BIGINT) AS flights_7d,
  CAST(sum(delay_sum) OVER week AS BIGINT) AS delay_sum_7d,
  CAST(sum(delay_sum) OVER week AS DOUBLE) / CAST(sum(flights) OVER week AS DOUBLE)
    AS delay_avg_7d
FROM daily_route
WINDOW week AS (
  PARTITION BY origin, destination
  ORDER BY flight_date
  RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW
)
