"""Work beside each other and after each other: checkouts that share a catalog, states of
plans, what a command says of what it found."""

import contextlib
import fcntl
import hashlib
import json
import os

from project import Story, main
from publishing_stories import OUT, SRC, days, peer_append


@contextlib.contextmanager
def locked(path):
    """What another command that writes does for as long as it runs."""
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class PlanStateStory(Story):
    def staged(self, header=""):
        """Day 2 was corrected; the plan for it is staged."""
        project = self.project(SRC, {"out": header + OUT})
        project.land("src", days(1, 5))
        project.backfill()
        return project, self.correct(project, 2, 9)

    def correct(self, project, day, x):
        project.land("src", days(day, day, x=x), replace=True)
        plan = project.plan()["plan"]
        project.ok("stage", plan)
        return plan

    def open_plans(self, project):
        return [p["plan"] for p in project.ok("status")["open_plans"]]

    def state(self, project, plan):
        return project.ok("show", plan)["state"]

    def test_status_recommends_the_latest_open_plan(self):
        project, first = self.staged()
        second = self.correct(project, 3, 8)
        status = project.ok("status")
        self.assertEqual([second, first], [p["plan"] for p in status["open_plans"]])
        self.assertEqual(f"amend publish {second}", status["next"])
        self.assertEqual(second, project.ok("publish")["publication"] and
                         project.ok("show", second)["plan"])

    def test_a_plan_that_ended_in_a_conflict_is_recommended_no_more(self):
        project, plan = self.staged("writers: shared\n")
        peer_append(project, "out", (11, 2, 11))
        self.assertEqual(4, project.run("publish", plan).code)
        status = project.ok("status")
        self.assertEqual([], status["open_plans"])
        self.assertEqual("amend plan", status["next"])
        self.assertEqual("superseded", self.state(project, plan))
        # Its id stays good for asking, and the answer stays the same.
        self.assertEqual(4, project.run("publish", plan).code)

    def test_a_plan_whose_model_changed_is_recommended_no_more(self):
        project, plan = self.staged()
        project.model("out", OUT.replace("x FROM", "x + 1 AS x FROM"))
        self.assertEqual(4, project.run("stage", plan).code)
        self.assertEqual([], self.open_plans(project))
        project.model("out", OUT)
        project.ok("stage", plan)  # whoever names it means it
        self.assertEqual([plan], self.open_plans(project))
        project.ok("publish", plan)
        self.assertEqual("published", self.state(project, plan))

    def test_a_publication_ends_the_plans_that_it_makes_pointless(self):
        project, touched = self.staged()
        project.land("src", days(4, 4, x=7), replace=True)
        elsewhere = project.plan("--select", "out", "--partition", "2024-01-04")["plan"]
        project.land("src", days(2, 2, x=10), replace=True)
        project.backfill("--select", "out", "--partition", "2024-01-02")
        self.assertEqual("superseded", self.state(project, touched))
        self.assertEqual([elsewhere], self.open_plans(project))
        project.ok("stage", elsewhere)
        project.ok("publish", elsewhere)
        self.assertEqual([[2, 10], [4, 7]], project.rows(
            "SELECT DISTINCT day(d), x FROM out WHERE x > 1 ORDER BY 1"))

    def test_planning_the_same_again_opens_what_was_superseded(self):
        project, plan = self.staged()
        model = (project.folder / "models/out.sql").read_text()
        project.model("out", OUT.replace("x FROM", "x + 1 AS x FROM"))
        self.assertEqual(4, project.run("publish", plan).code)
        project.write("models/out.sql", model)
        self.assertEqual([], self.open_plans(project))
        self.assertEqual(plan, project.plan()["plan"])
        self.assertEqual([plan], self.open_plans(project))


class JournalStory(Story):
    def test_a_line_of_another_format_stops_nothing_and_is_said(self):
        project = self.project(SRC, {"out": OUT})
        project.land("src", days(1, 3))
        plan = project.plan()["plan"]
        project.ok("stage", plan)
        body = json.dumps({"type": "staged", "verdicts": [], "write_set": {"format": 99}},
                          separators=(",", ":"))
        line = f"{hashlib.sha256(body.encode()).hexdigest()[:16]} {body}\n"
        with open(project.folder / f".amend/journal/r{plan[1:]}.jsonl", "a") as journal:
            journal.write(line)
        staged = project.ok("stage", plan)
        self.assertEqual((1, 1), (staged["tasks"]["total"], staged["tasks"]["reused"]))
        self.assertIn("1 line left out", staged["warnings"][0]["text"])
        project.ok("review", plan)
        project.ok("publish", plan)
        self.assert_no_op(project)

    def test_reviewing_writes_no_journal(self):
        project = self.project(SRC, {"out": OUT})
        project.land("src", days(1, 3))
        plan = project.plan()["plan"]
        project.ok("stage", plan)
        before = project.files(".amend/journal")
        project.ok("review", plan)
        project.ok("publish", plan)
        self.assertEqual(before, project.files(".amend/journal"))


class MemoryStory(Story):
    def test_the_engine_for_questions_keeps_to_the_limit_too(self):
        sizes = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
        for limit, most in (("300MB", 100_000_000), ("1GB", 500_000_000)):
            project = self.project(SRC, {"out": OUT}, extra=f"limits: {{memory: {limit}}}\n")
            project.land("src", days(1, 1))
            [[text]] = project.rows("SELECT current_setting('memory_limit') FROM src LIMIT 1")
            number, unit = text.split()
            self.assertLessEqual(float(number) * sizes[unit], most, limit)


class SharedCatalogStory(Story):
    """Two checkouts of one project over one catalog and one warehouse."""

    def checkout(self, lake):
        return self.project(SRC, {"out": OUT},
                            extra=f"catalog: {lake}/catalog.db\nwarehouse: {lake}/warehouse\n")

    def checkouts(self):
        lake = self.folder / "lake"
        lake.mkdir()
        link = self.folder / "link"
        link.symlink_to(lake)
        return self.checkout(lake), self.checkout(link), lake

    def test_checkouts_of_one_catalog_write_one_after_the_other(self):
        one, other, lake = self.checkouts()
        one.land("src", days(1, 3))
        one.backfill()
        with locked(lake / "catalog.db.lock"):
            for project in one, other:
                busy = project.run("gc", "--yes")
                self.assertEqual(5, busy.code, busy)
                self.assertIn("another amend command", busy.error["message"])
                self.assertIn(f"{os.path.realpath(lake)}/catalog.db", busy.error["message"])
        other.ok("gc", "--yes")
        self.assertEqual([[6]], one.rows("SELECT count(*) FROM out"))

    def test_a_project_of_another_namespace_is_refused(self):
        one, _, lake = self.checkouts()
        one.land("src", days(1, 3))
        bank = self.project(SRC, {"out": OUT}, name="bank",
                            extra=f"catalog: {lake}/catalog.db\nwarehouse: {lake}/other\n")
        refused = bank.run("status")
        self.assertEqual(2, refused.code, refused)
        self.assertIn("namespace shop", refused.error["message"])
        one.backfill()

    def test_two_namespaces_share_a_warehouse(self):
        lake = self.folder / "lake"
        projects = [self.project(SRC, {"out": OUT}, name=name,
                                 extra=f"catalog: {lake}/{name}.db\nwarehouse: {lake}/w\n")
                    for name in ("shop", "bank")]
        for project in projects:
            project.land("src", days(1, 3))
            project.backfill()
        for project in projects:
            project.ok("gc", "--yes")
        for project in projects:
            self.assertTrue(project.ok("plan")["nothing_to_do"])
            self.assertEqual([[6]], project.rows("SELECT count(*) FROM out"))

    def test_what_one_checkout_staged_another_publishes(self):
        one, other, _ = self.checkouts()
        one.land("src", days(1, 3))
        plan = one.plan()["plan"]
        one.ok("stage", plan)
        other.ok("gc", "--yes")
        other.ok("publish", plan)
        self.assertEqual([[6]], one.rows("SELECT count(*) FROM out"))


if __name__ == "__main__":
    main()
