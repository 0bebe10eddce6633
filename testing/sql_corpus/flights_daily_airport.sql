/*---
table stg_flights(flight_date DATE, origin VARCHAR, origin_state VARCHAR, destination VARCHAR, destination_state VARCHAR, delay BIGINT, distance_km DOUBLE) by day(flight_date)
output day(flight_date)
maps stg_flights: same day
reads state: stg_flights.destination_state, stg_flights.origin_state
exists: stg_flights
tight
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
