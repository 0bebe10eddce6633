/*---
partition_by: day(flight_date)
owner: ops-data
columns:
  flight_date: {type: DATE, nullable: false}
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
