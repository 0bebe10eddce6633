"""Other clients of the same catalog: readers of twins, writers beside a publication."""

import datetime
import os
import pathlib
import sqlite3
import threading
import time

import duckdb
import pyarrow as pa
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.transforms import DayTransform
from pyiceberg.types import DateType, LongType, NestedField

from project import Story, main

FEED = """
    feed:
      kind: foreign
      partition_by: day(d)
      columns: {id: BIGINT, d: DATE, x: BIGINT}
"""
MODELS = {
    "out": "partition_by: day(d)\nwriters: shared\n---\nSELECT id, d, x FROM feed",
    "agg": "partition_by: day(d)\nwriters: shared\n---\n"
           "SELECT d, CAST(sum(x) AS BIGINT) AS s, count(*) AS n FROM out GROUP BY d",
}


def rows_of(*rows):
    """(id, day of January, x) as Arrow."""
    return pa.table({"id": pa.array([r[0] for r in rows], pa.int64()),
                     "d": pa.array([datetime.date(2024, 1, r[1]) for r in rows]),
                     "x": pa.array([r[2] for r in rows], pa.int64())})


class PeerStory(Story):
    def with_feed(self):
        """A project whose source is a table that PyIceberg made and writes."""
        project = self.project("seed: {columns: {id: BIGINT}}\n", {})
        project.land("seed", "id\n1\n")  # makes the catalog
        catalog = project.peer_catalog()
        schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "d", DateType()),
                        NestedField(3, "x", LongType()))
        spec = PartitionSpec(PartitionField(source_id=2, field_id=1000,
                                            transform=DayTransform(), name="d_day"))
        feed = catalog.create_table("shop.feed", schema, partition_spec=spec,
                                    properties={"format-version": "2"})
        feed.append(rows_of(*[(d * 100 + i, d, 1) for d in range(1, 8) for i in range(4)]))
        project.define(FEED, MODELS)
        project.backfill()
        return project, feed


class TwinStory(PeerStory):
    def duck_rows(self, location):
        folder = pathlib.Path(os.environ["AMEND_DEPS_DIR"]) / "extensions"
        duck = duckdb.connect(config={"extension_directory": str(folder)})
        duck.execute("SET autoinstall_known_extensions=false; LOAD avro; LOAD iceberg")
        return sorted(duck.execute("SELECT id, x FROM iceberg_scan(?)", [location]).fetchall())

    def peer_rows(self, table):
        return sorted((r["id"], r["x"]) for r in table.scan().to_arrow().to_pylist())

    def test_staged_rows_are_read_at_the_twin_and_not_at_the_live_table(self):
        project, feed = self.with_feed()
        live = self.peer_rows(project.peer_table("out"))
        before = project.pins()
        feed.append(rows_of((599, 5, 9)))
        plan = project.plan()["plan"]
        project.ok("stage")
        twin = project.peer_catalog().load_table(f"shop_amend_{plan}.out")
        wanted = sorted(live + [(599, 9)])
        self.assertEqual(wanted, self.peer_rows(twin))
        self.assertEqual(wanted, self.duck_rows(twin.metadata_location))
        self.assertEqual(live, self.peer_rows(project.peer_table("out")))
        self.assertEqual(live, self.duck_rows(before["out"]["metadata_location"]))
        self.assertEqual({t: before[t] for t in ("out", "agg")},
                         {t: project.pins()[t] for t in ("out", "agg")})
        self.assertNotEqual(twin.metadata.table_uuid,
                            project.peer_table("out").metadata.table_uuid)
        project.ok("publish")
        catalog = project.peer_catalog()
        with self.assertRaises(NoSuchTableError):
            catalog.load_table(f"shop_amend_{plan}.out")
        self.assertEqual([("shop",)], catalog.list_namespaces())
        self.assertEqual(wanted, self.peer_rows(project.peer_table("out")))
        self.assertEqual(wanted, self.duck_rows(project.pins()["out"]["metadata_location"]))


class Appender(threading.Thread):
    """Appends one row after the other to a table until told to stop; keeps what was
    acknowledged and what failed. Paced so that one commit in a few tries meets ours."""

    def __init__(self, project, table, day, first_id):
        super().__init__()
        self.project, self.table, self.day, self.next_id = project, table, day, first_id
        self.acknowledged, self.failed = [], []
        self.stop = threading.Event()

    def run(self):
        table = self.project.peer_catalog().load_table(f"shop.{self.table}")
        while not self.stop.wait(0.05):
            try:
                table.append(rows_of((self.next_id, self.day, 0)))
                self.acknowledged.append(self.next_id)
            except Exception as error:  # whatever it is, the test shows it
                self.failed.append(repr(error))
            self.next_id += 1


class Poller(threading.Thread):
    """Reads both models through PyIceberg at one set of `amend pins` after the other."""

    def __init__(self, project):
        super().__init__()
        self.project, self.seen, self.stop = project, [], threading.Event()

    def run(self):
        while not self.stop.is_set():
            tables = self.project.pins()
            read = {}
            for name in ("out", "agg"):
                table = StaticTable.from_metadata(tables[name]["metadata_location"])
                read[name] = table.scan(row_filter="d = '2024-01-05'",
                                        snapshot_id=tables[name]["snapshot"]).to_arrow().to_pylist()
            total = sum(r["x"] for r in read["out"])
            self.seen.append((total, len(read["out"]), read["agg"][0]["s"], read["agg"][0]["n"]))


class NeighbourStory(PeerStory):
    def present(self, project, table):
        return {r[0] for r in project.rows(f"SELECT id FROM {table} WHERE id >= 10000")}

    def test_neighbours_lose_nothing_and_readers_see_whole_publications(self):
        project, feed = self.with_feed()
        feed.append(rows_of((599, 5, 9)))
        plan = project.plan()["plan"]
        writers = [Appender(project, "feed", 20, 10_000), Appender(project, "out", 25, 20_000)]
        poller = Poller(project)
        for thread in (*writers, poller):
            thread.start()
        try:
            self.assertEqual(0, project.run("stage", plan).code)
            published = project.ok("publish", plan)
            after_publication = [(w, list(w.acknowledged)) for w in writers]
            present = {w.table: self.present(project, w.table) for w in writers}
            project.ok("rollback", published["publication"], "--reason", "story")
            started = [len(w.acknowledged) for w in writers]
            while not all(len(w.acknowledged) > n for w, n in zip(writers, started)):
                time.sleep(0.05)
                self.assertTrue(all(w.is_alive() for w in writers))
        finally:
            for thread in (*writers, poller):
                thread.stop.set()
            for thread in (*writers, poller):
                thread.join()
        for writer, acknowledged in after_publication:
            self.assertEqual([], writer.failed)
            self.assertGreater(len(acknowledged), 0, writer.table)
            self.assertEqual(set(), set(acknowledged) - present[writer.table])
        for writer in writers:
            self.assertEqual(set(writer.acknowledged), self.present(project, writer.table))
        old, new = (4, 4, 4, 4), (13, 5, 13, 5)
        self.assertEqual(set(), set(poller.seen) - {old, new}, "a torn publication was seen")
        self.assertIn(old, poller.seen)
        print({w.table: len(w.acknowledged) for w in writers}, "appends acknowledged,",
              len(poller.seen), "reads at pins,", poller.seen.count(new), "of the new state")


class PointerReader(threading.Thread):
    """Reads the pointers of three tables, one after the other, in one transaction of the
    catalog, as often as it can."""

    def __init__(self, project, tables):
        super().__init__()
        self.path, self.tables = project.folder / ".amend" / "catalog.db", tables
        self.reads, self.seen, self.stop = 0, set(), threading.Event()

    def run(self):
        catalog = sqlite3.connect(self.path, isolation_level=None, timeout=60)
        while not self.stop.is_set():
            catalog.execute("BEGIN")
            self.seen.add(tuple(catalog.execute(
                "SELECT metadata_location FROM iceberg_tables"
                " WHERE table_namespace = 'shop' AND table_name = ?", [table]).fetchone()[0]
                for table in self.tables))
            catalog.execute("COMMIT")
            self.reads += 1
        catalog.close()


class AtomicStory(Story):
    TABLES = ("orders", "lines", "totals")

    def three_tables(self):
        """orders and lines of one source, totals of both; day 2 corrected and staged."""
        day = "partition_by: day(d)\nwriters: shared\n---\n"
        project = self.project("src:\n  partition_by: day(d)\n"
                               "  columns: {id: BIGINT, d: DATE, x: BIGINT}\n", {
            "orders": day + "SELECT id, d, -x AS due FROM src",
            "lines": day + "SELECT id, d, x FROM src",
            "totals": day + "SELECT o.d AS d, CAST(sum(l.x) AS BIGINT) AS x FROM orders o"
                            " JOIN lines l ON o.id = l.id AND o.d = l.d GROUP BY o.d"})
        project.land("src", "id,d,x\n1,2024-01-01,1\n2,2024-01-02,1\n")
        project.backfill()
        self.correct(project, 2)
        return project

    def correct(self, project, x):
        project.land("src", f"id,d,x\n2,2024-01-02,{x}\n", replace=True)
        plan = project.plan()["plan"]
        self.assertEqual("staged", project.ok("stage", plan)["state"])
        return plan

    def pointers(self, project):
        pins = project.pins()
        return tuple(pins[table]["metadata_location"].removeprefix("file://")
                     for table in self.TABLES)

    def test_B66_ten_thousand_reads_never_see_a_mix(self):
        project = self.three_tables()
        reader, whole, x = PointerReader(project, self.TABLES), [self.pointers(project)], 2
        reader.start()
        try:
            while len(whole) < 5 or reader.reads < 10_000:
                number = project.ok("publish")["publication"]
                whole.append(self.pointers(project))
                project.ok("rollback", number, "--reason", "story")
                whole.append(self.pointers(project))
                x += 1
                self.correct(project, x)
                self.assertTrue(reader.is_alive())
        finally:
            reader.stop.set()
            reader.join()
        seen = {tuple(p.removeprefix("file://") for p in read) for read in reader.seen}
        self.assertEqual(set(), seen - set(whole), "a mix of two publications was seen")
        for table, moved in zip(self.TABLES, zip(*whole)):
            self.assertEqual(len(whole), len(set(moved)), table)
        print(reader.reads, "reads,", len(seen), "states of", len(whole))

    def test_B66_a_conflict_on_the_third_table_moves_none(self):
        project = self.three_tables()
        project.peer_table("totals").append(pa.table({
            "d": pa.array([datetime.date(2024, 1, 2)]), "x": pa.array([0], pa.int64())}))
        before = self.pointers(project)
        refused = project.run("publish")
        self.assertEqual(4, refused.code, refused)
        self.assertIn("totals", refused.out)
        self.assertEqual(before, self.pointers(project))


if __name__ == "__main__":
    main()
