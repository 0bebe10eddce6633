#!/usr/bin/env python3
"""Reads the tables of `amend pins` with PyIceberg; prints rows and the sum of integers.

    read_pins.py PINS.json    {table: {metadata_location: …, snapshot: …}}
"""

import json
import sys

from pyiceberg.table import StaticTable


def totals(pin):
    table = StaticTable.from_metadata(pin["metadata_location"])
    rows = table.scan(snapshot_id=pin["snapshot"]).to_arrow().to_pylist()
    cells = [value for row in rows for name, value in row.items()
             if not name.startswith("_amend") and isinstance(value, int)]
    return [len(rows), sum(cells)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        pins = json.load(file)
    print(json.dumps({name: totals(pin) for name, pin in pins.items()}))


if __name__ == "__main__":
    main()
