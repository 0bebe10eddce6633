"""Landing more than fits: files of many times the memory limit, within the limit.

The sizes are those that the design names; AMEND_LANDING_MB and AMEND_LANDING_LIMIT_MB ask
for others.
"""

import os
import time

import duckdb

from project import Story, main

INPUT_MB = int(os.environ.get("AMEND_LANDING_MB", "2100"))
LIMIT_MB = int(os.environ.get("AMEND_LANDING_LIMIT_MB", "512"))
DAYS = 180
PARQUET_ROW_BYTES, CSV_ROW_BYTES = 56, 94  # measured on what `generate` writes


class LandingStory(Story):
    def generate(self, kind, rows):
        """Rows over 180 days in no order, with text that does not compress well."""
        path = str(self.folder / f"input.{kind}")
        options = "FORMAT parquet, COMPRESSION snappy" if kind == "parquet" else "FORMAT csv, HEADER"
        duckdb.execute(f"""COPY (
            SELECT i AS id, TIMESTAMP '2024-01-01' + to_seconds(
                       (hash(i) % {DAYS * 86400})::BIGINT) AS ts,
                   md5(i::VARCHAR) AS who, (hash(i + 1) % 1000000007)::BIGINT AS a,
                   (hash(i + 2) % 1000003) / 977.0 AS v
            FROM range({rows}) t(i)) TO '{path}' ({options})""")
        return path

    def land(self, project, paths):
        """Lands files in one go; (seconds, CPU seconds, most memory in MB) of the process."""
        started = time.monotonic()
        process = project.run("land", "src", *paths, wait=False)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        error = process.stderr.read()
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(0, process.returncode, out + error)
        return (time.monotonic() - started, usage.ru_utime + usage.ru_stime,
                usage.ru_maxrss * 1024 / 1e6)

    def test_landing_many_times_the_memory_stays_within_it(self):
        project = self.project("""
            src:
              partition_by: day(ts)
              columns: {id: BIGINT, ts: TIMESTAMP, who: VARCHAR, a: BIGINT, v: DOUBLE}
        """, {"out": "partition_by: day(ts)\n---\nSELECT id, ts FROM src"},
            extra=f"limits: {{memory: {LIMIT_MB}MB}}\n")
        kinds = (("parquet", PARQUET_ROW_BYTES), ("csv", CSV_ROW_BYTES))
        rows = [INPUT_MB * 1_000_000 // 2 // row_bytes for _, row_bytes in kinds]
        paths = [self.generate(kind, n) for (kind, _), n in zip(kinds, rows)]
        size = sum(map(os.path.getsize, paths)) / 1e6
        self.assertGreater(size, INPUT_MB * 0.9)
        seconds, cpu, memory = self.land(project, paths)
        print(f"{size:.0f} MB, {sum(rows)} rows in {seconds:.1f} s, {cpu:.1f} CPU s, "
              f"VmHWM {memory:.0f} MB of {LIMIT_MB}", flush=True)
        self.assertLessEqual(memory, LIMIT_MB)
        self.assertEqual([[sum(rows), DAYS]], project.rows(
            "SELECT count(*), count(DISTINCT ts::DATE) FROM src"))

    def test_a_replacement_by_bytes_landed_before_is_judged_by_what_is_live(self):
        project = self.project("""
            src:
              partition_by: day(d)
              columns: {id: BIGINT, d: DATE}
        """, {"out": "partition_by: day(d)\n---\nSELECT id, d FROM src"})
        ids = "SELECT id FROM src ORDER BY id"
        first = project.file("id,d\n1,2024-01-01\n2,2024-01-02\n")
        landed = project.ok("land", "src", first)["landing"]
        self.assertEqual((True, landed), tuple(project.ok(
            "land", "src", first, "--replace-partitions")[k] for k in ("no_op", "landing")))
        project.land("src", "id,d\n9,2024-01-01\n")  # a second file of day 1
        again = project.ok("land", "src", first, "--replace-partitions")
        self.assertFalse(again["no_op"])
        self.assertEqual([[1], [2]], project.rows(ids))
        self.assertTrue(project.ok("land", "src", first, "--replace-partitions")["no_op"])
        project.ok("rollback", again["landing"], "--reason", "story")
        self.assertEqual([[1], [2], [9]], project.rows(ids))
        self.assertFalse(project.ok("land", "src", first, "--replace-partitions")["no_op"])
        self.assertEqual([[1], [2]], project.rows(ids))

    def test_files_without_rows_are_on_record_and_move_nothing(self):
        project = self.project("""
            src:
              partition_by: day(d)
              columns: {id: BIGINT, d: DATE}
        """, {"out": "partition_by: day(d)\n---\nSELECT id, d FROM src"})
        empty = project.file("id,d\n")
        first = project.ok("land", "src", empty)
        self.assertEqual([], first["partitions_appended"])
        self.assertEqual({}, project.pins())
        self.assertTrue(project.ok("land", "src", empty)["no_op"])
        project.land("src", "id,d\n1,2024-01-01\n")
        pins = project.pins()
        again = project.ok("land", "src", project.file("id,d\n\n"), "--replace-partitions")
        self.assertEqual(([], pins), (again["partitions_replaced"], project.pins()))
        project.ok("rollback", again["landing"], "--reason", "story")
        project.ok("rollback", first["landing"], "--reason", "story")
        self.assertEqual(pins, project.pins())
        project.backfill()
        self.assert_no_op(project)


if __name__ == "__main__":
    main()
