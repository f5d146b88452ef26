"""Prints what Spark sees, in the format of read_iceberg.py. Usage: read_iceberg_spark.py NAMESPACE [TABLE …]"""

import json
import os
import sys

from pyspark.sql import SparkSession, functions as F
from pyspark.sql.types import DecimalType

namespace, *only = sys.argv[1:]
packages = [
    "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1",
    "org.postgresql:postgresql:42.7.7",
    *(["org.apache.iceberg:iceberg-aws-bundle:1.10.1"] if "AWS_ENDPOINT_URL" in os.environ else []),
]
settings = {
    "spark.jars.packages": ",".join(packages),
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalog.daybook": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.daybook.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
    "spark.sql.catalog.daybook.uri": f"jdbc:postgresql://{os.environ['PGHOST']}:{os.environ['PGPORT']}/{os.environ['PGDATABASE']}?currentSchema=iceberg&options=-c%20role=daybook_reader",
    "spark.sql.catalog.daybook.jdbc.user": os.environ["PGUSER"],
    "spark.sql.catalog.daybook.jdbc.password": os.environ["PGPASSWORD"],
    # The place where Spark would create tables; only Daybook writes them.
    "spark.sql.catalog.daybook.warehouse": "file:///nowhere",
}
if "AWS_ENDPOINT_URL" in os.environ:
    settings |= {
        "spark.sql.catalog.daybook.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "spark.sql.catalog.daybook.s3.endpoint": os.environ["AWS_ENDPOINT_URL"],
        "spark.sql.catalog.daybook.s3.path-style-access": "true",
    }
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()

seen = {}
for row in spark.table(f"daybook.{namespace}.snapshots").collect():
    if only and row.table_name not in only:
        continue
    read = spark.read.option("versionAsOf", row.snapshot_id).table(f"daybook.{namespace}.{row.table_name}")
    exact = [field.name for field in read.schema if isinstance(field.dataType, DecimalType)]
    rows, *sums = read.select(F.count("*"), *(F.sum(name) for name in exact)).first()
    assert rows == row.rows, f"{row} has {rows}"
    shortest = {name: format(value, "f").rstrip("0").rstrip(".") if value else "0" for name, value in zip(exact, sums)}
    columns = {field.name: field.dataType.simpleString() for field in read.schema}
    seen.setdefault(row.snapshot_id, {})[row.table_name] = {"rows": rows, "columns": columns, "sums": shortest}
print(json.dumps(seen))
