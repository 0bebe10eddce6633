"""A small project that a story drives through the program, as a user would.

Stories are unittest cases; CMakeLists.txt makes one ctest entry of each. They read and write
through the program alone; where another client is the point, `peer_catalog` opens the same
catalog with PyIceberg.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import textwrap
import unittest

BINARY = os.environ.get("AMEND_BINARY", "build/amend")


class Answer:
    """What one run of the program said."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr
        text = process.stdout.strip()
        self.json = json.loads(text) if text.startswith("{") else None

    def __getitem__(self, key):
        return self.json[key]

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self):
        return f"exit {self.code}\n{self.out}\n{self.err}"


class Project:
    """One project folder."""

    def __init__(self, folder, sources, models, name="shop", extra=""):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.environment = dict(os.environ)
        self.extra = extra
        self._files = 0
        self.define(sources, models)

    def define(self, sources, models):
        text = f"name: {self.name}\nnamespace: {self.name}\n{self.extra}sources:\n"
        self.write("amend.yaml", text + textwrap.indent(textwrap.dedent(sources), "  "))
        for model, sql in models.items():
            self.model(model, sql)

    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def model(self, name, text):
        """`text` is the header, a line of three dashes, the SELECT."""
        header, sql = textwrap.dedent(text).split("\n---\n")
        self.write(f"models/{name}.sql", f"/*---\n{header.strip()}\n---*/\n{sql.strip()}\n")

    def run(self, *words, wait=True, flags=("--json",)):
        command = [BINARY, "-C", str(self.folder), *flags, *map(str, words)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not wait:
            return process
        out, err = process.communicate(timeout=120)
        return Answer(subprocess.CompletedProcess(command, process.returncode, out, err))

    def ok(self, *words):
        answer = self.run(*words)
        if answer.code != 0:
            raise AssertionError(f"amend {' '.join(map(str, words))}: {answer}")
        return answer

    def file(self, csv):
        """A new CSV file; every line of it dedented."""
        self._files += 1
        return self.write(f"in/{self._files:03}.csv", textwrap.dedent(csv).lstrip("\n"))

    def land(self, source, csv, replace=False):
        flags = ["--replace-partitions"] if replace else []
        return self.ok("land", source, self.file(csv), *flags)

    def backfill(self, *words, reason="story"):
        return self.ok("backfill", "--yes", "--reason", reason, *words)

    def plan(self, *words, reason="story"):
        return self.ok("plan", "--reason", reason, *words)

    def rows(self, sql, *words):
        return self.ok("query", sql, *words)["rows"]

    def pins(self):
        return self.ok("pins")["tables"]

    def files(self, folder):
        """Every file below a folder of the project, with its bytes' size."""
        base = self.folder / folder
        return {str(p.relative_to(self.folder)): p.stat().st_size
                for p in base.rglob("*") if p.is_file()}

    def peer_catalog(self):
        from pyiceberg.catalog.sql import SqlCatalog
        return SqlCatalog("amend", uri=f"sqlite:///{self.folder}/.amend/catalog.db",
                          warehouse=f"file://{self.folder}/warehouse")

    def peer_table(self, model):
        return self.peer_catalog().load_table(f"{self.name}.{model}")


def planned(plan):
    """{model: [(first, last), …]} of a plan's answer."""
    return {m["model"]: [(p["first"], p["last"]) for p in m["partitions"]]
            for m in plan["models"]}


class Story(unittest.TestCase):
    """One case in a folder of its own, removed at its end."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="amend_story_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def project(self, sources, models, **more):
        self._projects = getattr(self, "_projects", 0) + 1
        return Project(self.folder / f"p{self._projects}", sources, models, **more)

    def assert_no_op(self, project):
        """The same command again moves nothing: no file, no pointer, no number."""
        before = project.pins(), project.ok("pins")["publication"]
        files = project.files("warehouse")
        again = project.backfill()
        self.assertTrue(again["plan"]["nothing_to_do"], again)
        self.assertIsNone(again["publish"])
        self.assertEqual(before, (project.pins(), project.ok("pins")["publication"]))
        self.assertEqual(files, project.files("warehouse"))

    def assert_rolls_back(self, project, number, queries, expected):
        """Rollback of `number` brings back `expected`, and says so once."""
        answer = project.ok("rollback", number, "--reason", "story")
        self.assertEqual("rollback", answer["kind"])
        self.assertEqual(expected, [project.rows(q) for q in queries])
        self.assertTrue(project.ok("rollback", number)["no_op"])
        self.assert_no_op(project)


def main():
    unittest.main(verbosity=2)
