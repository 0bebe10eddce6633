/*---
partition_by: day(flight_date)
key: [flight_date, airport]
owner: ops-data
columns:
  flight_date: {type: DATE, nullable: false}
---*/
-- A flight counts at both of its ends.
WITH movements AS (
  SELECT flight_date, origin AS airport, origin_state AS state, 1 AS departures,
         0 AS arrivals, delay
  FROM stg_flights
  UNION ALL
  SELECT flight_date, destination, destination_state, 0, 1, delay
  FROM stg_flights
)
SELECT
  flight_date,
  airport,
  min(state) AS state,
  CAST(sum(departures) AS BIGINT) AS departures,
  CAST(sum(arrivals) AS BIGINT) AS arrivals,
  CAST(sum(delay) AS BIGINT) AS delay_sum
FROM movements
GROUP BY flight_date, airport
