"""Landing more than fits: files of many times the memory limit, within the limit.

The sizes of the ctest case are small enough for every run; the figures that the design asks
for are had by `AMEND_LANDING_MB=2000 AMEND_LANDING_LIMIT_MB=512` and printed alike.
"""

import os
import time

import duckdb

from project import Story, main

INPUT_MB = int(os.environ.get("AMEND_LANDING_MB", "200"))
LIMIT_MB = int(os.environ.get("AMEND_LANDING_LIMIT_MB", "256"))
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

    def land(self, project, path):
        """Lands one file; (seconds, CPU seconds, most memory in MB) of the process."""
        started = time.monotonic()
        process = project.run("land", "src", path, wait=False)
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
        total = 0
        for kind, row_bytes in (("parquet", PARQUET_ROW_BYTES), ("csv", CSV_ROW_BYTES)):
            rows = INPUT_MB * 1_000_000 // 2 // row_bytes
            total += rows
            path = self.generate(kind, rows)
            size = os.path.getsize(path) / 1e6
            seconds, cpu, memory = self.land(project, path)
            os.remove(path)
            print(f"{kind}: {size:.0f} MB, {rows} rows in {seconds:.1f} s, {cpu:.1f} CPU s, "
                  f"VmHWM {memory:.0f} MB of {LIMIT_MB}", flush=True)
            self.assertGreater(size, INPUT_MB / 2 * 0.8)
            self.assertLessEqual(memory, LIMIT_MB, kind)
        self.assertEqual([[total, DAYS]], project.rows(
            "SELECT count(*), count(DISTINCT ts::DATE) FROM src"))


if __name__ == "__main__":
    main()
