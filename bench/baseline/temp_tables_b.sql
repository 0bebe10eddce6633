-- The correction of 5 to 18 March by hand, 1 of 3: temporary tables.
-- In braces: `flights` are the fourteen corrected days, `before` is the folder of the full
-- build, `out` an empty folder for the partitions that the correction reaches.
SET preserve_insertion_order = false;

CREATE TEMP TABLE stg_flights AS
SELECT CAST(f.date AS DATE) AS flight_date, f.date AS departed_at, f.origin,
       o.state AS origin_state, f.destination, d.state AS destination_state, f.delay,
       f.distance, CAST(f.distance AS DOUBLE) * 1.609344 AS distance_km
FROM {flights} AS f
LEFT JOIN {airports} AS o ON o.iata = f.origin
LEFT JOIN {airports} AS d ON d.iata = f.destination;
COPY stg_flights TO '{out}/stg_flights'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (flight_date));

CREATE TEMP TABLE daily_route AS
SELECT flight_date, origin, destination, count(*) AS flights,
       CAST(sum(delay) AS BIGINT) AS delay_sum, avg(delay) AS delay_avg,
       avg(delay) FILTER (WHERE delay > 15) AS late_delay_avg
FROM stg_flights GROUP BY flight_date, origin, destination;
COPY daily_route TO '{out}/daily_route'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (flight_date));

CREATE TEMP TABLE daily_airport AS
SELECT flight_date, airport, min(state) AS state,
       CAST(sum(departures) AS BIGINT) AS departures,
       CAST(sum(arrivals) AS BIGINT) AS arrivals, CAST(sum(delay) AS BIGINT) AS delay_sum
FROM (SELECT flight_date, origin AS airport, origin_state AS state, 1 AS departures,
             0 AS arrivals, delay
      FROM stg_flights
      UNION ALL
      SELECT flight_date, destination, destination_state, 0, 1, delay FROM stg_flights)
GROUP BY flight_date, airport;
COPY daily_airport TO '{out}/daily_airport'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (flight_date));

COPY (
  FROM (
    SELECT flight_date, origin, destination,
           CAST(sum(flights) OVER week AS BIGINT) AS flights_7d,
           CAST(sum(delay_sum) OVER week AS BIGINT) AS delay_sum_7d,
           CAST(sum(delay_sum) OVER week AS DOUBLE) / CAST(sum(flights) OVER week AS DOUBLE)
             AS delay_avg_7d
    FROM (
      SELECT flight_date, origin, destination, flights, delay_sum FROM daily_route
      UNION ALL
      SELECT flight_date, origin, destination, flights, delay_sum
      FROM read_parquet('{before}/daily_route/*/*.parquet', hive_partitioning = true)
      WHERE flight_date BETWEEN DATE '2001-02-27' AND DATE '2001-03-04'
         OR flight_date BETWEEN DATE '2001-03-19' AND DATE '2001-03-24'
    )
    WINDOW week AS (PARTITION BY origin, destination ORDER BY flight_date
                    RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW)
  )
  WHERE flight_date >= DATE '2001-03-05'
) TO '{out}/route_7d' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (flight_date));

COPY (
  SELECT CAST(date_trunc('month', flight_date) AS DATE) AS flight_month, origin_state,
         count(*) AS flights, CAST(sum(delay) AS BIGINT) AS delay_sum,
         avg(delay) AS delay_avg, sum(distance_km) AS distance_km
  FROM (
    SELECT flight_date, origin_state, delay, distance_km FROM stg_flights
    UNION ALL
    SELECT flight_date, origin_state, delay, distance_km
    FROM read_parquet('{before}/stg_flights/*/*.parquet', hive_partitioning = true)
    WHERE flight_date BETWEEN DATE '2001-03-01' AND DATE '2001-03-04'
       OR flight_date BETWEEN DATE '2001-03-19' AND DATE '2001-03-31'
  )
  GROUP BY 1, 2
) TO '{out}/monthly_state' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (flight_month));

COPY (
  SELECT airport, movements, delay_sum / CAST(movements AS DOUBLE) AS delay_avg,
         rank() OVER (ORDER BY movements DESC) AS movements_rank,
         rank() OVER (ORDER BY delay_sum / CAST(movements AS DOUBLE)) AS delay_rank
  FROM (
    SELECT airport, CAST(sum(departures + arrivals) AS BIGINT) AS movements,
           CAST(sum(delay_sum) AS DOUBLE) AS delay_sum
    FROM (
      SELECT airport, departures, arrivals, delay_sum FROM daily_airport
      UNION ALL
      SELECT airport, departures, arrivals, delay_sum
      FROM read_parquet('{before}/daily_airport/*/*.parquet', hive_partitioning = true)
      WHERE flight_date NOT BETWEEN DATE '2001-03-05' AND DATE '2001-03-18'
    )
    GROUP BY airport
  )
) TO '{out}/airport_rank.parquet' (FORMAT parquet, COMPRESSION zstd);
