"""Writes every mart that Spark published, as the newest tag of a complete snapshot has it. Usage: marts_to_parquet.py FOLDER"""

import os
import sys

import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog

storage = {"s3.endpoint": os.environ["AWS_ENDPOINT_URL"], "s3.region": "us-east-1"} if "AWS_ENDPOINT_URL" in os.environ else {}
catalog = SqlCatalog("daybook", uri="postgresql+psycopg2://", init_catalog_tables="false", **storage)
complete = catalog.load_table("marts_spark.snapshots").scan().to_arrow().to_pylist()
newest = max(row["snapshot_id"] for row in complete)
for row in complete:
    if row["snapshot_id"] == newest:
        table = catalog.load_table(f"marts_spark.{row['table_name']}")
        assert table.refs()[newest].snapshot_id == row["iceberg_snapshot_id"]
        read = table.scan(snapshot_id=row["iceberg_snapshot_id"]).to_arrow()
        assert len(read) == row["rows"]
        pq.write_table(read, f"{sys.argv[1]}/{row['table_name']}.parquet")
