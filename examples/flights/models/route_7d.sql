/*---
partition_by: day(flight_date)
key: [flight_date, origin, destination]
owner: network-planning
columns:
  flight_date: {type: DATE, nullable: false}
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
