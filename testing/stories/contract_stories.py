"""What scripts rely on: every object of --json with its keys and types, exit codes, how ids and
plans are named."""

from project import Story, main

NUMBER = (int, float)
RANGE = {"first": str, "last": str, "count": int}
DAY_RANGES = [RANGE]
MAYBE = lambda kind: (kind, type(None))

PLAN = {
    "plan": MAYBE(str), "nothing_to_do": bool, "nothing_to_do_because": MAYBE(str),
    "reason": str,
    "models": [{"model": str, "strategy": str, "count": int, "partitions": DAY_RANGES,
                "because": [{"from": str, "kind": str, "text": str}],
                "estimate": {"rows": MAYBE(int), "bytes_read": MAYBE(int),
                             "bytes_written": MAYBE(int), "seconds": MAYBE(NUMBER),
                             "origin": str}}],
    "skipped": [{"model": str, "why": str}],
    "held": [{"model": str, "partitions": DAY_RANGES, "by": str, "until": str}],
    "warnings": [{"code": str, "text": str}],
}
STAGE = {
    "plan": str, "run": str, "state": str,
    "tasks": {"total": int, "done": int, "reused": int, "cut_off": int, "failed": int},
    "models": [{"model": str, "staged": int, "unchanged": int, "rows": int,
                "bytes_written": int}],
    "verdicts": [{"model": str, "check": str, "partition": str, "outcome": str, "text": str,
                  "blocks": bool, "samples": list}],
    "seconds": NUMBER, "cpu_seconds": NUMBER, "estimate_seconds": NUMBER,
}
REVIEW = {"plan": str, "models": [{"model": str, "partitions": [{
    "partition": str, "rows_before": int, "rows_after": int, "added": int, "removed": int,
    "changed": int, "columns": dict}]}]}
PUBLISH = {"publication": int, "kind": str, "no_op": bool, "tables": [{
    "table": str, "snapshot": int, "previous_snapshot": MAYBE(int), "partitions": DAY_RANGES}]}
LAND = {"landing": int, "no_op": bool, "source": str,
        "files": [{"file": str, "digest": str, "rows": int}],
        "partitions_appended": DAY_RANGES, "partitions_replaced": DAY_RANGES}
STATUS = {"models": [{"model": str, "current": int, "stale": int, "missing": int, "open": int,
                      "held": int, "drifted": int, "older": int}],
          "open_plans": list, "next": MAYBE(str)}
WHY = {"publication": int, "plan": str, "definition": str,
       "inputs": [{"table": str, "partitions": DAY_RANGES, "snapshot": MAYBE(int)}],
       "verdicts": list, "reason": str, "by": str, "at": str}


class ContractStory(Story):
    def shape(self, wanted, found, place="$"):
        """Keys present and types right; keys may be added."""
        if isinstance(wanted, dict):
            self.assertIsInstance(found, dict, place)
            self.assertEqual(set(), set(wanted) - set(found), f"{place} lacks keys")
            for key, value in wanted.items():
                self.shape(value, found[key], f"{place}.{key}")
        elif isinstance(wanted, list):
            self.assertIsInstance(found, list, place)
            for i, item in enumerate(found):
                self.shape(wanted[0], item, f"{place}[{i}]")
        else:
            if isinstance(found, bool):
                self.assertIs(wanted, bool, place)
            self.assertIsInstance(found, wanted, f"{place} is {found!r}")

    def sales(self):
        project = self.project("""
            orders:
              partition_by: day(d)
              columns: {id: {type: BIGINT, nullable: false}, d: DATE, region: VARCHAR, x: BIGINT}
        """, {
            "daily": "partition_by: day(d)\nkey: [id]\n---\nSELECT id, d, region, x FROM orders",
            "monthly": "partition_by: month(m)\n---\nSELECT CAST(date_trunc('month', d) AS DATE) "
                       "AS m, CAST(sum(x) AS BIGINT) AS x FROM daily GROUP BY 1",
            "total": "key: [one]\n---\nSELECT 1 AS one, CAST(sum(x) AS BIGINT) AS x FROM daily"})
        return project

    def land_days(self, project, last, x=1):
        return project.land("orders", "id,d,region,x\n" + "".join(
            f"{d * 10 + i},2024-01-{d:02},eu,{x}\n" for d in range(1, last + 1)
            for i in range(3)), replace=True)

    def test_every_json_object_has_its_keys_and_types(self):
        project = self.sales()
        self.shape({"ok": bool, "problems": list}, project.ok("validate").json)
        empty = project.ok("plan")
        self.shape(PLAN, empty.json)
        self.assertTrue(empty["nothing_to_do"])
        self.assertIsNone(empty["plan"])
        landed = self.land_days(project, 5)
        self.shape(LAND, landed.json)
        self.assertEqual([{"first": "2024-01-01", "last": "2024-01-05", "count": 5}],
                         landed["partitions_appended"])
        self.shape(PLAN, project.plan().json)
        built = project.backfill()
        self.shape({"plan": PLAN, "stage": STAGE, "publish": PUBLISH}, built.json)
        self.assertEqual({"monthly": [{"first": "2024-01", "last": "2024-01", "count": 1}],
                          "total": [{"first": "all", "last": "all", "count": 1}]},
                         {m["model"]: m["partitions"] for m in built["plan"]["models"]
                          if m["model"] != "daily"})
        replaced = self.land_days(project, 2, x=5)
        self.assertEqual([{"first": "2024-01-01", "last": "2024-01-02", "count": 2}],
                         replaced["partitions_replaced"])
        project.plan()
        self.shape(STATUS, project.ok("status").json)
        self.shape(STAGE, project.ok("stage").json)
        review = project.ok("review")
        self.shape(REVIEW, review.json)
        daily = next(m for m in review["models"] if m["model"] == "daily")
        self.assertEqual({"partition": "2024-01-01", "rows_before": 3, "rows_after": 3,
                          "added": 0, "removed": 0, "changed": 3, "columns": {"x": 3}},
                         daily["partitions"][0])
        published = project.ok("publish")
        self.shape(PUBLISH, published.json)
        self.assertEqual("publish", published["kind"])
        self.shape(WHY, project.ok("why", "daily", "2024-01-01").json)
        rolled = project.ok("rollback", published["publication"], "--reason", "x")
        self.shape(PUBLISH, rolled.json)
        held = project.ok("plan")
        self.shape(PLAN, held.json)
        self.assertEqual(4, sum(r["count"] for h in held["held"] for r in h["partitions"]))
        pins = project.ok("pins")
        self.shape({"publication": int, "tables": dict}, pins.json)
        for table in pins["tables"].values():
            self.shape({"snapshot": MAYBE(int), "metadata_location": str}, table)
        at = project.ok("pins", "--at", published["publication"])
        self.assertEqual(published["publication"], at["publication"])
        self.assertEqual({t["table"]: t["snapshot"] for t in published["tables"]},
                         {t: at["tables"][t]["snapshot"] for t in ("daily", "monthly", "total")})
        self.shape({"plan": str}, project.ok("show", built["plan"]["plan"]).json)
        self.assertIsInstance(project.ok("show", published["publication"]).json, dict)
        self.shape({"dry_run": bool, "files": list}, project.ok("gc").json)
        self.assertIsInstance(
            project.ok("release", "daily", "2024-01-01", "--reason", "x").json, dict)

    def test_query_speaks_json_types(self):
        project = self.sales()
        self.land_days(project, 1)
        answer = project.ok("query", "SELECT 9223372036854775807 AS big, 1.50::DECIMAL(9,2) AS dec, "
                            "DATE '2024-01-01' AS d, TIMESTAMP '2024-01-01 01:02:03.5' AS t, "
                            "'nan'::DOUBLE AS nan, 0.5::DOUBLE AS f, NULL AS nix, true AS b, "
                            "count(*) AS n FROM orders")
        self.assertEqual([["name", "type"]] * 9, [sorted(c) for c in answer["columns"]])
        big, dec, day, time, nan, half, nix, yes, count = answer["rows"][0]
        self.assertEqual((9223372036854775807, "1.50", "2024-01-01", 0.5, None, True, 3),
                         (big, dec, day, half, nix, yes, count))
        self.assertIsInstance(time, str)
        self.assertIsInstance(nan, str)

    def test_errors_say_code_message_and_place(self):
        project = self.sales()
        project.model("daily", "partition_by: day(d)\nkey: [id]\n---\nSELECT id, d, regoin, x FROM orders")
        checked = project.run("validate")
        self.assertEqual((2, False), (checked.code, checked["ok"]))
        self.shape([{"severity": str, "code": str, "file": str, "line": int, "text": str,
                     "hint": str}], checked["problems"])
        self.assertEqual("models/daily.sql", checked["problems"][0]["file"])
        failed = project.run("plan")
        self.assertEqual(2, failed.code)
        self.shape({"code": str, "message": str, "file": str, "line": int}, failed.error)
        self.assertIn("regoin", failed.error["message"])
        self.assertIn("region", failed.error["message"] + failed.error.get("hint", ""))
        for words in (("land", "ordrs", "x.csv"), ("plan", "--select", "dayly"), ("show", "p0"),
                      ("query", "SELECT * FROM nix"), ("frobnicate",), ("plan", "--from")):
            answer = project.run(*words)
            self.assertEqual(2, answer.code, answer)
            self.shape({"error": {"code": str, "message": str}}, answer.json)

    def test_refused_landing_names_file_column_row_and_value(self):
        project = self.sales()
        file = project.file("id,d,region,x\n1,2024-01-01,eu,1\n2,2024-01-01,eu,4.5\n")
        refused = project.run("land", "orders", file)
        self.assertEqual(3, refused.code, refused)
        self.assertEqual((file, "x", "4.5"), tuple(
            refused.error[k] for k in ("file", "column", "value")))
        self.assertIn("row 2", refused.error["message"])
        missing = project.run("land", "orders", project.file("id,d,region,x\n,2024-01-01,eu,1\n"))
        self.assertEqual((3, "id"), (missing.code, missing.error["column"]))
        self.assertEqual({}, project.pins())
        self.assertEqual([], [f for f in project.files("warehouse") if f.endswith(".parquet")])
        first = project.land("orders", "id,d,region,x\n1,2024-01-01,eu,1\n")
        again = project.ok("land", "orders", str(project.folder / "in/003.csv"))
        self.assertEqual((True, first["landing"]), (again["no_op"], again["landing"]))

    def test_a_task_that_fails_says_why_as_any_error_and_keeps_what_was_done(self):
        project = self.sales()
        self.land_days(project, 2)
        project.model("total", "key: [one]\n---\nSELECT 1 AS one, CAST(max(region) AS BIGINT) "
                               "AS x FROM daily")
        plan = project.plan()["plan"]
        failed = project.run("stage", plan)
        self.assertEqual(3, failed.code, failed)
        self.assertEqual("failed", failed["state"])
        self.shape({"code": str, "message": str, "table": str, "partition": str}, failed.error)
        self.assertEqual(("total", "all"), (failed.error["table"], failed.error["partition"]))
        self.assertIn("'eu'", failed.error["message"])

    def test_reason_and_ticket_are_kept_and_asked_for_where_there_is_work(self):
        project = self.sales()
        file = project.file("id,d,region,x\n1,2024-01-01,eu,1\n")
        landed = project.ok("land", "orders", file, "--reason", "r1", "--ticket", "T-1")
        for command in (("plan",), ("backfill", "--yes")):
            nobody = project.run(*command)
            self.assertEqual(2, nobody.code, nobody)
            self.assertIn("--reason", nobody.error["hint"])
        self.assertEqual([], project.ok("status")["open_plans"])
        unsure = project.run("backfill", "--reason", "r2", "--ticket", "T-2")
        self.assertEqual(2, unsure.code, unsure)
        self.assertIn("--yes", unsure.error["hint"])
        built = project.backfill("--ticket", "T-2", reason="r2")
        taken = project.ok("rollback", built["publish"]["publication"], "--reason", "r3",
                           "--ticket", "T-3")
        for number, reason, ticket in ((landed["landing"], "r1", "T-1"),
                                       (built["publish"]["publication"], "r2", "T-2"),
                                       (taken["publication"], "r3", "T-3")):
            shown = project.ok("show", number)
            self.assertEqual((reason, ticket), (shown["reason"], shown["ticket"]))
        self.assertEqual(0, project.run("plan").code)  # nothing to do needs none
        self.assertEqual(2, project.run("rollback", "").code)

    def test_plan_defaults_to_the_latest_open_one_and_ids_may_be_short(self):
        project = self.sales()
        self.land_days(project, 3)
        plan = project.plan()["plan"]
        self.assertEqual(plan, project.ok("show", plan[:5])["plan"])
        self.assertEqual(plan, project.ok("stage", plan[:4])["plan"])
        self.land_days(project, 1, x=2)
        later = project.plan()["plan"]
        self.assertNotEqual(plan, later)
        self.assertEqual(later, project.ok("stage")["plan"])
        published = project.ok("publish")
        again = project.ok("publish", later[:6])
        self.assertEqual((True, published["publication"]),
                         (again["no_op"], again["publication"]))
        self.assertEqual(0, project.run("plan", "--detailed-exitcode").code)
        self.assertEqual(10, self.land_days(project, 1, x=3) and project.run(
            "plan", "--detailed-exitcode", "--reason", "x").code)

    def test_a_command_before_another_one_ended_is_told_to_wait(self):
        project = self.sales()
        self.land_days(project, 3)
        import fcntl
        with open(project.folder / ".amend/catalog.db.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            busy = project.run("backfill", "--yes", "--reason", "x")
        self.assertEqual(5, busy.code, busy)
        self.assertIn("another amend command", busy.error["message"])
        project.backfill()


if __name__ == "__main__":
    main()
