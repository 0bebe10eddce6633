"""What a plan reaches, end to end: field cases on blast radius, windows and partition values."""

import os

from project import Story, main, planned

ORDERS = """
    orders:
      partition_by: day(d)
      columns: {id: BIGINT, d: DATE, customer: VARCHAR, amount: BIGINT}
"""
THREE_DAYS = """
    id,d,customer,amount
    1,2024-01-01,ann,10
    2,2024-01-01,bob,20
    3,2024-01-02,ann,30
    4,2024-01-02,cem,40
    5,2024-01-03,bob,50
    6,2024-01-03,cem,60
"""
STG = """
    partition_by: day(d)
    ---
    SELECT id, d, customer, amount FROM orders
"""


class RadiusStory(Story):
    def test_B01_table_without_time_is_rebuilt_whole(self):
        project = self.project(ORDERS, {
            "stg": STG,
            "cust_total": "key: [customer]\n---\n"
                          "SELECT customer, CAST(sum(amount) AS BIGINT) AS total FROM stg "
                          "GROUP BY customer"})
        project.land("orders", THREE_DAYS)
        project.backfill()
        queries = ["SELECT * FROM cust_total ORDER BY 1", "SELECT * FROM stg ORDER BY id"]
        before = [project.rows(q) for q in queries]
        project.land("orders", """
            id,d,customer,amount
            3,2024-01-02,ann,31
            4,2024-01-02,cem,40
        """, replace=True)
        plan = project.plan("--select", "stg", "--from", "2024-01-02", "--to", "2024-01-02")
        self.assertEqual({"stg": [("2024-01-02", "2024-01-02")],
                          "cust_total": [("all", "all")]}, planned(plan))
        done = project.backfill("--select", "stg", "--from", "2024-01-02",
                                "--to", "2024-01-02")
        self.assertEqual([["ann", 41], ["bob", 70], ["cem", 100]], project.rows(queries[0]))
        self.assertEqual(
            project.rows("SELECT customer, CAST(sum(amount) AS BIGINT) FROM orders "
                         "GROUP BY 1 ORDER BY 1"), project.rows(queries[0]))
        self.assert_no_op(project)
        self.assert_rolls_back(project, done["publish"]["publication"], queries, before)

    def test_B02_six_days_touch_their_month_once(self):
        project = self.project(ORDERS, {
            "sales_d": "partition_by: day(d)\n---\n"
                       "SELECT d, CAST(sum(amount) AS BIGINT) AS amount FROM orders GROUP BY d",
            "sales_m": "partition_by: month(m)\n---\n"
                       "SELECT CAST(date_trunc('month', d) AS DATE) AS m, "
                       "CAST(sum(amount) AS BIGINT) AS amount, count(*) AS days "
                       "FROM sales_d GROUP BY 1"})
        days = [f"2024-01-{d:02}" for d in (30, 31)] + [f"2024-02-{d:02}" for d in range(1, 30)]
        project.land("orders", "id,d,customer,amount\n" + "\n".join(
            f"{i},{d},ann,1" for i, d in enumerate(days)) + "\n")
        project.backfill()
        before = project.rows("SELECT * FROM sales_m ORDER BY m")
        project.land("orders", "id,d,customer,amount\n" + "\n".join(
            f"{i},2024-02-{i},ann,100" for i in range(15, 21)) + "\n", replace=True)
        done = project.backfill("--select", "sales_d", "--from", "2024-02-15",
                                "--to", "2024-02-20")
        self.assertEqual({"sales_d": [("2024-02-15", "2024-02-20")],
                          "sales_m": [("2024-02", "2024-02")]}, planned(done["plan"]))
        self.assertEqual([6, 1], [m["count"] for m in done["plan"]["models"]])
        self.assertEqual([["2024-01-01", 2, 2], ["2024-02-01", 623, 29]],
                         project.rows("SELECT * FROM sales_m ORDER BY m"))
        inverted = project.run("plan", "--select", "sales_d", "--from", "2024-02-20",
                               "--to", "2024-02-15")
        self.assertEqual(2, inverted.code, inverted)
        self.assert_no_op(project)
        self.assert_rolls_back(project, done["publish"]["publication"],
                               ["SELECT * FROM sales_m ORDER BY m"], [before])

    def test_B07_row_that_moves_day_is_taken_from_the_one_and_put_in_the_other(self):
        project = self.project(ORDERS, {"stg": STG})
        project.land("orders", """
            id,d,customer,amount
            6,2024-01-03,ann,1
            7,2024-01-03,ann,7
            8,2024-01-04,bob,1
            9,2024-01-05,bob,1
            10,2024-01-05,bob,1
        """)
        project.backfill()
        query = "SELECT id, d FROM stg ORDER BY id, d"
        before = project.rows(query)
        project.land("orders", """
            id,d,customer,amount
            6,2024-01-03,ann,1
            7,2024-01-05,ann,7
            9,2024-01-05,bob,1
            10,2024-01-05,bob,1
        """, replace=True)
        done = project.backfill()
        self.assertEqual({"stg": [("2024-01-03", "2024-01-03"), ("2024-01-05", "2024-01-05")]},
                         planned(done["plan"]))
        self.assertEqual(1, len(done["publish"]["tables"]))
        self.assertEqual([[6, "2024-01-03"], [7, "2024-01-05"], [8, "2024-01-04"],
                          [9, "2024-01-05"], [10, "2024-01-05"]], project.rows(query))
        for number in range(2, 5):  # what a reader could have seen, one after the other
            self.assertEqual([[1]], project.rows("SELECT count(*) FROM stg WHERE id = 7",
                                                 "--at", number))
        self.assert_no_op(project)
        self.assert_rolls_back(project, done["publish"]["publication"], [query], [before])

    def widening(self):
        project = self.project(ORDERS, {
            "a": "partition_by: day(d)\n---\n"
                 "SELECT d, customer, CAST(sum(amount) AS BIGINT) AS amount FROM orders "
                 "GROUP BY d, customer",
            "dim": "key: [customer]\n---\n"
                   "SELECT customer, max(amount) AS best FROM a GROUP BY customer",
            "c": "partition_by: day(d)\n---\n"
                 "SELECT a.d, a.customer, a.amount, dim.best FROM a "
                 "JOIN dim ON dim.customer = a.customer"})
        project.land("orders", "id,d,customer,amount\n" + "".join(
            f"{d},2024-01-{d:02},{'ann' if d % 2 else 'bob'},{d}\n" for d in range(1, 11)))
        project.backfill()
        return project

    def test_B12_widening_by_a_dimension_is_shown_and_needs_a_yes(self):
        project = self.widening()
        project.land("orders", "id,d,customer,amount\n5,2024-01-05,ann,500\n", replace=True)
        plan = project.plan()
        self.assertEqual([("2024-01-01", "2024-01-10")], planned(plan)["c"])
        widened = next(m for m in plan["models"] if m["model"] == "c")
        self.assertTrue(any(b["from"] == "dim" and b["kind"] == "upstream"
                            for b in widened["because"]), widened)
        self.assertGreater(widened["estimate"]["rows"], 0)
        self.assertGreater(widened["estimate"]["bytes_read"], 0)
        before = project.pins()
        asked = project.run("backfill", "--reason", "no yes and nobody to ask")
        self.assertIsNone(asked.json.get("publish"), asked)
        self.assertEqual(before, project.pins())
        done = project.backfill()
        self.assertEqual([[5]], project.rows("SELECT count(*) FROM c WHERE best = 500"))
        self.assert_no_op(project)
        self.assertEqual(0, project.run("rollback", done["publish"]["publication"]).code)
        self.assertEqual([[0]], project.rows("SELECT count(*) FROM c WHERE best = 500"))

    def test_B12_unchanged_dimension_stops_the_wave(self):
        project = self.widening()
        before = project.pins()
        # Day 4 of bob gets a smaller amount; the best of bob stays.
        project.land("orders", "id,d,customer,amount\n4,2024-01-04,bob,3\n", replace=True)
        done = project.backfill()
        staged = {m["model"]: m["staged"] for m in done["stage"]["models"]}
        self.assertEqual({"a": 1, "dim": 0, "c": 1}, staged)
        after = project.pins()
        self.assertEqual(before["dim"], after["dim"])
        self.assertNotEqual(before["c"], after["c"])
        self.assertEqual([["c", [{"first": "2024-01-04", "last": "2024-01-04", "count": 1}]]],
                         [[t["table"], t["partitions"]] for t in done["publish"]["tables"]
                          if t["table"] == "c"])
        self.assert_no_op(project)

    def test_B131_backfill_prints_and_stores_its_plan_with_reasons(self):
        models = {"m0": "partition_by: day(d)\n---\nSELECT id, d, amount FROM orders"}
        for i in range(1, 8):
            models[f"m{i}"] = (f"partition_by: day(d)\n---\nSELECT id, d, amount FROM m{i // 2}")
        project = self.project(ORDERS, models)
        project.land("orders", THREE_DAYS)
        text = project.run("backfill", "--yes", "--reason", "first build", flags=())
        self.assertEqual(0, text.code, text)
        for model in models:
            self.assertIn(model, text.out)
        project.land("orders", "id,d,customer,amount\n3,2024-01-02,ann,31\n", replace=True)
        done = project.backfill(reason="amount of order 3")
        self.assertEqual(8, len(done["plan"]["models"]))
        for model in done["plan"]["models"]:
            parent = "orders" if model["model"] == "m0" else f"m{int(model['model'][1:]) // 2}"
            self.assertTrue(any(b["from"] == parent and b["text"] for b in model["because"]),
                            model)
        shown = project.ok("show", done["plan"]["plan"])
        self.assertIn("amount of order 3", shown.out)


class WindowStory(Story):
    SOURCE = """
        events:
          partition_by: day(ts)
          columns: {id: BIGINT, ts: TIMESTAMP WITH TIME ZONE}
    """
    MODEL = {"daily": "partition_by: day(ts)\n---\nSELECT id, ts FROM events"}
    ROWS = """
        id,ts
        1,2024-03-10 03:00:00+00
        2,2024-03-10 12:00:00+00
        3,2024-03-11 02:00:00+00
    """

    def test_B19_one_window_for_read_delete_and_publish(self):
        project = self.project(self.SOURCE, self.MODEL)
        project.environment["TZ"] = "America/New_York"
        project.land("events", self.ROWS)
        project.backfill()
        query = "SELECT id FROM daily WHERE ts < TIMESTAMPTZ '2024-03-11 00:00:00+00' ORDER BY id"
        before = project.rows("SELECT id, ts::VARCHAR FROM daily ORDER BY id")
        for _ in range(2):
            done = project.backfill("--select", "daily", "--from", "2024-03-10",
                                    "--to", "2024-03-10", "--full")
            self.assertEqual([[1], [2]], project.rows(query))
            self.assertEqual(before, project.rows("SELECT id, ts::VARCHAR FROM daily ORDER BY id"))
            self.assertEqual([], (done["publish"] or {"tables": []})["tables"])
        self.assert_no_op(project)

    def test_B20_zone_of_the_host_changes_nothing(self):
        seen = []
        for zone in ("UTC", "America/New_York", "Asia/Tokyo"):
            project = self.project(self.SOURCE, self.MODEL)
            project.environment["TZ"] = zone
            project.land("events", self.ROWS)
            done = project.backfill()
            project.land("events", "id,ts\n9,2024-03-10 23:59:59+00\n", replace=True)
            plan = project.backfill()
            seen.append([planned(done["plan"]), planned(plan["plan"]), plan["plan"]["plan"][:1],
                         project.rows("SELECT id, ts, ts::VARCHAR, ts::DATE, "
                                      "date_trunc('day', ts)::VARCHAR, "
                                      "current_setting('TimeZone') FROM daily ORDER BY id"),
                         project.ok("status").json["models"]])
        self.assertEqual({"daily": [("2024-03-10", "2024-03-10")]}, seen[0][1])
        self.assertEqual([9, 3], [r[0] for r in seen[0][3]][::-1])
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])


class ValueStory(Story):
    SOURCE = """
        src:
          partition_by: p
          columns: {id: BIGINT, p: VARCHAR}
    """
    MODEL = {"out": "partition_by: p\ncolumns: {p: VARCHAR}\n---\nSELECT id, p FROM src"}

    def write_parquet(self, rows, names=("id", "p")):
        import pyarrow as pa
        import pyarrow.parquet as pq
        path = str(self.folder / f"values{len(os.listdir(self.folder))}.parquet")
        columns = list(zip(*rows))
        pq.write_table(pa.table({names[0]: pa.array(columns[0], pa.int64()),
                                 names[1]: pa.array(columns[1], pa.string())}), path)
        return path

    def test_B32_values_that_look_like_null_are_four_partitions(self):
        project = self.project(self.SOURCE, self.MODEL)
        rows = [(1, "__HIVE_DEFAULT_PARTITION__"), (2, None), (3, "NULL"), (4, "")]
        project.ok("land", "src", self.write_parquet(rows))
        project.backfill()
        query = "SELECT id, p FROM out ORDER BY id"
        self.assertEqual([list(r) for r in rows], project.rows(query))
        tuples = {tuple(p["partition"].values()) for p in
                  project.peer_table("out").inspect.partitions().to_pylist()}
        self.assertEqual({("__HIVE_DEFAULT_PARTITION__",), (None,), ("NULL",), ("",)}, tuples)
        for i, (_, value) in enumerate(rows):
            project.ok("land", "src", self.write_parquet([(10 + i, value)]),
                       "--replace-partitions")
            done = project.backfill()
            self.assertEqual(1, done["plan"]["models"][0]["count"])
        self.assertEqual([[10 + i, v] for i, (_, v) in enumerate(rows)], project.rows(query))
        self.assert_no_op(project)

    def test_B140_values_and_names_are_never_sql(self):
        evil = "Jan 1' OR '1'='1"
        project = self.project("""
            src:
              partition_by: p
              columns: {id: BIGINT, p: VARCHAR, 'a"b''c': VARCHAR}
        """, {"out": "partition_by: p\ncolumns: {p: VARCHAR}\n---\n"
                    "SELECT id, p, \"a\"\"b'c\" FROM src"})
        project.land("src", 'id,p,"a""b\'c"\n1,"Jan 1\' OR \'1\'=\'1",x\n2,other,y\n')
        project.backfill()
        project.land("src", 'id,p,"a""b\'c"\n3,"Jan 1\' OR \'1\'=\'1",z\n', replace=True)
        done = project.backfill("--select", "out", "--partition", f"p={evil}")
        self.assertEqual(1, done["plan"]["models"][0]["count"])
        self.assertEqual([[2, "other", "y"], [3, evil, "z"]],
                         project.rows('SELECT id, p, "a""b\'c" FROM out ORDER BY id'))
        self.assertEqual(2, project.run("query", "SELECT * FROM out; DROP TABLE out").code)
        self.assertEqual(2, project.run("query", "SELECT * FROM read_csv('/etc/passwd')").code)
        self.assertEqual(2, project.run("query", "COPY out TO '/tmp/x'").code)
        why = project.ok("why", "out", f"p={evil}")
        self.assertEqual(done["publish"]["publication"], why["publication"])
        self.assert_no_op(project)


if __name__ == "__main__":
    main()
