#!/usr/bin/env python3
"""Writes the files that the demo lands, from the package's flights.

    make_inputs.py FLIGHTS.parquet FOLDER

FOLDER/flights_faulty.parquet     every flight, as a source with two faults delivered them:
                                  from 2001-03-05 to 2001-03-18 delays of flights from DEN
                                  are 7 minutes too high, and of the rows of those days the
                                  ones whose row_number * 2654435761 % 200 = 0 come twice
FOLDER/flights_corrected.parquet  those fourteen days, right

The same package gives the same bytes: rows keep the package's order.
"""

import sys
from pathlib import Path

import duckdb

FIRST_DAY, LAST_DAY = "2001-03-05", "2001-03-18"
_IN_THE_DAYS = f"CAST(date AS DATE) BETWEEN DATE '{FIRST_DAY}' AND DATE '{LAST_DAY}'"


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def numbered(flights):
    """The package's rows with their row_number, counted from 1."""
    return (f"SELECT *, file_row_number + 1 AS row_number "
            f"FROM read_parquet({quoted(flights)}, file_row_number = true)")


def faulty(flights):
    """SELECT of every flight as the faulty source delivered it."""
    return f"""
        WITH package AS ({numbered(flights)}), copies(copy) AS (VALUES (1), (2))
        SELECT date,
               CASE WHEN origin = 'DEN' AND {_IN_THE_DAYS} THEN delay + 7 ELSE delay END
                 AS delay,
               distance, origin, destination
        FROM package, copies
        WHERE copy = 1 OR ({_IN_THE_DAYS} AND row_number * 2654435761 % 200 = 0)
        ORDER BY row_number, copy"""


def corrected_days(flights):
    """SELECT of the fourteen days as they should have been."""
    return f"""
        SELECT date, delay, distance, origin, destination
        FROM ({numbered(flights)}) WHERE {_IN_THE_DAYS} ORDER BY row_number"""


def main():
    flights, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    engine = duckdb.connect()
    engine.execute("SET threads = 1")
    for name, select in [("flights_faulty", faulty), ("flights_corrected", corrected_days)]:
        path = folder / f"{name}.parquet"
        engine.execute(f"COPY ({select(flights)}) TO {quoted(path)} "
                       "(FORMAT parquet, COMPRESSION zstd)")
        rows = engine.sql(f"SELECT count(*) FROM {quoted(path)}").fetchone()[0]
        print(f"{path.name}: {rows:,} rows")


if __name__ == "__main__":
    main()
