"""What gc takes and what it leaves: nothing that a table, a ledger row or an open plan reads,
however the project is spelled by now."""

import os

from project import Story, main
from publishing_stories import OUT, SRC, days, peer_append


class GcStory(Story):
    def built(self, **models):
        project = self.project(SRC, models or {"out": OUT})
        project.land("src", days(1, 3))
        project.backfill()
        return project

    def edit(self, project, old, new):
        path = project.folder / "amend.yaml"
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def table_files(self, project, table, namespace=None):
        loaded = project.peer_catalog().load_table(f"{namespace or project.name}.{table}")
        paths = [t.file.file_path for t in loaded.scan().plan_files()]
        paths.append(loaded.metadata_location)
        return [p.removeprefix("file://") for p in paths]

    def gone(self, paths):
        return [p for p in paths if not os.path.exists(p)]

    def all_tables_load(self, project):
        """Another client finds no row that leads nowhere."""
        catalog = project.peer_catalog()
        for namespace in catalog.list_namespaces():
            for name in catalog.list_tables(namespace):
                catalog.load_table(name).scan().to_arrow()

    def test_a_renamed_namespace_is_refused_and_loses_no_file(self):
        project = self.built()
        project.plan("--full")
        project.ok("stage")
        files = self.table_files(project, "out") + self.table_files(project, "src")
        self.edit(project, "namespace: shop", "namespace: other")
        refused = project.run("gc", "--yes")
        self.assertEqual(2, refused.code, refused)
        self.assertIn("namespace shop", refused.error["message"])
        self.assertEqual([], self.gone(files))
        self.all_tables_load(project)
        self.edit(project, "namespace: other", "namespace: shop")
        self.assertEqual([[6]], project.rows("SELECT count(*) FROM out"))
        self.assert_no_op(project)

    def test_the_warehouse_spelled_in_another_way_keeps_its_files(self):
        project = self.built()
        (project.folder / "link").symlink_to(project.folder / "warehouse")
        self.edit(project, "sources:", "warehouse: warehouse\nsources:")
        before = "warehouse: warehouse"
        for day, spelling in enumerate(("./warehouse", "warehouse/", "link", "./link/."), 1):
            self.edit(project, before, f"warehouse: {spelling}")
            before = f"warehouse: {spelling}"
            project.ok("gc", "--yes")
            self.assertEqual(3, project.ok("status")["models"][0]["current"], spelling)
            project.land("src", days(day, day, x=day + 1), replace=True)
            project.backfill()
            project.ok("gc", "--yes")
            self.assertEqual(project.ok("why", "out", f"2024-01-0{min(day, 3)}")["rows"], 2)
        self.assertEqual([[8]], project.rows("SELECT count(*) FROM out"))

    def test_an_open_plan_keeps_its_files_when_a_neighbour_commits_elsewhere(self):
        project = self.built(out="partition_by: day(d)\nwriters: shared\n---\n"
                                 "SELECT id, d, x FROM src")
        project.land("src", days(2, 2, x=9), replace=True)
        plan = project.plan()["plan"]
        project.ok("stage", plan)
        peer_append(project, "out", (1100, 11, 1))
        project.ok("gc", "--yes")
        self.all_tables_load(project)
        project.ok("publish", plan)
        self.assertEqual([[7, 2]],
                         project.rows("SELECT count(*), count(*) FILTER (x = 9) FROM out"))

    def test_an_open_plan_keeps_what_it_reuses_of_a_plan_that_ended(self):
        project = self.built(one=OUT, two=OUT, three=OUT)
        project.land("src", days(2, 2, x=9), replace=True)
        first = project.plan("--select", "one", "--select", "three")["plan"]
        project.ok("stage", first)
        second = project.plan("--select", "one", "--select", "two")["plan"]
        self.assertEqual(1, project.ok("stage", second)["tasks"]["reused"])
        project.backfill("--select", "three")  # ends the first, not the second
        states = {p["plan"] for p in project.ok("status")["open_plans"]}
        self.assertEqual({second}, states)
        project.ok("gc", "--yes")
        project.ok("publish", second)
        self.assertEqual([[2]], project.rows("SELECT count(*) FROM one WHERE x = 9"))

    def test_twins_and_journals_end_with_their_plans(self):
        project = self.built()
        project.land("src", days(2, 2, x=9), replace=True)
        ended = project.plan()["plan"]
        project.ok("stage", ended)
        project.land("src", days(2, 2, x=10), replace=True)
        project.backfill()
        project.land("src", days(3, 3, x=11), replace=True)
        open_plan = project.plan()["plan"]
        project.ok("stage", open_plan)
        dry = project.ok("gc")
        self.assertEqual([f"shop_amend_{ended}"], dry["twins"])
        project.ok("gc", "--yes")
        self.all_tables_load(project)
        spaces = {n[0] for n in project.peer_catalog().list_namespaces()}
        self.assertEqual({"shop", f"shop_amend_{open_plan}"}, spaces)
        self.assertEqual([f".amend/journal/r{open_plan[1:]}.jsonl"],
                         list(project.files(".amend/journal")))
        project.ok("publish", open_plan)
        project.ok("gc", "--yes")
        self.assertEqual({}, project.files(".amend/journal"))
        self.assertEqual([], project.ok("gc")["files"])

    def test_a_table_that_does_not_read_keeps_all_that_is_under_it(self):
        project = self.built(out=OUT, other=OUT)
        files = self.table_files(project, "out")
        metadata = files[-1]
        bytes_before = open(metadata, "rb").read()
        with open(metadata, "wb") as damaged:
            damaged.write(b"{")
        for model in "out", "other":
            (project.folder / f"models/{model}.sql").unlink()
        project.model("third", OUT)
        below = project.files("warehouse/shop/out")
        answer = project.ok("gc", "--yes")
        self.assertEqual(["shop.out"], [t["table"] for t in answer["kept"]])
        self.assertIn("metadata", answer["kept"][0]["why"])
        self.assertEqual(set(below), set(project.files("warehouse/shop/out")))
        with open(metadata, "wb") as restored:
            restored.write(bytes_before)
        project.model("out", OUT)
        self.assertEqual([[6]], project.rows("SELECT count(*) FROM out"))


if __name__ == "__main__":
    main()
