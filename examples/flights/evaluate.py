#!/usr/bin/env python3
"""Says whether Amend's tables are what the models' SQL gives, without asking Amend.

    evaluate.py --amend PROGRAM --project DIR --package DIR --input faulty|corrected
                [--same-as PINS]

Evaluates the project's models in plain DuckDB, in the order they read each other, over the
package's own files (flights-3m.parquet, airports.csv) with the story's faults put in
(`faulty`) or not (`corrected`). Of Amend it uses one thing, `amend pins --json`: where each
table's Iceberg metadata lies. It reads the tables through DuckDB's iceberg extension and
prints for each model the rows that only one side has (EXCEPT ALL both ways). Doubles count
as equal within 1e-9 relative. With --same-as, the object of an earlier `amend pins --json`,
each table must also hold exactly the rows that it held then. Exits 1 where any row differs.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb

import make_inputs
from make_inputs import quoted

RELATIVE = 1e-9


def read_models(project):
    """{name: SQL without its header}."""
    models = {}
    for path in sorted((project / "models").rglob("*.sql")):
        models[path.stem] = re.sub(r"\A\s*/\*---.*?---\*/", "", path.read_text(), flags=re.S)
    return models


def in_order(models):
    """Model names, each after those whose name its SQL mentions."""
    def mentioned(name):
        words = set(re.findall(r"\w+", re.sub(r"--[^\n]*|/\*.*?\*/", "", models[name],
                                              flags=re.S)))
        return words & models.keys() - {name}

    ordered, left = [], dict.fromkeys(models)
    while left:
        ready = [name for name in left if mentioned(name) <= set(ordered)]
        if not ready:
            sys.exit(f"evaluate: the models read each other in a circle: {', '.join(left)}")
        ordered += ready
        left = {name: None for name in left if name not in ready}
    return ordered


def open_engine(extensions):
    engine = duckdb.connect(config={"extension_directory": str(extensions),
                                    "autoinstall_known_extensions": "false",
                                    "autoload_known_extensions": "false"})
    engine.execute("LOAD avro; LOAD iceberg; SET TimeZone = 'UTC'")
    return engine


def evaluate(engine, models, package, state):
    """Makes one table a model, from the package's files."""
    flights = package / "flights-3m.parquet"
    engine.execute(f"CREATE TABLE airports AS FROM read_csv({quoted(package / 'airports.csv')})")
    select = (make_inputs.faulty(flights) if state == "faulty" else
              f"SELECT date, delay, distance, origin, destination FROM {quoted(flights)}")
    engine.execute(f"CREATE TABLE flights AS {select}")
    for name in in_order(models):
        engine.execute(f"CREATE TABLE {name} AS {models[name]}")


def columns_of(engine, relation):
    return [(row[0], row[1]) for row in engine.execute(f"DESCRIBE {relation}").fetchall()]


def compare(engine, expected, actual, exact=False):
    """(rows only in expected, rows only in actual), or a sentence on unlike columns."""
    columns = columns_of(engine, expected)
    if columns != columns_of(engine, actual):
        return f"columns differ: {columns} expected, {columns_of(engine, actual)} found"
    engine.execute(f"CREATE OR REPLACE TEMP TABLE lacking AS "
                   f"FROM (FROM {expected} EXCEPT ALL FROM {actual})")
    engine.execute(f"CREATE OR REPLACE TEMP TABLE surplus AS "
                   f"FROM (FROM {actual} EXCEPT ALL FROM {expected})")
    close = 0 if exact else count_close_pairs(engine, columns)
    count = "SELECT count(*) FROM "
    return tuple(engine.execute(count + side).fetchone()[0] - close
                 for side in ("lacking", "surplus"))


def count_close_pairs(engine, columns):
    """Pairs of left-over rows that are alike but for doubles, which differ by RELATIVE at
    most. Rows that are alike in every other column are paired in the doubles' order."""
    doubles = [f'"{name}"' for name, type_ in columns if type_ in ("DOUBLE", "FLOAT")]
    if not doubles:
        return 0
    others = [f'"{name}"' for name, type_ in columns if type_ not in ("DOUBLE", "FLOAT")]
    window = (f"PARTITION BY {', '.join(others)} " if others else "") + \
        f"ORDER BY {', '.join(doubles)}"
    rows = f"SELECT *, row_number() OVER ({window}) AS pair FROM "
    alike = " AND ".join(["l.pair = s.pair"] +
                         [f"l.{name} IS NOT DISTINCT FROM s.{name}" for name in others])
    near = " AND ".join(
        f"(l.{name} IS NOT DISTINCT FROM s.{name} OR coalesce(abs(l.{name} - s.{name}) <= "
        f"{RELATIVE} * greatest(abs(l.{name}), abs(s.{name})), false))" for name in doubles)
    return engine.execute(f"SELECT count(*) FROM ({rows} lacking) l JOIN ({rows} surplus) s "
                          f"ON {alike} WHERE {near}").fetchone()[0]


def locations(pins):
    """{table: location of its metadata} of the object that `amend pins --json` prints."""
    return {name.split(".")[-1]: pin["metadata_location"]
            for name, pin in json.loads(pins)["tables"].items()}


def current_pins(program, project):
    return subprocess.run([program, "-C", project, "pins", "--json"], check=True,
                          stdout=subprocess.PIPE).stdout


def view_of(engine, prefix, name, pins):
    """A view of the table at `pins`, or None where there is none."""
    if name not in pins:
        return None
    engine.execute(f"CREATE OR REPLACE VIEW {prefix}_{name} AS "
                   f"FROM iceberg_scan({quoted(pins[name])})")
    return f"{prefix}_{name}"


def report(engine, title, pairs, exact=False):
    """Compares the (name, expected, actual) of `pairs`, prints a line each; how many differ."""
    print(f"{title:34} {'rows':>10} {'lacking':>9} {'surplus':>9}")
    wrong = 0
    for name, expected, actual in pairs:
        if expected is None or actual is None:
            result, rows = "no such table", 0
        else:
            result = compare(engine, expected, actual, exact)
            rows = engine.execute(f"SELECT count(*) FROM {expected}").fetchone()[0]
        said = result if isinstance(result, str) else f"{result[0]:9,} {result[1]:9,}"
        print(f"{name:34} {rows:10,} {said}")
        wrong += result != (0, 0)
    if wrong:
        print(f"evaluate: {wrong} of {len(pairs)} tables differ")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--amend", required=True, help="the program, for `pins`")
    parser.add_argument("--project", required=True, type=Path)
    parser.add_argument("--package", required=True, type=Path, help="folder of the data")
    parser.add_argument("--extensions", required=True, type=Path,
                        help="folder of DuckDB's extensions avro and iceberg")
    parser.add_argument("--input", required=True, choices=["faulty", "corrected"])
    parser.add_argument("--same-as", type=Path, metavar="PINS")
    arguments = parser.parse_args()

    models = read_models(arguments.project)
    engine = open_engine(arguments.extensions)
    evaluate(engine, models, arguments.package, arguments.input)
    pins = locations(current_pins(arguments.amend, arguments.project))
    now = {name: view_of(engine, "amend", name, pins) for name in models}
    wrong = report(engine, "plain DuckDB against Amend",
                   [(name, name, now[name]) for name in models])
    if arguments.same_as:
        then = locations(arguments.same_as.read_text())
        wrong += report(engine, f"tables at {arguments.same_as.name} against now",
                        [(name, view_of(engine, "then", name, then), now[name])
                         for name in models], exact=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
