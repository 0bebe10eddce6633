/*---
table stg_flights(flight_date DATE, origin VARCHAR, origin_state VARCHAR, destination VARCHAR, destination_state VARCHAR, delay BIGINT, distance_km DOUBLE) by day(flight_date)
output month(flight_month)
maps stg_flights: day → month
rows: stg_flights.flight_date, stg_flights.origin_state
order_sensitive
tight
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
