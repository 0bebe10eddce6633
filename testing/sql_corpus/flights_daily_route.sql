/*---
table stg_flights(flight_date DATE, origin VARCHAR, origin_state VARCHAR, destination VARCHAR, destination_state VARCHAR, delay BIGINT, distance_km DOUBLE) by day(flight_date)
output day(flight_date)
maps stg_flights: same day
reads delay_sum: stg_flights.delay
rows: stg_flights.destination, stg_flights.flight_date, stg_flights.origin
exists: stg_flights
tight
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
