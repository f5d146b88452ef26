"""Prints what a reader of Iceberg sees: rows, columns and exact sums of every table, for each snapshot in the list of a namespace.

read_iceberg.py pyiceberg|duckdb NAMESPACE [TABLE …]; libpq's environment names the database of the catalog.
"""

import glob
import json
import os
import sys

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

reader, namespace, *only = sys.argv[1:]
storage = {"s3.endpoint": os.environ["AWS_ENDPOINT_URL"], "s3.region": "us-east-1"} if "AWS_ENDPOINT_URL" in os.environ else {}


class MovedFileIO(PyArrowFileIO):
    """Finds the files of a lake in another place than its tables say."""

    def new_input(self, location: str) -> PyArrowFile:
        return super().new_input(location.replace(os.environ["LAKE_MOVED_FROM"], os.environ["LAKE_MOVED_TO"]))


if "LAKE_MOVED_FROM" in os.environ:
    storage["py-io-impl"] = "__main__.MovedFileIO"
catalog = SqlCatalog("daybook", uri="postgresql+psycopg2://", init_catalog_tables="false", **storage)


def shortest(value):
    # Avoids arithmetic on Decimal, which rounds to 28 digits.
    return format(value, "f").rstrip("0").rstrip(".") if value else "0"


def by_pyiceberg(table, row):
    # By its tag, as a reader does who wants all tables of one moment.
    read = table.scan(snapshot_id=table.refs()[row["snapshot_id"]].snapshot_id).to_arrow()
    exact = [field for field in read.schema if pa.types.is_decimal(field.type)]
    sums = {one.name: pc.sum(read[one.name].cast(pa.decimal256(76, one.type.scale))).as_py() for one in exact}
    return read.num_rows, {field.name: str(field.type) for field in read.schema}, sums


def by_duckdb(table, row):
    scan = f"iceberg_scan('{table.metadata_location}', snapshot_from_id => {row['iceberg_snapshot_id']}::ubigint)"
    columns = {name: kind for name, kind, *_ in duckdb.sql(f"describe from {scan}").fetchall()}
    exact = [name for name, kind in columns.items() if kind.startswith("DECIMAL")]
    rows, *sums = duckdb.sql(f"select {', '.join(['count(*)', *(f'sum({name})' for name in exact)])} from {scan}").fetchone()
    return rows, columns, dict(zip(exact, sums))


if reader == "duckdb":
    import duckdb_extension_avro
    import duckdb_extension_httpfs
    import duckdb_extension_iceberg

    for module in (duckdb_extension_avro, duckdb_extension_httpfs, duckdb_extension_iceberg):
        duckdb.sql(f"load '{glob.glob(module.__path__[0] + '/extensions/*/*.duckdb_extension')[0]}'")
    if "AWS_ENDPOINT_URL" in os.environ:
        endpoint = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
        key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
        duckdb.sql(
            f"create secret (type s3, key_id '{key}', secret '{secret}', region 'us-east-1', endpoint '{endpoint}', use_ssl false, url_style 'path')"
        )

seen = {}
if catalog.table_exists((namespace, "snapshots")):
    for row in catalog.load_table((namespace, "snapshots")).scan().to_arrow().to_pylist():
        if only and row["table_name"] not in only:
            continue
        table = catalog.load_table((namespace, row["table_name"]))
        rows, columns, sums = (by_duckdb if reader == "duckdb" else by_pyiceberg)(table, row)
        assert rows == row["rows"], f"{row} has {rows}"
        exact = {name: shortest(value) for name, value in sums.items()}
        seen.setdefault(row["snapshot_id"], {})[row["table_name"]] = {"rows": rows, "columns": columns, "sums": exact}
print(json.dumps(seen))
