"""What becomes visible and what is refused, end to end: field cases on overwrites, checks,
atomicity, conflicts and the way back."""

import contextlib
import datetime
import os
import sqlite3
import time

from project import Story, main, planned

SRC = """
    src:
      partition_by: day(d)
      columns: {id: BIGINT, d: DATE, x: BIGINT}
"""
OUT = "partition_by: day(d)\n---\nSELECT id, d, x FROM src"
ALL = "SELECT id, d, x FROM out ORDER BY id"


def days(first, last, per_day=2, x=1):
    return "id,d,x\n" + "".join(f"{d * 100 + i},2024-01-{d:02},{x}\n"
                               for d in range(first, last + 1) for i in range(per_day))


def peer_append(project, model, *rows):
    """PyIceberg, with its default retries, appends rows (id, day of January, x)."""
    import pyarrow as pa
    table = project.peer_table(model)
    table.append(pa.table({"id": pa.array([r[0] for r in rows], pa.int64()),
                           "d": pa.array([datetime.date(2024, 1, r[1]) for r in rows]),
                           "x": pa.array([r[2] for r in rows], pa.int64())}))


class VisibleStory(Story):
    def built(self, model=OUT, last=3, per_day=2):
        project = self.project(SRC, {"out": model})
        project.land("src", days(1, last, per_day))
        project.backfill()
        return project

    def refused(self, project, *names):
        """Publishing is refused, names what is asked, and nothing moved."""
        pins, rows = project.pins(), project.rows(ALL)
        files = project.files("warehouse")
        plan = project.plan()
        staged = project.run("stage")
        self.assertEqual(3, staged.code, staged)
        self.assertEqual("quarantined", staged["state"])
        answer = project.run("publish", plan["plan"])
        self.assertEqual(3, answer.code, answer)
        for name in names:
            self.assertIn(name, answer.out)
        self.assertEqual(pins, project.pins())
        self.assertEqual(rows, project.rows(ALL))
        for path, size in files.items():
            self.assertEqual(size, project.files("warehouse").get(path), path)
        return answer

    def test_B35_output_of_the_null_partition_alone_replaces_nothing(self):
        project = self.built()
        project.model("out", "partition_by: day(d)\n---\n"
                             "SELECT id, CAST(NULL AS DATE) AS d, x FROM src")
        self.refused(project)

    def test_B38_other_partitions_keep_their_files(self):
        project = self.built()
        files = {t.file.file_path for t in project.peer_table("out").scan().plan_files()}
        self.assertEqual(3, len(files))
        project.land("src", days(2, 2, x=9), replace=True)
        done = project.backfill()
        after = {t.file.file_path for t in project.peer_table("out").scan().plan_files()}
        self.assertEqual((2, 1), (len(files & after), len(after - files)))
        for path in files | after:
            self.assertTrue(os.path.exists(path.removeprefix("file://")), path)
        self.assertEqual([[2, 1], [2, 9], [2, 1]],
                         project.rows("SELECT count(*), max(x) FROM out GROUP BY d ORDER BY d"))
        self.assert_no_op(project)
        self.assert_rolls_back(project, done["publish"]["publication"], [
            "SELECT count(*), max(x) FROM out GROUP BY d ORDER BY d"], [[[2, 1]] * 3])
        now = {t.file.file_path for t in project.peer_table("out").scan().plan_files()}
        self.assertEqual(files, now)

    def test_B40_partition_that_ends_empty_needs_leave(self):
        project = self.built()
        before = project.rows(ALL)
        header = "partition_by: day(d)\n"
        sql = "---\nSELECT id, d, x FROM src WHERE d <> DATE '2024-01-02'"
        project.model("out", header + sql)
        self.refused(project, "not_empty", "2024-01-02")
        project.model("out", header + "allow_empty: true\n" + sql)
        done = project.backfill()
        self.assertEqual([[100], [101], [300], [301]],
                         project.rows("SELECT id FROM out ORDER BY id"))
        self.assert_no_op(project)
        project.ok("rollback", done["publish"]["publication"])
        self.assertEqual(before, project.rows(ALL))
        self.assert_no_op(project)

    def test_B41_rows_outside_the_plan_are_refused_by_name(self):
        model = ("partition_by: day(d)\ninputs: {src: same}\nallow_empty: true\n---\n"
                 "SELECT id, CASE WHEN x = 7 THEN d + 1 ELSE d END AS d, x FROM src")
        project = self.built(model, last=6)
        project.land("src", "id,d,x\n500,2024-01-05,1\n501,2024-01-05,7\n502,2024-01-05,1\n",
                     replace=True)
        answer = self.refused(project, "within_plan", "2024-01-06")
        self.assertEqual("2024-01-06", answer.error["partition"])
        self.assertRegex(answer.error["message"], r"\b1 row")

    def test_B46_null_in_a_key_is_a_value_and_a_repeated_one_is_refused(self):
        project = self.project("""
            src:
              columns: {k: BIGINT, j: VARCHAR, v: BIGINT}
        """, {"out": "key: [k, j]\n---\nSELECT k, j, v FROM src"})
        rows = [[1, None, 10], [2, None, 10], [2, "a", 10]]
        project.land("src", "k,j,v\n1,,10\n2,,10\n2,a,10\n")
        for _ in range(3):
            project.backfill("--select", "out", "--full")
            self.assertEqual(rows, project.rows("SELECT * FROM out ORDER BY k, j NULLS FIRST"))
        pins = project.pins()
        project.land("src", "k,j,v\n1,,11\n")
        stopped = project.run("backfill", "--yes", "--reason", "twice (1, NULL)")
        self.assertEqual(3, stopped.code, stopped)
        answer = project.run("publish")
        self.assertEqual(3, answer.code, answer)
        self.assertIn("check key", answer.error["message"])
        self.assertIn("1", answer.error["message"])
        self.assertEqual(pins["out"], project.pins()["out"])
        self.assertEqual([[3]], project.rows("SELECT count(*) FROM out"))

    def test_B59_failure_on_the_last_row_leaves_what_was_live(self):
        project = self.built(last=3, per_day=10)
        before, pins = project.rows(ALL), project.pins()
        project.model("out", "partition_by: day(d)\n---\nSELECT id, d, CASE WHEN id = 309 "
                             "THEN CAST(error('the last row') AS BIGINT) ELSE x + 1 END AS x "
                             "FROM src")
        failed = project.run("backfill", "--yes", "--reason", "fails")
        self.assertIn("the last row", failed.error["message"])
        self.assertEqual("out", failed.error["table"])
        self.assertIn("2024-01-03", failed.error["partition"])
        self.assertEqual("failed", failed["stage"]["state"])
        self.assertEqual((before, pins), (project.rows(ALL), project.pins()))
        self.assertNotEqual(0, project.run("publish").code)
        self.assertEqual((before, pins), (project.rows(ALL), project.pins()))
        project.model("out", OUT)
        self.assert_no_op(project)
        self.assertEqual(before, project.rows(ALL))

    def test_B85_no_rows_for_a_live_day_stops_the_publication(self):
        project = self.built(last=3, per_day=50)
        project.write("amend.yaml", project.folder.joinpath("amend.yaml").read_text() +
                      "  look:\n    columns: {id: BIGINT, y: BIGINT}\n")
        project.land("look", "id,y\n" + "".join(
            f"{d * 100 + i},1\n" for d in (1, 3) for i in range(50)))
        project.model("out", "partition_by: day(d)\n---\n"
                             "SELECT src.id, d, x FROM src JOIN look ON look.id = src.id")
        answer = self.refused(project, "2024-01-02")
        self.assertIn("not_empty", answer.error["message"])
        shown = project.run("stage")
        for verdict in shown.json.get("verdicts", []):
            if verdict["partition"] == "2024-01-02":
                self.assertNotEqual("pass", verdict["outcome"])

    def test_B87_what_joins_the_twin_after_the_checks_is_not_published(self):
        project = self.built()
        project.land("src", days(2, 2, x=9), replace=True)
        plan = project.plan()["plan"]
        project.ok("stage")
        import pyarrow as pa
        twin = project.peer_catalog().load_table(f"shop_amend_{plan}.out")
        twin.append(pa.table({"id": pa.array([999], pa.int64()),
                              "d": pa.array([datetime.date(2024, 1, 2)]),
                              "x": pa.array([999], pa.int64())}))
        published = project.run("publish")
        self.assertIn(published.code, (0, 4), published)
        self.assertEqual([[0]], project.rows("SELECT count(*) FROM out WHERE id = 999"))
        if published.code == 0:
            self.assertEqual([[2]], project.rows("SELECT count(*) FROM out WHERE x = 9"))

    def test_B87_staged_bytes_that_changed_after_the_checks_are_not_published(self):
        project = self.built()
        project.land("src", days(2, 2, x=9), replace=True)
        plan = project.plan()["plan"]
        project.ok("stage")
        staged = list((project.folder / f"warehouse/shop/out/data/_amend/r{plan[1:]}")
                      .glob("*.parquet"))
        self.assertEqual(1, len(staged))
        staged[0].unlink()
        before = project.rows(ALL), project.pins()
        published = project.run("publish")
        self.assertNotEqual(0, published.code, published)
        self.assertEqual(before, (project.rows(ALL), project.pins()))

    def test_B88_columns_go_by_name_and_a_swap_is_seen(self):
        project = self.project("""
            src:
              partition_by: day(d)
              columns: {id: VARCHAR, name: VARCHAR, amount: VARCHAR, d: DATE}
        """, {"out": "partition_by: day(d)\nkey: [id]\n---\nSELECT id, name, amount, d FROM src"})
        project.land("src", "id,name,amount,d\n" + "".join(
            f"{i},n{i},{i}00,2024-01-01\n" for i in range(5)))
        project.backfill()
        query = "SELECT id, name, amount FROM out ORDER BY id"
        before = project.rows(query)
        project.model("out", "partition_by: day(d)\nkey: [id]\n---\n"
                             "SELECT name, id, d, amount FROM src")
        done = project.run("backfill", "--yes", "--reason", "reordered")
        self.assertEqual(0, done.code, done)
        self.assertEqual(before, project.rows(query))
        self.assertEqual([], (done["publish"] or {"tables": []})["tables"])
        project.model("out", "partition_by: day(d)\nkey: [id]\n---\n"
                             "SELECT id, amount AS name, name AS amount, d FROM src")
        project.plan()
        project.ok("stage")
        review = project.ok("review")
        found = review["models"][0]["partitions"][0]
        self.assertEqual({"name": 5, "amount": 5}, found["columns"])
        self.assertEqual((5, 0, 0), (found["changed"], found["added"], found["removed"]))
        self.assertEqual(before, project.rows(query))


class PinStory(Story):
    def test_B51_all_models_of_a_run_read_one_snapshot(self):
        project = self.project(SRC, {"a": OUT, "b": OUT.replace("id, d, x", "id, d, x + 1 AS y")})
        project.land("src", days(1, 1, per_day=3))
        plan = project.plan()["plan"]
        project.land("src", "id,d,x\n999,2024-01-01,1\n")
        staged = project.run("stage", plan)
        self.assertEqual(0, staged.code, staged)
        self.assertEqual({"a": 3, "b": 3}, {m["model"]: m["rows"] for m in staged["models"]})
        # Whole as of its pins; what came since makes it stale, which is said, not hidden.
        project.ok("publish", plan)
        counts = "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)"
        self.assertEqual([[3, 3]], project.rows(counts))
        self.assertEqual([1, 1], [m["stale"] for m in project.ok("status")["models"]])
        project.backfill()
        self.assertEqual([[4, 4]], project.rows(counts))
        why = project.ok("why", "a", "2024-01-01")
        self.assertEqual([i["snapshot"] for i in why["inputs"]],
                         [i["snapshot"] for i in project.ok("why", "b", "2024-01-01")["inputs"]])
        self.assertEqual(project.pins()["src"]["snapshot"], why["inputs"][0]["snapshot"])
        self.assert_no_op(project)

    def test_B55_sums_of_doubles_repeat_bit_for_bit(self):
        import duckdb
        path = str(self.folder / "doubles.parquet")
        duckdb.execute(f"COPY (SELECT DATE '2024-01-01' + (i % 4)::INT AS d, "
                       f"(hash(i) % 1000003) / 977.0 * pow(10, i % 9) AS v "
                       f"FROM range(300000) t(i)) TO '{path}'")
        project = self.project("""
            src:
              partition_by: day(d)
              columns: {d: DATE, v: DOUBLE}
        """, {"out": "partition_by: day(d)\n---\n"
                     "SELECT d, sum(v) AS s, avg(v) AS a FROM src GROUP BY d",
              "total": "key: [one]\n---\nSELECT 1 AS one, sum(v) AS s FROM src"},
            extra="limits: {threads: 4}\n")
        project.ok("land", "src", path)
        project.backfill()
        before = project.pins(), project.rows("SELECT * FROM out ORDER BY d"), \
            project.rows("SELECT * FROM total")
        for _ in range(4):
            again = project.backfill("--full")
            self.assertEqual([0, 0], [m["staged"] for m in again["stage"]["models"]], again)
        self.assertEqual(before, (project.pins(), project.rows("SELECT * FROM out ORDER BY d"),
                                  project.rows("SELECT * FROM total")))

    def test_B102_new_column_is_filled_and_the_others_stay(self):
        project = self.project(SRC, {"out": OUT,
                                     "reader": "partition_by: day(d)\n---\nSELECT d, x FROM out"})
        project.land("src", days(1, 3))
        project.backfill()
        before = project.rows(ALL)
        project.model("out", "partition_by: day(d)\n---\nSELECT id, d, x, x * 0.2 AS tax FROM src")
        plan = project.plan()
        self.assertEqual({"out": [("2024-01-01", "2024-01-03")]}, planned(plan))
        self.assertEqual(["code"], [b["kind"] for b in plan["models"][0]["because"]])
        self.assertIn("tax", plan["models"][0]["because"][0]["text"])
        project.ok("stage")
        published = project.ok("publish")
        self.assertEqual([[6, 0]], project.rows(
            "SELECT count(tax), count(*) FILTER (tax IS NULL) FROM out"))
        self.assertEqual(before, project.rows(ALL))
        self.assert_no_op(project)
        project.ok("rollback", published["publication"])
        self.assertEqual(before, project.rows(ALL))
        self.assertEqual([[0]], project.rows("SELECT count(tax) FROM out"))
        self.assert_no_op(project)

    def test_B106_file_that_does_not_fit_is_refused_by_column(self):
        import duckdb
        good, bad, more = (str(self.folder / f"{n}.parquet") for n in ("good", "bad", "more"))
        duckdb.execute(f"COPY (SELECT 1::INTEGER AS a) TO '{good}'")
        duckdb.execute(f"COPY (SELECT 4.5::DOUBLE AS a) TO '{bad}'")
        duckdb.execute(f"COPY (SELECT 4::INTEGER AS a, 9::INTEGER AS c) TO '{more}'")
        project = self.project("src: {columns: {a: INTEGER}}\n",
                               {"out": "key: [a]\n---\nSELECT a FROM src"})
        for file, column in ((bad, "a"), (more, "c")):
            refused = project.run("land", "src", good, file)
            self.assertEqual(3, refused.code, refused)
            self.assertEqual((file, column), (refused.error["file"], refused.error["column"]))
            self.assertEqual({}, project.pins())
        self.assertEqual(1, project.ok("land", "src", good)["files"][0]["rows"])
        self.assertEqual([[1]], project.rows("SELECT a FROM src"))
        text = project.run("land", "src", project.file("a\n1\n2\n4.5\n"))
        self.assertEqual(3, text.code)
        self.assertEqual(("a", "4.5"), (text.error["column"], text.error["value"]))
        self.assertIn("row 3", text.error["message"])
        self.assertEqual([[1]], project.rows("SELECT a FROM src"))

    def test_B122_one_snapshot_a_table_and_a_run_whatever_its_partitions(self):
        project = self.project(SRC, {"out": OUT})
        rows = [(datetime.date(2020, 1, 1) + datetime.timedelta(d)).isoformat()
                for d in range(1000)]
        project.land("src", "id,d,x\n" + "".join(f"{i},{d},1\n" for i, d in enumerate(rows)))
        started = time.monotonic()
        project.backfill()
        first = time.monotonic() - started
        table = project.peer_table("out")
        self.assertEqual(1, len(table.metadata.snapshots))
        self.assertEqual([[1000]], project.rows("SELECT count(*) FROM out"))
        size = os.path.getsize(table.metadata_location.removeprefix("file://"))
        for run in range(3):
            project.land("src", f"id,d,x\n0,2020-01-01,{run + 5}\n", replace=True)
            project.backfill()
        table = project.peer_table("out")
        self.assertEqual(4, len(table.metadata.snapshots))
        now = os.path.getsize(table.metadata_location.removeprefix("file://"))
        self.assertLess(now - size, 3 * 2500)  # bytes of a snapshot, its log and tag
        print(f"first publication of 1,000 partitions with staging: {first:.2f} s")

    def test_B134_exit_codes_say_what_happened(self):
        project = self.project(SRC, {"out": OUT})
        self.assertEqual(0, project.run("backfill", "--yes").code)  # nothing to do
        self.assertEqual(0, project.run("plan", "--detailed-exitcode").code)
        project.land("src", days(1, 5))
        self.assertEqual(10, project.run("plan", "--detailed-exitcode", "--reason", "x").code)
        project.backfill()
        self.assertEqual(0, project.run("plan", "--detailed-exitcode").code)
        project.model("out", "partition_by: day(d)\n---\nSELECT id, d, CASE WHEN id = 300 "
                             "THEN CAST(error('one batch') AS BIGINT) ELSE x + 1 END AS x FROM src")
        self.assertEqual(3, project.run("backfill", "--yes", "--reason", "x").code)
        project.model("out", OUT.replace("FROM src", "FROM src WHERE id > 200"))
        self.assertEqual(3, project.run("backfill", "--yes", "--reason", "x").code)
        self.assertEqual(2, project.run("publish", "pnone").code)
        self.assertEqual(2, project.run("rollback", 99).code)
        self.assertEqual(2, project.run("no-such-command").code)
        project.model("out", "partition_by: day(d)\n---\nSELECT id, d, nix FROM src")
        self.assertEqual(2, project.run("plan").code)
        self.assertEqual(2, project.run("validate").code)


class ConcurrencyStory(Story):
    def staged(self, writers="shared"):
        project = self.project(SRC, {"out": f"writers: {writers}\n" + OUT})
        project.land("src", days(1, 7, per_day=4))
        project.backfill()
        project.land("src", days(5, 5, per_day=4, x=9), replace=True)
        plan = project.plan()["plan"]
        project.ok("stage")
        return project, plan

    def test_B71_row_that_came_to_a_planned_day_is_not_lost(self):
        project, plan = self.staged()
        peer_append(project, "out", (11, 5, 11))
        pins = project.pins()
        refused = project.run("publish", plan)
        self.assertEqual(4, refused.code, refused)
        self.assertIn("2024-01-05", refused.out)
        self.assertIn("out", refused.error["message"])
        self.assertEqual(pins, project.pins())
        self.assertEqual([[1]], project.rows("SELECT count(*) FROM out WHERE id = 11"))

    def test_B71_of_two_backfills_of_one_day_one_wins(self):
        project, first = self.staged("exclusive")
        project.land("src", days(5, 5, per_day=4, x=10), replace=True)
        second = project.plan()["plan"]
        self.assertNotEqual(first, second)
        project.ok("stage", second)
        project.ok("publish", second)
        pins = project.pins()
        late = project.run("publish", first)
        self.assertEqual(4, late.code, late)
        self.assertEqual(pins, project.pins())
        self.assertEqual([[10]], project.rows("SELECT max(x) FROM out"))

    def test_B72_other_days_that_grow_do_not_stop_a_publication(self):
        project, plan = self.staged()
        peer_append(project, "out", (1100, 11, 1))
        peer_append(project, "out", (1101, 11, 1))
        published = project.ok("publish", plan)
        self.assertEqual([{"first": "2024-01-05", "last": "2024-01-05", "count": 1}],
                         published["tables"][0]["partitions"])
        self.assertEqual([[2, 4]], project.rows(
            "SELECT count(*) FILTER (id >= 1100), count(*) FILTER (x = 9) FROM out"))
        self.assert_no_op(project)
        project.ok("rollback", published["publication"])
        self.assertEqual([[2, 0]], project.rows(
            "SELECT count(*) FILTER (id >= 1100), count(*) FILTER (x = 9) FROM out"))

    def test_B92_rollback_keeps_what_came_later_elsewhere(self):
        project, plan = self.staged()
        before = project.rows("SELECT * FROM out WHERE d = DATE '2024-01-05' ORDER BY id")
        number = project.ok("publish", plan)["publication"]
        peer_append(project, "out", (1100, 11, 1))
        project.ok("rollback", number, "--reason", "story")
        self.assertEqual(before, project.rows(
            "SELECT * FROM out WHERE d = DATE '2024-01-05' ORDER BY id"))
        self.assertEqual([[1]], project.rows("SELECT count(*) FROM out WHERE id = 1100"))
        self.assert_no_op(project)

    def test_B92_day_that_changed_after_is_a_conflict_by_name(self):
        project, plan = self.staged()
        number = project.ok("publish", plan)["publication"]
        peer_append(project, "out", (500500, 5, 1))
        pins = project.pins()
        refused = project.run("rollback", number, "--reason", "story")
        self.assertEqual(4, refused.code, refused)
        self.assertIn("2024-01-05", refused.out)
        self.assertEqual(pins, project.pins())

    def corrected_and_rolled_back(self):
        """out feeds sums; day 2 was corrected, published and taken back."""
        project = self.project(SRC, {"out": OUT, "sums": (
            "partition_by: day(d)\n---\n"
            "SELECT d, CAST(sum(x) AS BIGINT) AS x FROM out GROUP BY d")})
        project.land("src", days(1, 3))
        project.backfill()
        project.land("src", days(2, 2, x=9), replace=True)
        number = project.backfill()["publish"]["publication"]
        project.ok("rollback", number, "--reason", "story")
        self.assert_no_op(project)
        return project

    def test_a_correction_landed_after_a_rollback_ends_the_holds_of_the_whole_chain(self):
        project = self.corrected_and_rolled_back()
        project.land("src", days(2, 2, x=5), replace=True)
        done = project.backfill()
        self.assertEqual({"out", "sums"}, {t["table"] for t in done["publish"]["tables"]})
        self.assertEqual([[2], [10], [2]], project.rows("SELECT x FROM sums ORDER BY d"))
        self.assert_no_op(project)

    def test_a_plan_made_before_a_rollback_does_not_bring_back_what_it_took(self):
        project = self.project(SRC, {"out": OUT})
        project.land("src", days(1, 3))
        project.backfill()
        project.land("src", days(2, 2, x=9), replace=True)
        wide = project.plan("--full")["plan"]
        project.ok("stage", wide)
        narrow = project.plan()["plan"]
        self.assertNotEqual(wide, narrow)
        project.ok("stage", narrow)
        number = project.ok("publish", narrow)["publication"]
        project.ok("rollback", number, "--reason", "story")
        pins = project.pins()
        refused = project.run("publish", wide)
        self.assertEqual(4, refused.code, refused)
        self.assertIn("held", refused.out)
        self.assertEqual(pins, project.pins())

    def test_readers_do_not_wait_for_a_writer(self):
        project, plan = self.staged()
        with contextlib.closing(sqlite3.connect(project.folder / ".amend/catalog.db",
                                                isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            pins = project.pins()
            self.assertEqual({"src", "out"}, set(pins))
            self.assertEqual([[28]], project.rows("SELECT count(*) FROM out"))
            self.assertEqual("out", project.ok("status")["models"][0]["model"])
            writer.execute("ROLLBACK")
        self.assertEqual(pins, project.pins())

    def test_gc_keeps_the_tables_of_a_model_that_left_the_project(self):
        project, plan = self.staged()
        project.ok("publish", plan)
        files = {t.file.file_path.removeprefix("file://")
                 for t in project.peer_table("out").scan().plan_files()}
        project.folder.joinpath("models/out.sql").unlink()
        project.ok("gc", "--yes")
        self.assertEqual([], [f for f in files if not os.path.exists(f)])
        project.model("out", OUT)
        self.assertEqual([[28, 4]],
                         project.rows("SELECT count(*), count(*) FILTER (x = 9) FROM out"))

    def test_gc_takes_the_twins_of_a_plan_whose_files_go(self):
        project, plan = self.staged("exclusive")
        self.assertIn((f"shop_amend_{plan}",), project.peer_catalog().list_namespaces())
        project.land("src", days(5, 5, per_day=4, x=10), replace=True)
        project.backfill()
        twins = [f for f in project.files("warehouse") if f"shop_amend_{plan}" in f]
        self.assertTrue(twins)
        project.ok("gc", "--yes")
        self.assertEqual(set(), set(twins) & set(project.files("warehouse")))
        self.assertNotIn((f"shop_amend_{plan}",), project.peer_catalog().list_namespaces())

    def test_a_plan_that_was_taken_back_is_not_called_done(self):
        project, plan = self.staged("exclusive")
        number = project.ok("publish", plan)["publication"]
        self.assertTrue(project.ok("publish", plan)["no_op"])
        back = project.ok("rollback", number, "--reason", "story")["publication"]
        pins, rows = project.pins(), project.rows(ALL)
        refused = project.run("publish", plan)
        self.assertEqual(4, refused.code, refused)
        self.assertEqual("conflict", refused.error["code"])
        self.assertIn(f"published as #{number} and taken back by #{back}",
                      refused.error["message"])
        self.assertIn("amend release", refused.error["hint"])
        self.assertEqual((pins, rows), (project.pins(), project.rows(ALL)))
        # The way that the hint shows.
        project.ok("release", "out", "--reason", "story")
        again = project.backfill()
        self.assertNotEqual(plan, again["plan"]["plan"])
        self.assertEqual([[9]], project.rows("SELECT max(x) FROM out"))

    def test_B98_gc_leaves_the_files_of_a_plan_that_is_staged(self):
        project, plan = self.staged()
        files = project.files("warehouse")
        dry = project.ok("gc")
        self.assertTrue(dry["dry_run"])
        staged = [f for f in files if f"r{plan[1:]}" in f]
        self.assertTrue(staged)
        self.assertFalse([f for f in dry["files"] if f"r{plan[1:]}" in f])
        self.assertEqual(files, project.files("warehouse"))
        project.ok("gc", "--yes")
        self.assertEqual(set(), set(staged) - set(project.files("warehouse")))
        project.ok("publish", plan)
        project.ok("gc", "--yes")
        self.assertEqual([[28, 4]],
                         project.rows("SELECT count(*), count(*) FILTER (x = 9) FROM out"))
        project.ok("rollback", project.ok("pins")["publication"])
        self.assertEqual([[28, 0]],
                         project.rows("SELECT count(*), count(*) FILTER (x = 9) FROM out"))

    def test_B135_a_stored_plan_is_applied_or_refused_never_replaced(self):
        project, first = self.staged("exclusive")
        project.land("src", days(3, 3, per_day=4, x=3), replace=True)
        project.backfill("--select", "out", "--partition", "2024-01-03")
        published = project.ok("publish", first)  # day 5 did not move
        self.assertEqual([{"first": "2024-01-05", "last": "2024-01-05", "count": 1}],
                         published["tables"][0]["partitions"])
        project.land("src", days(5, 5, per_day=4, x=50), replace=True)
        stale = project.plan()["plan"]
        project.land("src", days(5, 5, per_day=4, x=51), replace=True)
        project.backfill()
        pins = project.pins()
        staged = project.run("stage", stale)
        late = project.run("publish", stale)
        self.assertEqual(4, late.code, (staged, late))
        self.assertIn("2024-01-05", late.out)
        self.assertEqual(pins, project.pins())
        self.assertEqual([[51]], project.rows("SELECT max(x) FROM out"))


if __name__ == "__main__":
    main()
