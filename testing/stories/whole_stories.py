"""Models of which nobody can say beforehand which partitions have rows: evaluated whole."""

import datetime

import pyarrow as pa

from project import Story, main, planned

# Lands by the day it arrived; what it tells happened earlier, on any day.
EVENTS = """
    events:
      partition_by: day(arrived)
      columns: {id: BIGINT, arrived: DATE, happened: DATE, x: BIGINT}
"""
BY_DAY = ("partition_by: day(happened)\n---\n"
          "SELECT happened, CAST(sum(x) AS BIGINT) AS s, count(*) AS n FROM events "
          "GROUP BY happened")
DOUBLED = "partition_by: day(happened)\n---\nSELECT happened, 2 * s AS s FROM by_day"
TOTAL = "\n---\nSELECT CAST(sum(s) AS BIGINT) AS s FROM by_day"
MODELS = {"by_day": BY_DAY, "doubled": DOUBLED, "total": TOTAL}
FIRST = """
    id,arrived,happened,x
    1,2024-01-05,2024-01-01,10
    2,2024-01-05,2024-01-03,20
    3,2024-01-06,2024-01-03,30
    4,2024-01-06,,40
"""


class WholeStory(Story):
    def built(self, sources=EVENTS, models=MODELS, rows=FIRST):
        project = self.project(sources, models)
        project.land("events", rows)
        self.done = project.backfill()
        return project

    def assert_nothing_to_do(self, project):
        plan = project.ok("plan")
        self.assertTrue(plan["nothing_to_do"], plan)

    def days(self, project, model="by_day"):
        return project.rows(f"SELECT CAST(happened AS VARCHAR), s FROM {model} "
                            "ORDER BY happened NULLS LAST")

    def staged(self, done):
        return {m["model"]: m["staged"] for m in done["stage"]["models"]}


class BuildStory(WholeStory):
    def test_it_is_built_and_the_second_plan_is_empty(self):
        project = self.built()
        self.assertEqual([["2024-01-01", 10], ["2024-01-03", 50], [None, 40]],
                         self.days(project))
        self.assertEqual([["2024-01-01", 20], ["2024-01-03", 100], [None, 80]],
                         self.days(project, "doubled"))
        self.assertEqual([[100]], project.rows("SELECT s FROM total"))
        self.assertEqual({"by_day": 3, "doubled": 3, "total": 1}, self.staged(self.done))
        self.assert_nothing_to_do(project)

    def test_the_plan_counts_nothing_it_does_not_know(self):
        project = self.project(EVENTS, MODELS)
        project.land("events", FIRST)
        models = {m["model"]: m for m in project.ok("plan", "--reason", "build")["models"]}
        self.assertIsNone(models["by_day"]["count"])
        self.assertEqual(1, models["total"]["count"])
        text = project.run("plan", "--reason", "build", flags=()).out
        self.assertIn("all that by_day, doubled gets rows in", text)

    def test_a_correction_publishes_the_days_that_differ_alone(self):
        project = self.built()
        project.land("events", "id,arrived,happened,x\n3,2024-01-06,2024-01-03,31\n"
                               "4,2024-01-06,,40\n", replace=True)
        self.assertEqual({"by_day": 1, "doubled": 1, "total": 1},
                         self.staged(project.backfill()))
        self.assertEqual([["2024-01-01", 10], ["2024-01-03", 51], [None, 40]],
                         self.days(project))
        self.assert_nothing_to_do(project)

    def test_a_day_that_no_row_falls_into_any_more_is_emptied(self):
        project = self.built(models={"by_day": "allow_empty: true\n" + BY_DAY})
        project.land("events", "id,arrived,happened,x\n1,2024-01-05,2024-01-02,10\n"
                               "2,2024-01-05,2024-01-03,20\n", replace=True)
        project.backfill()
        self.assertEqual([["2024-01-02", 10], ["2024-01-03", 50], [None, 40]],
                         self.days(project))
        self.assert_nothing_to_do(project)

    def test_a_day_that_lost_its_rows_stops_where_empty_days_are_not_allowed(self):
        project = self.built(models={"by_day": BY_DAY})
        project.land("events", "id,arrived,happened,x\n2,2024-01-05,2024-01-03,20\n",
                     replace=True)
        answer = project.run("backfill", "--yes", "--reason", "late")
        self.assertEqual(3, answer.code, answer)
        self.assertIn(["2024-01-01", 10], self.days(project))

    def test_more_days_than_one_copy_keeps_open(self):
        rows = "id,arrived,happened,x\n" + "".join(
            f"{n},2024-01-05,{1990 + n // 336}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02},{n}\n"
            for n in range(1000))
        project = self.built(rows=rows)
        self.assertEqual([[1000, 499500]],
                         project.rows("SELECT count(*), CAST(sum(s) AS BIGINT) FROM by_day"))
        self.assertEqual([[1000, 999000]],
                         project.rows("SELECT count(*), CAST(sum(s) AS BIGINT) FROM doubled"))
        self.assert_nothing_to_do(project)

    def test_by_region_as_well_as_by_day(self):
        project = self.project(
            "events:\n  partition_by: day(arrived)\n"
            "  columns: {arrived: DATE, happened: DATE, region: VARCHAR, x: BIGINT}\n",
            {"m": "partition_by: [day(happened), region]\n"
                  "columns: {region: VARCHAR}\n---\n"
                  "SELECT happened, region, CAST(sum(x) AS BIGINT) AS s FROM events "
                  "GROUP BY ALL"})
        project.land("events", "arrived,happened,region,x\n2024-01-05,2024-01-01,EU,1\n"
                               "2024-01-05,2024-01-01,US,2\n2024-01-05,2024-01-02,,3\n")
        project.backfill()
        self.assertEqual([["EU", 1], ["US", 2], [None, 3]],
                         project.rows("SELECT region, s FROM m ORDER BY s"))
        self.assert_nothing_to_do(project)


class NeighbourStory(WholeStory):
    def test_files_of_others_where_there_should_be_no_rows_are_drift(self):
        project = self.built(models={"by_day": "allow_empty: true\n" + BY_DAY})
        project.peer_table("by_day").append(pa.table({
            "happened": pa.array([datetime.date(2024, 1, 2)]),
            "s": pa.array([7], pa.int64()), "n": pa.array([1], pa.int64())}))
        found = next(m for m in project.ok("status")["models"] if m["model"] == "by_day")
        self.assertEqual(1, found["drifted"])
        project.backfill()
        self.assertNotIn("2024-01-02", [day for day, _ in self.days(project)])


class RollbackStory(WholeStory):
    def test_after_a_rollback_it_is_as_before_and_held(self):
        project = self.built()
        before = [self.days(project, m) for m in ("by_day", "doubled")]
        project.land("events", "id,arrived,happened,x\n5,2024-01-05,2024-01-09,5\n"
                               "2,2024-01-05,2024-01-03,21\n1,2024-01-05,2024-01-01,10\n",
                     replace=True)
        done = project.backfill()
        self.assertIn(["2024-01-09", 5], self.days(project))
        project.ok("rollback", done["publish"]["publication"], "--reason", "no")
        self.assertEqual(before, [self.days(project, m) for m in ("by_day", "doubled")])
        self.assert_nothing_to_do(project)

    def test_released_it_is_corrected_again(self):
        project = self.built()
        project.land("events", "id,arrived,happened,x\n2,2024-01-05,2024-01-03,21\n"
                               "1,2024-01-05,2024-01-01,10\n", replace=True)
        done = project.backfill()
        project.ok("rollback", done["publish"]["publication"], "--reason", "no")
        for model in MODELS:
            project.ok("release", model, "--reason", "it was right after all")
        project.backfill()
        self.assertIn(["2024-01-03", 51], self.days(project))
        self.assert_nothing_to_do(project)


class UnfinishedStory(WholeStory):
    def test_a_day_that_has_not_ended_waits_and_the_others_stay_built(self):
        project = self.built(rows=FIRST + "    5,2024-01-06,2999-01-01,50\n")
        self.assertNotIn("2999-01-01", [day for day, _ in self.days(project)])
        plan = project.ok("plan")
        self.assertTrue(plan["nothing_to_do"], plan)
        self.assertIn("open", [w["code"] for w in plan["warnings"]])


class NoInputStory(Story):
    def test_a_model_that_reads_no_table_is_built_once(self):
        project = self.project(EVENTS, {
            "calendar": "partition_by: month(day)\n---\nSELECT CAST(range AS DATE) AS day "
                        "FROM range(DATE '2024-01-01', DATE '2024-04-01', "
                        "INTERVAL 1 DAY)",
            "one": "\n---\nSELECT 1 AS one"})
        done = project.backfill()
        self.assertEqual({"calendar": 3, "one": 1},
                         {m["model"]: m["staged"] for m in done["stage"]["models"]})
        self.assertEqual([[91]], project.rows("SELECT count(*) FROM calendar"))
        plan = project.ok("plan")
        self.assertTrue(plan["nothing_to_do"], plan)

    def test_why_tells_also_of_a_partition_without_rows(self):
        project = self.project(EVENTS, {"by_day": BY_DAY})
        project.land("events", FIRST)
        project.backfill()
        self.assertEqual(1, project.ok("why", "by_day", "2024-01-01")["rows"])
        self.assertEqual(0, project.ok("why", "by_day", "2024-01-02")["rows"])


if __name__ == "__main__":
    main()
