#!/usr/bin/env python3
"""The evaluator agrees where it should and sees every kind of difference.

Tables are written by PyIceberg, `amend pins` is played by a small script, so this tests the
evaluator without Amend. $AMEND_DEPS_DIR holds DuckDB's extensions.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import duckdb
from pyiceberg.catalog.sql import SqlCatalog

import evaluate
import make_inputs

HERE = Path(__file__).resolve().parent
EXTENSIONS = Path(os.environ["AMEND_DEPS_DIR"]) / "extensions"
MODELS = {
    "by_route": "/*---\nkey: [origin]\n---*/\nSELECT origin, avg(late) AS late FROM days "
                "GROUP BY origin",
    "days": "-- reads no by_route\nSELECT CAST(date AS DATE) AS day, origin, destination, "
            "CAST(delay AS DOUBLE) / 3 AS late FROM flights LEFT JOIN airports ON iata = "
            "destination",
}
FLIGHTS = """
    SELECT CAST(d AS TIMESTAMP) AS date, n AS delay, n * 10 AS distance, origin, destination
    FROM (VALUES (TIMESTAMP '2001-03-04 10:00', 'DEN', 'JFK'),
                 (TIMESTAMP '2001-03-05 10:00', 'DEN', 'JFK'),
                 (TIMESTAMP '2001-03-05 10:00', 'DEN', NULL),
                 (TIMESTAMP '2001-03-18 23:59', 'LAX', 'DEN'),
                 (TIMESTAMP '2001-03-19 00:00', 'DEN', 'JFK')) AS f(d, origin, destination),
         range(1, 101) AS r(n)
    ORDER BY d, n"""


class Scene:
    """A package, a project and tables in a temporary folder."""

    def __init__(self, folder):
        self.root = Path(folder)
        for name in ("package", "project/models", "lake"):
            (self.root / name).mkdir(parents=True)
        self.flights = self.root / "package/flights-3m.parquet"
        duckdb.sql(f"COPY ({FLIGHTS}) TO '{self.flights}' (FORMAT parquet)")
        (self.root / "package/airports.csv").write_text("iata,state\nJFK,NY\nDEN,CO\n")
        for name, sql in MODELS.items():
            (self.root / f"project/models/{name}.sql").write_text(sql)
        self.catalog = SqlCatalog("amend", uri=f"sqlite:///{self.root}/catalog.db",
                                  warehouse=f"file://{self.root}/lake")
        self.catalog.create_namespace("main")
        self.pins = {}

    def expected(self, name, state="faulty"):
        engine = evaluate.open_engine(EXTENSIONS)
        models = evaluate.read_models(self.root / "project")
        evaluate.evaluate(engine, models, self.root / "package", state)
        return engine.sql(f"FROM {name}").to_arrow_table()

    def publish(self, name, rows):
        table = self.catalog.create_table(f"main.{name}", rows.schema)
        table.append(rows)
        self.pins[name] = {"snapshot": 1, "metadata_location": table.metadata_location}

    def run(self, state="faulty", *more):
        program = self.root / "amend"
        program.write_text("#!/bin/sh\n[ \"$3 $4\" = 'pins --json' ] || exit 2\n"
                           f"echo '{json.dumps({'publication': 1, 'tables': self.pins})}'\n")
        program.chmod(0o755)
        done = subprocess.run(
            [sys.executable, HERE / "evaluate.py", "--amend", program, "--project",
             self.root / "project", "--package", self.root / "package", "--extensions",
             EXTENSIONS, "--input", state, *more], stdout=subprocess.PIPE, text=True)
        lines = [line.split() for line in done.stdout.splitlines()]
        return done.returncode, {words[0]: words[2:] for words in lines if words[0] in MODELS}


class EvaluateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scene = Scene(folder.name)

    def publish_all(self, change=lambda name, rows: rows, state="faulty"):
        for name in MODELS:
            self.scene.publish(name, change(name, self.scene.expected(name, state)))

    def changed(self, sql):
        def change(name, rows):
            return duckdb.sql(sql).to_arrow_table() if name == "days" else rows
        return change

    def test_equal_tables(self):
        self.publish_all()
        self.assertEqual(self.scene.run(),
                         (0, {"by_route": ["0", "0"], "days": ["0", "0"]}))

    def test_the_input_decides(self):
        self.publish_all()
        code, counts = self.scene.run("corrected")
        self.assertEqual(code, 1)
        self.assertNotEqual(counts["days"], ["0", "0"])

    def test_doubles_within_a_billionth(self):
        self.publish_all(self.changed(
            "SELECT day, origin, destination, late * (1 + 1e-11) AS late FROM rows"))
        self.assertEqual(self.scene.run()[0], 0)

    def test_doubles_beyond_a_billionth(self):
        self.publish_all(self.changed(
            "SELECT day, origin, destination, CASE WHEN late = 1 AND day = DATE '2001-03-04' "
            "THEN late * (1 + 1e-8) ELSE late END AS late FROM rows"))
        self.assertEqual(self.scene.run()[1]["days"], ["1", "1"])

    def test_a_row_twice_is_not_a_row_once(self):
        self.publish_all(self.changed("FROM rows UNION ALL (FROM rows LIMIT 1)"))
        self.assertEqual(self.scene.run()[1]["days"], ["0", "1"])

    def test_a_row_lacks(self):
        self.publish_all(self.changed("FROM rows WHERE NOT (late = 1 AND origin = 'LAX')"))
        self.assertEqual(self.scene.run()[1]["days"], ["1", "0"])

    def test_null_is_not_a_value(self):
        self.publish_all(self.changed(
            "SELECT day, origin, coalesce(destination, '') AS destination, late FROM rows"))
        self.assertEqual(len(set(self.scene.run()[1]["days"]) - {"0"}), 1)

    def test_a_lacking_column_and_table(self):
        self.publish_all(self.changed("SELECT * EXCLUDE (origin) FROM rows"))
        del self.scene.pins["by_route"]
        code, said = self.scene.run()
        self.assertEqual((code, said["by_route"]), (1, ["no", "such", "table"]))
        self.assertEqual(said["days"][:2], ["columns", "differ:"])

    def test_same_as_an_earlier_time_is_exact(self):
        self.publish_all()
        earlier = self.scene.root / "earlier.json"
        earlier.write_text(json.dumps({"tables": self.scene.pins}))
        self.assertEqual(self.scene.run("faulty", "--same-as", earlier)[0], 0)
        self.scene.catalog.drop_table("main.days")
        self.scene.publish("days", self.changed(
            "SELECT day, origin, destination, late * (1 + 1e-11) AS late FROM rows")(
                "days", self.scene.expected("days")))
        self.assertEqual(self.scene.run()[0], 0)
        self.assertEqual(self.scene.run("faulty", "--same-as", earlier)[0], 1)

    def test_faults_of_the_story(self):
        def rows(select):
            return duckdb.sql(select).fetchall()
        whole = rows(f"SELECT *, row_number() OVER () FROM '{self.scene.flights}'")
        wanted = []
        for date, delay, *rest, number in whole:
            inside = "2001-03-05" <= str(date)[:10] <= "2001-03-18"
            row = (date, delay + 7 * (inside and rest[1] == "DEN"), *rest)
            wanted += [row] * (2 if inside and number * 2654435761 % 200 == 0 else 1)
        self.assertEqual(rows(make_inputs.faulty(self.scene.flights)), wanted)
        self.assertEqual(rows(make_inputs.corrected_days(self.scene.flights)),
                         [row[:5] for row in whole if
                          "2001-03-05" <= str(row[0])[:10] <= "2001-03-18"])


if __name__ == "__main__":
    unittest.main()
