#!/usr/bin/env python3
"""PyIceberg as the other side of the table format; prints JSON for the C++ test that runs it.

    iceberg_peer.py write FOLDER       makes a table of many snapshots, tells what it holds
    iceberg_peer.py manifests LIST     tells what PyIceberg reads in a manifest list
"""

import datetime
import decimal
import json
import sys

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import EqualTo, GreaterThanOrEqual, IsNull, LessThan
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import read_manifest_list
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform, IdentityTransform
from pyiceberg.types import (DecimalType, DoubleType, LongType, NestedField, StringType,
                             TimestampType)

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "ts", TimestampType(), required=False),
    NestedField(3, "region", StringType(), required=False),
    NestedField(4, "x", DoubleType(), required=False),
    NestedField(5, "price", DecimalType(9, 2), required=False))
SPEC = PartitionSpec(
    PartitionField(source_id=2, field_id=1000, transform=DayTransform(), name="ts_day"),
    PartitionField(source_id=3, field_id=1001, transform=IdentityTransform(), name="region"))
ARROW = pa.schema([("id", pa.int64()), ("ts", pa.timestamp("us")), ("region", pa.string()),
                   ("x", pa.float64()), ("price", pa.decimal128(9, 2))])
LONG = "a region whose name is longer than sixteen characters"


def rows(*tuples):
    columns = list(zip(*tuples))
    prices = [None if p is None else decimal.Decimal(p) for p in columns[4]]
    return pa.table([columns[0], columns[1], columns[2], columns[3], prices], schema=ARROW)


def at(year, month, day, hour=0):
    return datetime.datetime(year, month, day, hour)


def value(v):
    """A partition value as our test spells it: days for dates."""
    if isinstance(v, datetime.date):
        return (v - datetime.date(1970, 1, 1)).days
    return v


def describe(file):
    bounds = lambda m: {str(k): bytes(v).hex() for k, v in sorted((m or {}).items())}
    return {
        "path": file.file_path,
        "partition": [value(v) for v in file.partition],
        "record_count": file.record_count,
        "file_size": file.file_size_in_bytes,
        "null_counts": {str(k): v for k, v in sorted((file.null_value_counts or {}).items())},
        "lower": bounds(file.lower_bounds),
        "upper": bounds(file.upper_bounds),
    }


def files_of(table, **scan):
    files = [describe(task.file) for task in table.scan(**scan).plan_files()]
    return sorted(files, key=lambda f: f["path"])


def write(folder):
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db",
                         warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", SCHEMA, partition_spec=SPEC,
                                 properties={"format-version": "2"})
    table.append(rows((1, at(2001, 3, 5, 1), "eu", 1.5, "1.00"),
                      (2, at(2001, 3, 5, 23), "eu", None, None),
                      (3, at(2001, 3, 6), "us", -0.0, "-7.25"),
                      (4, at(1969, 12, 31, 23), "us", 2.0, "3.00"),
                      (5, at(1960, 1, 1), None, 3.0, "1234567.89"),
                      (6, None, "eu", 4.0, "0.01")))
    table.append(rows((7, None, None, None, None), (8, at(1970, 1, 1), LONG, 1.0, "5.00")))
    table.append(rows((9, at(2001, 3, 5, 12), "eu", 9.0, "2.50"),
                      (10, at(2001, 3, 7), "us", 10.0, "4.00")))
    table.overwrite(rows((11, at(2001, 3, 6, 5), "us", 11.0, "1.10")),
                    overwrite_filter=EqualTo("region", "us"))
    table.delete(EqualTo("id", 1))
    table.append(rows((12, at(1960, 1, 1, 7), None, float("nan"), "1.00")))
    filters = {
        "before_epoch": LessThan("ts", "1970-01-01T00:00:00"),
        "eu": EqualTo("region", "eu"),
        "no_region": IsNull("region"),
        "no_time": IsNull("ts"),
        "late": GreaterThanOrEqual("ts", "2001-03-06T00:00:00"),
    }
    return {
        "metadata": table.metadata_location,
        "snapshots": [{"id": s.snapshot_id, "files": files_of(table, snapshot_id=s.snapshot_id)}
                      for s in table.metadata.snapshots],
        "filters": {name: [f["path"] for f in files_of(table, row_filter=expression)]
                    for name, expression in filters.items()},
    }


def manifests(path):
    io = PyArrowFileIO()
    out = []
    for manifest in read_manifest_list(io.new_input(path)):
        entries = []
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=False):
            entries.append({"status": int(entry.status), "snapshot_id": entry.snapshot_id,
                            "sequence_number": entry.sequence_number,
                            "file_sequence_number": entry.file_sequence_number,
                            "file": describe(entry.data_file)})
        out.append({"path": manifest.manifest_path,
                    "sequence_number": manifest.sequence_number,
                    "min_sequence_number": manifest.min_sequence_number,
                    "counts": [manifest.added_files_count, manifest.existing_files_count,
                               manifest.deleted_files_count],
                    "contains_null": [p.contains_null for p in manifest.partitions or []],
                    "entries": entries})
    return out


if __name__ == "__main__":
    print(json.dumps({"write": write, "manifests": manifests}[sys.argv[1]](sys.argv[2])))
