/*---
table daily_airport(flight_date DATE, airport VARCHAR, departures BIGINT, arrivals BIGINT, delay_sum BIGINT) by day(flight_date)
output all
maps daily_airport: all
reads movements: daily_airport.arrivals, daily_airport.departures
rows: daily_airport.airport
exists: daily_airport
---*/
-- Every airport by its movements over all days: any changed day may move any rank.
WITH totals AS (
  SELECT
    airport,
    CAST(sum(departures + arrivals) AS BIGINT) AS movements,
    CAST(sum(delay_sum) AS BIGINT) AS delay_sum
  FROM daily_airport
  GROUP BY airport
)
SELECT
  airport,
  movements,
  CAST(delay_sum AS DOUBLE) / CAST(movements AS DOUBLE) AS delay_avg,
  rank() OVER (ORDER BY movements DESC) AS movements_rank,
  rank() OVER (ORDER BY CAST(delay_sum AS DOUBLE) / CAST(movements AS DOUBLE)) AS delay_rank
FROM totals
