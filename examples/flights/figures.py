#!/usr/bin/env python3
"""Reads what `amend … --json` said, for demo.sh: checks it, or prints a line of it.

    figures.py reach PLAN MODEL=PARTITIONS…   the plan holds exactly these
    figures.py held PLAN PARTITIONS           nothing to do, so many partitions held
    figures.py nothing-to-do BACKFILL         a backfill that found nothing to do
    figures.py staged STAGE | published PUBLICATION | number PUBLICATION
    figures.py shares FULL NAME=STAGE…        share of rows, bytes and CPU of a full build
"""

import json
import sys
from pathlib import Path


def load(path):
    return json.loads(Path(path).read_text())


def fail(text):
    sys.exit(f"demo: {text}")


def count(partitions):
    return sum(run["count"] for run in partitions)


def reach(path, *wanted):
    wanted = {model: int(number) for model, number in (word.split("=") for word in wanted)}
    found = {model["model"]: model["count"] for model in load(path)["models"]}
    if found != wanted:
        fail(f"the plan should reach {wanted}, it reaches {found}")
    print(f"The plan reaches what it must: {sum(found.values())} partitions of "
          f"{len(found)} {'model' if len(found) == 1 else 'models'}.")


def held(path, wanted):
    plan = load(path)
    found = sum(count(entry["partitions"]) for entry in plan["held"])
    if not plan["nothing_to_do"] or found != int(wanted):
        fail(f"expected nothing to do and {wanted} partitions held, found {found} held, "
             f"nothing_to_do {plan['nothing_to_do']}")
    print(f"Nothing to do; {found} partitions held.")


def nothing_to_do(path):
    plan = load(path)["plan"]
    if not plan["nothing_to_do"]:
        fail(f"a second backfill found work: {[m['model'] for m in plan['models']]}")


def totals(path):
    stage = load(path)
    if stage["state"] != "staged":
        fail(f"staging ended {stage['state']}")
    return {"rows": sum(model["rows"] for model in stage["models"]),
            "bytes": sum(model["bytes_written"] for model in stage["models"]),
            "CPU s": stage["cpu_seconds"]}


def staged(path):
    stage, total = load(path), totals(path)
    print(f"{stage['tasks']['done']} tasks, {total['rows']:,} rows, "
          f"{total['bytes'] / 1e6:.1f} MB, {total['CPU s']:.2f} CPU s, "
          f"{stage['seconds']:.2f} s")


def published(path):
    done = load(path)
    print(f"#{done['publication']} ({done['kind']}): {len(done['tables'])} tables in one step")


def number(path):
    print(load(path)["publication"])


def shares(path, *stages):
    full = totals(path)
    print(f"{'':14}" + "".join(f"{what:>22}" for what in full))
    for name, total in [("full build", full)] + [
            (name, totals(stage)) for name, stage in (word.split("=") for word in stages)]:
        cells = [f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
                 for value in total.values()]
        percents = [f"{100 * total[what] / full[what]:6.1f} %" for what in full]
        print(f"{name:14}" + "".join(f"{cell:>13} {percent}" for cell, percent in
                                     zip(cells, percents)))


COMMANDS = {"reach": reach, "held": held, "nothing-to-do": nothing_to_do, "staged": staged,
            "published": published, "number": number, "shares": shares}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
