#!/usr/bin/env python3
"""The baselines do the models' work: their Parquet holds what the models' SQL gives.

A baseline that did less would be a false measure. The correction may write only the
partitions that it reaches. $AMEND_DEPS_DIR holds the package's data, of which a fortieth is
taken: the corrected days with their surroundings, and of other months one day.
"""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples/flights"))
import evaluate      # noqa: E402
import make_inputs   # noqa: E402

DEPS = Path(os.environ["AMEND_DEPS_DIR"])
STYLES = ("temp_tables", "per_model", "mixed")


def partition_column(model):
    return {"airport_rank": None, "monthly_state": "flight_month"}.get(model, "flight_date")


class BaselineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.package = cls.folder / "package"
        cls.package.mkdir()
        shutil.copy(DEPS / "data/airports.csv", cls.package)
        duckdb.sql(f"COPY (SELECT * FROM '{DEPS}/data/flights-3m.parquet' WHERE hash(date, "
                   f"origin) % 40 = 0 AND (date >= '2001-02-20' AND date < '2001-04-10' OR "
                   f"day(date) = 7)) TO '{cls.package}/flights-3m.parquet'")
        cls.models = evaluate.read_models(ROOT / "examples/flights")
        flights = cls.package / "flights-3m.parquet"
        cls.inputs = {"full": make_inputs.faulty(flights),
                      "b": make_inputs.corrected_days(flights)}

    def run_script(self, style, question):
        out = self.folder / f"{style}_{question}"
        out.mkdir()
        script = (ROOT / f"bench/baseline/{style}_{question}.sql").read_text()
        for name, value in [("flights", f"({self.inputs[question]})"),
                            ("airports", f"'{self.package}/airports.csv'"), ("out", out),
                            ("before", self.folder / f"{style}_full")]:
            script = script.replace("{" + name + "}", str(value))
        duckdb.connect().execute(script)
        return out

    def assert_holds(self, engine, model, out, where="true"):
        files = out / (f"{model}/*/*.parquet" if partition_column(model) else
                       f"{model}.parquet")
        names = ", ".join(name for name, _ in evaluate.columns_of(engine, model))
        engine.execute(f"CREATE OR REPLACE VIEW expected AS FROM {model} WHERE {where}")
        engine.execute(f"CREATE OR REPLACE VIEW found AS SELECT {names} FROM read_parquet("
                       f"'{files}', hive_partitioning = true)")
        self.assertEqual(evaluate.compare(engine, "expected", "found"), (0, 0),
                         f"{model} in {out.name}")

    def test_full_builds_and_corrections(self):
        faulty, corrected = (evaluate.open_engine(DEPS / "extensions") for _ in range(2))
        evaluate.evaluate(faulty, self.models, self.package, "faulty")
        evaluate.evaluate(corrected, self.models, self.package, "corrected")
        reached = {"flight_date": "flight_date BETWEEN DATE '2001-03-05' AND DATE '2001-03-18'",
                   "flight_month": "flight_month = DATE '2001-03-01'", None: "true"}
        for style in STYLES:
            out = self.run_script(style, "full")
            for model in self.models:
                self.assert_holds(faulty, model, out)
            out = self.run_script(style, "b")
            for model in self.models:
                where = reached[partition_column(model)]
                if model == "route_7d":
                    where = where.replace("03-18", "03-24")
                self.assert_holds(corrected, model, out, where)


if __name__ == "__main__":
    unittest.main()
