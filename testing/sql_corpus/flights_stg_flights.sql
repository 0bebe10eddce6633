/*---
table flights(date TIMESTAMP, delay BIGINT, distance BIGINT, origin VARCHAR, destination VARCHAR) by day(date)
table airports(iata VARCHAR, state VARCHAR)
output day(flight_date)
maps flights: same day
maps airports: all
reads origin_state: airports.state
reads delay: flights.delay
rows: airports.iata, flights.destination, flights.origin
exists: flights
tight
---*/
-- One row a flight; a flight whose airport nobody knows keeps its row, with NULL states.
SELECT
  CAST(f.date AS DATE) AS flight_date,
  f.date AS departed_at,
  f.origin,
  o.state AS origin_state,
  f.destination,
  d.state AS destination_state,
  f.delay,
  f.distance,
  CAST(f.distance AS DOUBLE) * 1.609344 AS distance_km
FROM flights AS f
LEFT JOIN airports AS o ON o.iata = f.origin
LEFT JOIN airports AS d ON d.iata = f.destination
