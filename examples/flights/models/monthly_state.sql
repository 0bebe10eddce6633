/*---
partition_by: month(flight_month)
key: [flight_month, origin_state]
owner: finance
columns:
  flight_month: {type: DATE, nullable: false}
---*/
SELECT
  CAST(date_trunc('month', flight_date) AS DATE) AS flight_month,
  origin_state,
  count(*) AS flights,
  CAST(sum(delay) AS BIGINT) AS delay_sum,
  avg(delay) AS delay_avg,
  sum(distance_km) AS distance_km
FROM stg_flights
GROUP BY CAST(date_trunc('month', flight_date) AS DATE), origin_state
