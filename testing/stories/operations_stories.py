"""Work beside each other and after each other: checkouts that share a catalog, states of
plans, what a command says of what it found."""

import contextlib
import fcntl
import os

from project import Story, main, planned

SRC = """
    src:
      partition_by: day(d)
      columns: {id: BIGINT, d: DATE, x: BIGINT}
"""
OUT = "partition_by: day(d)\n---\nSELECT id, d, x FROM src"


def days(first, last, per_day=2, x=1):
    return "id,d,x\n" + "".join(f"{d * 100 + i},2024-01-{d:02},{x}\n"
                               for d in range(first, last + 1) for i in range(per_day))


@contextlib.contextmanager
def locked(path):
    """What another command that writes does for as long as it runs."""
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
