"""A system-call trace: every file that a backfill and its rollback write is one of ours, goes
through Env, SQLite or the engine's COPY and spill, and lies in the project."""

import re
import subprocess

import project as stories
from project import Story, main

CALLS = ("open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,"
         "link,linkat,symlink,symlinkat,truncate")
LINE = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+)")
PATH = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\.\.\.)?')

# What may be written below the project, by whom and under which names.
RULES = [
    ("sqlite", r"\.amend/catalog\.db(-wal|-shm)?"),
    ("sqlite: first", r"\.amend/catalog\.db-journal"),  # until the catalog is in WAL mode
    ("env: lock", r"\.amend/catalog\.db\.lock"),
    ("env: journal", r"\.amend/journal(/r[0-9a-f]+\.jsonl)?"),
    ("env: folders", r"\.amend(/tmp)?|warehouse(/\w+(/_amend/facts|/\w+(/data(/_amend)?)?)?)?"),
    ("engine: spill", r"\.amend/tmp/[\w-]+(/.*)?"),
    ("engine: facts", r"warehouse/\w+/_amend/facts/[0-9a-f-]+-\w+\.parquet"),
    ("engine: COPY", r"warehouse/\w+/\w+/data/_amend/[rl][0-9a-f-]+"
                     r"(/[\w-]+(/[\w-]+\.parquet)?)?"),
    ("env: data files", r"warehouse/\w+/\w+/data/_amend/[rl][0-9a-f-]+/[\w-]+\.parquet"),
    ("env: metadata", r"warehouse/\w+/\w+/metadata(/[\w.-]+\.(metadata\.json|avro))?"),
]


def effects(trace):
    """(call, path, flags) of every successful effect on a file's name or bytes."""
    for line in trace.splitlines():
        found = LINE.match(line)
        if not found or found[3].startswith("-"):
            continue
        call, arguments = found[1], found[2]
        if call in ("open", "openat") and not re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", arguments):
            continue
        for path in PATH.findall(arguments):
            yield call, path, arguments


class TraceStory(Story):
    def traced(self, project, *words):
        log = self.folder / "trace.txt"
        command = ["strace", "-f", "-qq", "-s", "4096", "-o", str(log), "-e", f"trace={CALLS}",
                   stories.BINARY, "-C", str(project.folder), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return list(effects(log.read_text()))

    def check(self, project, found):
        """Each effect by its rule; returns how often each rule was met."""
        met = {}
        root = str(project.folder) + "/"
        for call, path, arguments in found:
            if path.startswith(("/dev/", "/proc/self/")):
                continue
            self.assertTrue(path.startswith(root), f"{call} outside of the project: {path}")
            name = path.removeprefix(root)
            rule = next((n for n, p in RULES if re.fullmatch(p, name)), None)
            self.assertIsNotNone(rule, f"{call} bypasses every rule: {name} ({arguments})")
            if rule == "env: metadata" and call == "openat" and "O_CREAT" in arguments:
                self.assertIn("O_EXCL", arguments, "a metadata file is never written over")
            met[rule] = met.get(rule, 0) + 1
        return met

    def test_every_file_write_goes_through_a_known_door(self):
        project = self.project("""
            src:
              partition_by: day(d)
              columns: {id: BIGINT, d: DATE}
        """, {"out": "partition_by: day(d)\n---\nSELECT id, d FROM src",
              "total": "key: [one]\n---\nSELECT 1 AS one, count(*) AS n FROM out"})
        file = project.file("id,d\n1,2024-01-01\n2,2024-01-02\n")
        landed = self.check(project, self.traced(project, "land", "src", file))
        built = self.check(project, self.traced(project, "backfill", "--yes", "--reason", "x"))
        back = self.check(project, self.traced(project, "rollback", "2", "--reason", "x"))
        print(landed, built, back)
        for rule in ("sqlite", "env: lock", "env: metadata", "engine: COPY"):
            self.assertGreater(landed.get(rule, 0), 0, rule)
        for rule in ("sqlite", "env: lock", "env: journal", "env: metadata", "engine: facts",
                     "engine: COPY"):
            self.assertGreater(built.get(rule, 0), 0, rule)
        for rule in ("sqlite", "env: lock", "env: metadata", "engine: facts"):
            self.assertGreater(back.get(rule, 0), 0, rule)
        self.assertNotIn("engine: COPY", back)
        self.assertNotIn("sqlite: first", built | back)

    def test_a_write_elsewhere_would_be_found(self):
        project = self.project("src: {columns: {id: BIGINT}}\n",
                               {"out": "key: [id]\n---\nSELECT id FROM src"})
        for path in ("/tmp/elsewhere", f"{project.folder}/warehouse/shop/out/metadata/x.tmp",
                     f"{project.folder}/models/out.sql"):
            with self.assertRaises(AssertionError):
                self.check(project, [("openat", path, f'"{path}", O_WRONLY|O_CREAT')])


if __name__ == "__main__":
    main()
