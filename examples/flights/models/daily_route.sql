/*---
partition_by: day(flight_date)
key: [flight_date, origin, destination]
owner: ops-data
columns:
  flight_date: {type: DATE, nullable: false}
  flights: {type: BIGINT, nullable: false}
---*/
SELECT
  flight_date,
  origin,
  destination,
  count(*) AS flights,
  CAST(sum(delay) AS BIGINT) AS delay_sum,
  avg(delay) AS delay_avg,
  avg(delay) FILTER (WHERE delay > 15) AS late_delay_avg
FROM stg_flights
GROUP BY flight_date, origin, destination
