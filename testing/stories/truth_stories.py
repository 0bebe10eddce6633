"""What `status` calls current is what a rebuild would give: ways in which it once was not."""

import datetime

import pyarrow as pa

from project import Story, main, planned

ORDERS = """
    orders:
      partition_by: day(d)
      columns: {id: BIGINT, d: DATE, x: BIGINT}
"""
RATES = """
    rates:
      partition_by: day(d)
      columns: {d: DATE, rate: BIGINT}
"""
M1 = "partition_by: day(d)\n---\nSELECT id, d, x FROM orders"
M2 = "partition_by: day(d)\n---\nSELECT d, CAST(sum(x) AS BIGINT) AS s FROM m1 GROUP BY d"
# Two inputs, each deciding columns of its own.
JOINED = ("partition_by: day(d)\n---\nSELECT m1.id, m1.d, m1.x, rates.rate "
          "FROM m1 JOIN rates ON rates.d = m1.d")
TWO_DAYS = """
    id,d,x
    1,2024-01-01,10
    2,2024-01-02,20
"""


def rows_of(*rows):
    """(id, day of January, x) as Arrow, as a model's table wants them."""
    return pa.table({"id": pa.array([r[0] for r in rows], pa.int64()),
                     "d": pa.array([datetime.date(2024, 1, r[1]) for r in rows]),
                     "x": pa.array([r[2] for r in rows], pa.int64())})


class TruthStory(Story):
    def classes(self, project, model):
        """{class: partitions} of a model, without the empty ones."""
        found = next(m for m in project.ok("status")["models"] if m["model"] == model)
        return {k: n for k, n in found.items() if k != "model" and n}

    def land_change(self, project, x, day=1, replace=True):
        project.land("orders", f"id,d,x\n{day},2024-01-{day:02},{x}\n", replace=replace)

    def staged(self, done):
        return {m["model"]: m["staged"] for m in done["stage"]["models"]}


class CutOffStory(TruthStory):
    def test_what_was_built_on_a_withdrawn_publication_is_built_again(self):
        project = self.project(ORDERS, {"m1": M1})
        project.land("orders", TWO_DAYS)
        project.backfill()
        self.land_change(project, 99)
        withdrawn = project.backfill()["publish"]["publication"]
        project.model("m2", M2)
        project.backfill()
        self.assertEqual([[99], [20]], project.rows("SELECT s FROM m2 ORDER BY d"))
        project.ok("rollback", withdrawn, "--reason", "wrong")
        done = project.backfill()
        self.assertEqual({"m2": [("2024-01-01", "2024-01-01")]}, planned(done["plan"]))
        self.assertEqual([[10], [20]], project.rows("SELECT s FROM m2 ORDER BY d"))
        self.assertEqual({"m2": 1}, self.staged(done))
        self.assert_no_op(project)

    def test_rows_that_another_engine_appends_to_a_shared_model_reach_its_readers(self):
        project = self.project(ORDERS, {"m1": "writers: shared\n" + M1, "m2": M2})
        project.land("orders", TWO_DAYS)
        project.backfill()
        project.peer_table("m1").append(rows_of((7, 2, 700)))
        project.backfill()
        self.assertEqual([[10], [720]], project.rows("SELECT s FROM m2 ORDER BY d"))
        self.assert_no_op(project)
        # What was appended may go again: then its readers follow once more.
        project.peer_table("m1").delete("id = 7")
        project.backfill()
        self.assertEqual([[10], [20]], project.rows("SELECT s FROM m2 ORDER BY d"))
        self.assert_no_op(project)

    def joined(self, extra=""):
        project = self.project(ORDERS + RATES, {"m1": M1, "m2": extra + JOINED})
        project.land("orders", TWO_DAYS)
        project.land("rates", "d,rate\n2024-01-01,1\n2024-01-02,2\n")
        project.backfill()
        return project

    def test_selecting_an_unchanged_input_does_not_bless_what_another_made_stale(self):
        project = self.joined()
        project.model("m3", "partition_by: day(d)\n---\nSELECT id, d, rate * 10 AS r FROM m2")
        project.backfill()
        project.land("rates", "d,rate\n2024-01-01,5\n", replace=True)
        self.assertEqual({"current": 1, "stale": 1}, self.classes(project, "m2"))
        project.backfill("--select", "m1", "--from", "2024-01-01", "--to", "2024-01-02")
        self.assertEqual([[5], [2]], project.rows("SELECT rate FROM m2 ORDER BY d"))
        self.assertEqual([[50], [20]], project.rows("SELECT r FROM m3 ORDER BY d"))
        self.assert_no_op(project)

    def test_selecting_an_unchanged_input_does_not_bless_older_code(self):
        project = self.joined()
        project.model("m2", JOINED.replace("rates.rate", "rates.rate + 100 AS rate"))
        self.assertEqual({"stale": 2}, self.classes(project, "m2"))
        project.backfill("--select", "m1", "--from", "2024-01-01", "--to", "2024-01-01")
        self.assertEqual([[101], [2]], project.rows("SELECT rate FROM m2 ORDER BY d"))
        self.assertEqual({"current": 1, "stale": 1}, self.classes(project, "m2"))

    def test_what_replay_keeps_stays_older_where_nothing_changed(self):
        project = self.joined("replay: none\n")
        project.model("m2", "replay: none\n" + JOINED.replace("rates.rate",
                                                              "rates.rate + 100 AS rate"))
        self.assertEqual({"older": 2}, self.classes(project, "m2"))
        project.land("orders", TWO_DAYS.replace("2024-01-02,20", "2024-01-02,20"), replace=True)
        project.backfill()
        project.backfill("--select", "m1", "--full")
        self.assertEqual([[1], [2]], project.rows("SELECT rate FROM m2 ORDER BY d"))
        self.assertEqual({"older": 2}, self.classes(project, "m2"))

    def test_older_code_that_is_taken_up_with_a_change_reaches_further_models(self):
        project = self.joined("replay: none\n")
        project.model("m3", "partition_by: day(d)\n---\nSELECT id, d, rate * 10 AS r FROM m2")
        project.backfill()
        project.model("m2", "replay: none\n" + JOINED.replace("rates.rate",
                                                              "rates.rate + 100 AS rate"))
        project.model("m1", M1.replace("d, x FROM", "d, x + 1 AS x FROM"))
        project.backfill()
        self.assertEqual([[11, 101], [21, 102]],
                         project.rows("SELECT x, rate FROM m2 ORDER BY d"))
        self.assertEqual([[1010], [1020]], project.rows("SELECT r FROM m3 ORDER BY d"))
        self.assert_no_op(project)


class DriftStory(TruthStory):
    def test_drift_is_repaired_once(self):
        project = self.project(ORDERS, {"m1": M1, "m2": M2})
        project.land("orders", TWO_DAYS + "    3,2024-01-03,30\n")
        project.backfill()
        table = project.peer_table("m1")
        table.append(rows_of((8, 1, 800)))
        table.delete("d = '2024-01-02'")
        self.assertEqual({"current": 1, "drifted": 2}, self.classes(project, "m1"))
        project.backfill()
        self.assertEqual([[1, 10], [2, 20], [3, 30]],
                         project.rows("SELECT id, x FROM m1 ORDER BY d, id"))
        self.assertEqual({"current": 3}, self.classes(project, "m1"))
        self.assert_no_op(project)

    def test_planned_partition_of_a_shared_model_is_what_its_definition_gives(self):
        project = self.project(ORDERS, {"m1": "writers: shared\n" + M1})
        project.land("orders", TWO_DAYS)
        project.backfill()
        project.peer_table("m1").append(rows_of((8, 1, 800), (9, 2, 900)))
        done = project.backfill("--select", "m1", "--partition", "2024-01-01")
        self.assertEqual(["foreign"], [w["code"] for w in done["plan"]["warnings"]])
        self.assertEqual([[1, 10], [2, 20], [9, 900]],
                         project.rows("SELECT id, x FROM m1 ORDER BY id"))
        self.assert_no_op(project)


class AgainStory(TruthStory):
    def test_a_plan_after_a_rollback_of_a_publication_that_moved_nothing_is_another(self):
        project = self.project(ORDERS, {"m1": M1})
        project.land("orders", TWO_DAYS)
        project.backfill()
        self.land_change(project, 10)  # the same rows in other files
        done = project.backfill()
        self.assertTrue(done["publish"]["no_op"])
        project.ok("rollback", done["publish"]["publication"], "--reason", "story")
        project.ok("release", "m1", "--reason", "story")
        self.assertEqual({"current": 1, "stale": 1}, self.classes(project, "m1"))
        project.backfill()
        self.assertEqual({"current": 2}, self.classes(project, "m1"))
        self.assert_no_op(project)

    def test_code_that_goes_and_comes_back_is_verified_each_time(self):
        project = self.project(ORDERS, {"m1": M1})
        project.land("orders", TWO_DAYS)
        project.backfill()
        other = M1.replace("x FROM", "x + 0 AS x FROM")
        for code in (other, M1, other, M1):
            project.model("m1", code)
            self.assertEqual({"stale": 2}, self.classes(project, "m1"))
            self.assertTrue(project.backfill()["publish"]["no_op"])
            self.assertEqual({"current": 2}, self.classes(project, "m1"))


class ForeignStory(TruthStory):
    SOURCE = """
        feed:
          kind: foreign
          partition_by: day(d)
          columns: {id: BIGINT, d: DATE, x: BIGINT}
    """

    def make_feed(self, project, *rows):
        from pyiceberg.partitioning import PartitionField, PartitionSpec
        from pyiceberg.schema import Schema
        from pyiceberg.transforms import DayTransform
        from pyiceberg.types import DateType, LongType, NestedField
        schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "d", DateType()),
                        NestedField(3, "x", LongType()))
        spec = PartitionSpec(PartitionField(source_id=2, field_id=1000,
                                            transform=DayTransform(), name="d_day"))
        feed = project.peer_catalog().create_table("shop.feed", schema, partition_spec=spec,
                                                   properties={"format-version": "2"})
        feed.append(rows_of(*rows))

    def test_a_foreign_table_that_was_dropped_and_made_again_is_another(self):
        project = self.project("seed: {columns: {id: BIGINT}}\n", {})
        project.land("seed", "id\n1\n")  # makes the catalog
        self.make_feed(project, (1, 1, 10), (2, 2, 20))
        project.define(self.SOURCE, {"out": M1.replace("orders", "feed")})
        project.backfill()
        project.peer_catalog().drop_table("shop.feed")
        self.make_feed(project, (1, 1, 11), (2, 2, 22))
        self.assertEqual({"stale": 2}, self.classes(project, "out"))
        project.backfill()
        self.assertEqual([[11], [22]], project.rows("SELECT x FROM out ORDER BY d"))
        self.assert_no_op(project)


class RefusalStory(TruthStory):
    def test_models_that_ask_the_clock_or_chance_are_refused_with_their_line(self):
        project = self.project(ORDERS, {"m1": M1})
        project.land("orders", TWO_DAYS)
        for expression, said in (("current_date", "the clock"), ("random()", "chance")):
            project.model("m1", M1.replace("x FROM", f"x, {expression} AS y FROM"))
            answer = project.run("validate")
            self.assertEqual(2, answer.code, answer)
            problem = answer["problems"][0]
            self.assertEqual(("models/m1.sql", 4), (problem["file"], problem["line"]))
            self.assertIn(said, problem["text"])
            self.assertTrue(problem["hint"])
            refused = project.run("backfill", "--yes", "--reason", "story")
            self.assertEqual(2, refused.code, refused)
            self.assertIn(said, refused.error["text"] if "text" in refused.error
                          else refused.error["message"])
        project.model("m1", "clock: partition_end\n" + M1)
        self.assertEqual(2, project.run("validate").code)

    def test_ties_and_orders_that_nothing_sets_are_said_in_the_plan(self):
        project = self.project(ORDERS, {
            "m1": "partition_by: day(d)\n---\n"
                  "SELECT d, first(x) AS a, arg_max(id, x) AS b FROM orders GROUP BY d"})
        project.land("orders", TWO_DAYS)
        codes = {w["code"] for w in project.plan()["warnings"]}
        self.assertEqual({"unordered", "ties"}, codes)

    def test_another_partition_by_is_refused_and_can_be_taken_back(self):
        project = self.project(ORDERS, {"m1": M1, "m2": M2})
        project.land("orders", TWO_DAYS)
        done = project.backfill()
        before = project.pins()
        project.model("m1", M1.replace("day(d)", "month(d)"))
        validated = project.run("validate")
        self.assertEqual(2, validated.code, validated)
        self.assertIn("day(d)", validated["problems"][0]["text"])
        for command in (("plan", "--reason", "story"), ("why", "m1", "2024-01"),
                        ("rollback", done["publish"]["publication"], "--reason", "story")):
            refused = project.run(*command)
            self.assertEqual(2, refused.code, refused)
            self.assertIn("partition_by", str(refused.error))
        project.ok("status")
        project.ok("gc", "--yes")
        self.assertEqual(before, project.pins())
        project.model("m1", M1)
        self.assertEqual({"current": 2}, self.classes(project, "m1"))
        self.assert_no_op(project)
        # The other way out: a new name is a new table.
        (project.folder / "models/m1.sql").unlink()
        project.model("m3", M1.replace("day(d)", "month(d)"))
        (project.folder / "models/m2.sql").unlink()
        project.backfill()
        self.assertEqual([[10], [20]], project.rows("SELECT x FROM m3 ORDER BY d"))

    def test_held_partitions_that_were_never_built_are_no_work(self):
        project = self.project(ORDERS, {"m1": M1})
        project.land("orders", TWO_DAYS)
        first = project.backfill()["publish"]["publication"]
        project.ok("rollback", first, "--reason", "story")
        self.assertTrue(project.plan()["nothing_to_do"])
        self.assertIsNone(project.ok("status")["next"])


if __name__ == "__main__":
    main()
