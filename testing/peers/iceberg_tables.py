"""What other readers and writers make of our tables: PyIceberg and DuckDB's extension.

  write FOLDER SPEC        Parquet files with field ids; SPEC is JSON {name: {column: [..]}}
  read METADATA...         every snapshot and ref of each through both readers
  append METADATA ROWS     PyIceberg appends ROWS (JSON columns) to the table

Each prints one JSON document. Columns are fixed: day date, origin string, n int.
"""

import datetime
import json
import os
import pathlib
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable

SCHEMA = pa.schema([
    pa.field("day", pa.date32(), metadata={"PARQUET:field_id": "1"}),
    pa.field("origin", pa.string(), metadata={"PARQUET:field_id": "2"}),
    pa.field("n", pa.int32(), metadata={"PARQUET:field_id": "3"}),
])


def arrow(columns):
    days = [None if d is None else datetime.date(1970, 1, 1) + datetime.timedelta(d)
            for d in columns["day"]]
    return pa.table([pa.array(days, pa.date32()), pa.array(columns["origin"], pa.string()),
                     pa.array(columns["n"], pa.int32())], schema=SCHEMA)


def write(folder, spec):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    sizes = {}
    for name, columns in json.loads(spec).items():
        path = os.path.join(folder, name + ".parquet")
        pq.write_table(arrow(columns), path)
        sizes[name] = os.path.getsize(path)
    return sizes


def days_of(value):
    return None if value is None else (value - datetime.date(1970, 1, 1)).days


def rows_of(table):
    rows = [[days_of(r["day"]), r["origin"], r["n"]] for r in table.to_pylist()]
    return sorted(rows, key=str)


def extensions():
    folder = pathlib.Path(os.environ["AMEND_DEPS_DIR"]) / "extensions"
    connection = duckdb.connect(config={"extension_directory": str(folder)})
    connection.execute("SET autoinstall_known_extensions=false; LOAD avro; LOAD iceberg")
    return connection


def read(*files):
    duck = extensions()
    return [read_one(metadata, duck) for metadata in files]


def read_one(metadata, duck):
    table = StaticTable.from_metadata(metadata)
    snapshots = []
    for snapshot in table.metadata.snapshots:
        tasks = list(table.scan(snapshot_id=snapshot.snapshot_id).plan_files())
        found = duck.execute(
            "SELECT day, origin, n FROM iceberg_scan(?, snapshot_from_id => ?)",
            [metadata, snapshot.snapshot_id]).to_arrow_table()
        snapshots.append({
            "id": snapshot.snapshot_id,
            "parent": snapshot.parent_snapshot_id,
            "operation": snapshot.summary.operation.value,
            "total_records": int(snapshot.summary["total-records"]),
            "files": sorted([t.file.file_path, days_of_partition(t.file.partition),
                             t.file.record_count] for t in tasks),
            "rows": rows_of(table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()),
            "duckdb_rows": rows_of(found),
        })
    return {
        "current": table.metadata.current_snapshot_id,
        "location": table.metadata.location,
        "refs": {name: [ref.snapshot_id, ref.snapshot_ref_type.value, ref.max_ref_age_ms]
                 for name, ref in table.metadata.refs.items()},
        "snapshots": snapshots,
        "partitions": sorted([days_of_date(p["partition"]["day"]), p["file_count"],
                              p["record_count"]]
                             for p in table.inspect.partitions().to_pylist()),
    }


def days_of_partition(record):
    return days_of_date(record[0])


def days_of_date(value):
    """A date partition comes as days or as a date, by the way it is read."""
    return days_of(value) if isinstance(value, datetime.date) else value


def append(metadata, rows):
    catalog = SqlCatalog("peer", uri="sqlite:///:memory:", warehouse="file:///nowhere")
    catalog.create_namespace("db")
    table = catalog.register_table("db.t", metadata)
    table.append(arrow(json.loads(rows)).replace_schema_metadata(None))
    return {"metadata": catalog.load_table("db.t").metadata_location}


if __name__ == "__main__":
    print(json.dumps({"write": write, "read": read, "append": append}[sys.argv[1]](
        *sys.argv[2:])))
