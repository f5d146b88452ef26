"""Builds the marts with dbt in a session of Spark, on one snapshot of the Iceberg tables, and publishes them as Iceberg tables.

DAYBOOK_SPARK_JOB contains the job as JSON; the arguments are dbt's. The program prints what run_dbt.py prints, and before that

    prints {"listed": [id, …]}   the snapshots in the order of their times, or {"refused": why}
    reads  {"snapshot": id, "tables": [name, …], "unfit": [{"table_name", "connection_id", "record_id", "position", "recorded_at",
           "column_name", "is_rounded"}, …]}; without a snapshot it ends

then {"publishing": true}, and at the end {"published": [mart, …]}. Models are written to a namespace that nobody reads. When every test has
passed, each mart is replaced in one commit and tagged with the snapshot's ID; the table `snapshots` lists a tag as complete only while
all marts have it. The catalog refuses each commit of a build that has lost its lock.
"""

import hashlib
import json
import os
import queue
import sys
import threading
import urllib.request
from datetime import datetime, timedelta, timezone

from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

from run_dbt import STANDARD_INPUT, run, say

MAVEN = "https://repo1.maven.org/maven2"
ICEBERG = "org/apache/iceberg/iceberg-spark-runtime-4.0_2.13/1.10.1/iceberg-spark-runtime-4.0_2.13-1.10.1.jar"
POSTGRES = "org/postgresql/postgresql/42.7.7/postgresql-42.7.7.jar"
AWS = "org/apache/iceberg/iceberg-aws-bundle/1.10.1/iceberg-aws-bundle-1.10.1.jar"
DIGESTS = {
    ICEBERG: "2192a0881ed0f5773b5a83a8820d2b0b2069beec203028643a1c338551007f09",
    POSTGRES: "157963d60ae66d607e09466e8c0cdf8087e9cb20d0159899ffca96bca2528460",
    AWS: "86bf20892ea5b4c17688f19b075399885f6aa5303f6b2dc9f491e76ceef9633b",
}
LARGEST_JAR = 500_000_000

STANDARD_ERROR = 2

CATALOG = "daybook"

# The schema of the sources: views in this session of the tables at one tag.
VIEWS = "global_temp"

# The table of complete snapshots, as in the namespaces that Daybook writes without Spark.
LIST = "snapshots"
LIST_SCHEMA = StructType(
    [
        StructField("snapshot_id", StringType()),
        StructField("taken_at", TimestampType()),
        StructField("table_name", StringType()),
        StructField("iceberg_snapshot_id", LongType()),
        StructField("rows", LongType()),
    ]
)

UNFIT = (
    "table_name string, connection_id string, record_id string, position bigint, recorded_at string, column_name string, is_rounded boolean"
)

# Tables that snapshots of Daybook 0.5 and older lack. They are then read as empty.
NEWER = {
    "deleted_subscriptions": "connection_id string, subscription_id string, created_at timestamp",
    "waiting_deletions": "connection_id string, resource string, id string",
    "field_issues": "connection_id string, resource string, id string, field string",
}

# How long a reader that has looked up a mart may still read it.
GRACE = timedelta(hours=6)

# More than the clocks of hosts differ.
FAR_AHEAD = timedelta(days=1)

# Spark's names for the types in contracts.
TYPES = {"text": "string", "float8": "double", "timestamptz": "timestamp"}


def main() -> None:
    job = json.loads(os.environ.pop("DAYBOOK_SPARK_JOB"))
    # Before Spark starts, because starting it and fetching its jars takes a while.
    told = listen()
    spark = session(job)
    listed = spark.table("finance.snapshots").collect()
    if not listed:
        say(refused="no snapshot")
        sys.exit(1)
    # Anyone who can write in the lake can change this list, so the chosen snapshot and the names of its tables come from its manifest.
    say(listed=in_order(listed))
    answer = json.loads(told.get())
    if "snapshot" not in answer:
        sys.exit(1)
    newest = answer["snapshot"]
    show_snapshot(spark, newest, answer["tables"], answer["unfit"])
    if not run(sys.argv[1:]):
        sys.exit(1)
    say(publishing=True)
    taken_at = next(row.taken_at for row in listed if row.snapshot_id == newest)
    marts = Marts(spark, job, kept={row.snapshot_id for row in listed})
    say(published=marts.publish(newest, taken_at))
    spark.stop()


def in_order(listed: list) -> list[str]:
    """The snapshots in order, without those dated FAR_AHEAD in the future, which would be the newest until then. Spark returns times in
    the zone of this process."""
    near = datetime.now() + FAR_AHEAD
    times = {str(row.snapshot_id): str(row.taken_at or "") for row in listed if row.taken_at is None or row.taken_at <= near}
    return sorted(times, key=lambda one: (times[one], one))


def listen() -> queue.Queue:
    """Reads lines of standard input. When it closes the parent is gone, and this program ends together with Spark."""
    told: queue.Queue = queue.Queue()

    def read() -> None:
        line = b""
        while part := os.read(STANDARD_INPUT, 65536):
            *whole, line = (line + part).split(b"\n")
            for one in whole:
                told.put(one)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return told


def session(job: dict) -> SparkSession:
    is_bucket = job["lake"].startswith("s3://")
    jars = [ICEBERG, POSTGRES, *([AWS] if is_bucket else [])]
    settings = {
        "spark.app.name": "daybook",
        "spark.ui.showConsoleProgress": "false",
        "spark.jars": ",".join(jar(name, job["jars"]) for name in jars),
        "spark.sql.session.timeZone": "UTC",
        # A product or a quotient that does not fit is an error, never null or cut.
        "spark.sql.ansi.enabled": "true",
        "spark.sql.decimalOperations.allowPrecisionLoss": "false",
        "spark.sql.defaultCatalog": CATALOG,
        "spark.sql.caseSensitive": "false",
        # The text of a seed may contain ${env:NAME}, which Spark would replace with a variable of the JVM's environment.
        "spark.sql.variable.substitute": "false",
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        f"spark.sql.catalog.{CATALOG}.uri": job["catalog"],
        f"spark.sql.catalog.{CATALOG}.jdbc.user": job["user"],
        f"spark.sql.catalog.{CATALOG}.warehouse": warehouse_of(job),
        # Each build creates its tables anew.
        f"spark.sql.catalog.{CATALOG}.cache-enabled": "false",
        **job["settings"],
    }
    if is_bucket:
        settings[f"spark.sql.catalog.{CATALOG}.io-impl"] = "org.apache.iceberg.aws.s3.S3FileIO"
        if "AWS_ENDPOINT_URL" in os.environ:
            settings[f"spark.sql.catalog.{CATALOG}.s3.endpoint"] = os.environ["AWS_ENDPOINT_URL"]
            settings[f"spark.sql.catalog.{CATALOG}.s3.path-style-access"] = "true"
        region = os.environ.get("AWS_REGION", os.environ.get("AWS_DEFAULT_REGION"))
        if region is not None:
            # Workers have their own environment.
            settings[f"spark.sql.catalog.{CATALOG}.client.region"] = region
    builder = SparkSession.builder
    if job["master"]:
        builder = builder.master(job["master"])
    for name, value in settings.items():
        builder = builder.config(name, value)
    # Contains no password: every user of the machine can read the JVM's command line, and the catalog's settings are sent to workers with
    # each table. Postgres's driver finds the password in the file that PGPASSFILE names.
    spark = started(builder, job["log"])
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def warehouse_of(job: dict) -> str:
    return f"{job['lake'] if job['lake'].startswith('s3://') else 'file://' + job['lake']}/iceberg"


def started(builder: SparkSession.Builder, log: str) -> SparkSession:
    """Writes the JVM's standard error to this file as long as the JVM lives. If it does not start, reports the end of the file."""
    os.makedirs(os.path.dirname(log), exist_ok=True)
    own = os.dup(STANDARD_ERROR)
    with open(log, "wb") as file:
        os.dup2(file.fileno(), STANDARD_ERROR)
    try:
        return builder.getOrCreate()
    except Exception:
        with open(log, "rb") as file:
            os.write(own, file.read()[-2000:])
        raise
    finally:
        os.dup2(own, STANDARD_ERROR)
        os.close(own)


def jar(name: str, folder: str) -> str:
    """Returns a jar of Maven Central in this folder, downloaded once. Refuses it if its digest is not the known one."""
    path = os.path.join(folder, os.path.basename(name))
    if os.path.exists(path) and digest_of(path) == DIGESTS[name]:
        return path
    os.makedirs(folder, exist_ok=True)
    draft = f"{path}.{os.getpid()}"
    try:
        with urllib.request.urlopen(f"{MAVEN}/{name}", timeout=60) as response, open(draft, "wb") as file:
            while file.tell() < LARGEST_JAR and (part := response.read(1 << 20)):
                file.write(part)
        if digest_of(draft) != DIGESTS[name]:
            say(refused=f"{MAVEN}/{name} is not the file that Daybook knows")
            sys.exit(1)
        os.replace(draft, path)
    finally:
        if os.path.exists(draft):
            os.remove(draft)
    return path


def digest_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def show_snapshot(spark: SparkSession, snapshot: str, tables: list[str], unfit: list[dict]) -> None:
    """Creates views of all tables at one tag, so that models read data of one moment, whatever is exported meanwhile."""
    for table in tables:
        spark.sql(f"create or replace global temporary view captured_{table} as select * from finance.{table} version as of '{snapshot}'")
    # Snapshots of Daybook 0.5 and older lack these tables.
    for table, columns in NEWER.items():
        if table not in tables:
            spark.createDataFrame([], columns).createOrReplaceGlobalTempView(f"captured_{table}")
    if "unfit_values" in tables:
        return
    rows = spark.createDataFrame([tuple(row[name.split()[0]] for name in UNFIT.split(", ")) for row in unfit], UNFIT)
    rows.withColumn("recorded_at", rows.recorded_at.cast("timestamp")).createOrReplaceGlobalTempView("captured_unfit_values")


class Marts:
    def __init__(self, spark: SparkSession, job: dict, *, kept: set[str]) -> None:
        self.spark = spark
        self.built = job["build_namespace"]
        self.namespace = job["namespace"]
        self.folder = f"{warehouse_of(job)}/{self.namespace}"
        self.kept = kept
        with open(job["manifest"]) as file:
            nodes = json.load(file)["nodes"].values()
        self.columns = {
            node["name"]: {name: column["data_type"] for name, column in node["columns"].items()}
            for node in nodes
            if node["resource_type"] == "model" and node["fqn"][1] == "marts"
        }
        self.descriptions = {node["name"]: node["description"] for node in nodes if node["name"] in self.columns}
        spark.sql(f"create namespace if not exists {self.namespace}")

    def publish(self, snapshot: str, taken_at: datetime) -> list[str]:
        queries = {name: self._as_contracted(name) for name in sorted(self.columns)}
        complete = self._complete(before=snapshot)
        # A tag that is about to change is no longer listed as complete.
        self._write_list(complete)
        added = [self._replace(name, query, snapshot, taken_at) for name, query in queries.items()]
        self._write_list(complete + added)
        for name in self._names():
            self._tidy(name, {row[0] for row in complete + added if row[2] == name})
        self._expire(LIST)
        return sorted(self.columns)

    def _complete(self, *, before: str) -> list[tuple]:
        """Rows about other snapshots whose tables all have their tag. Snapshots that could not be trusted were forgotten before this
        build."""
        listed = [row for row in self._read_list() if row.snapshot_id in self.kept and row.snapshot_id != before]
        tags = {(name, tag) for name in self._names() for tag in self._table(name).refs()}
        broken = {row.snapshot_id for row in listed if (row.table_name, row.snapshot_id) not in tags}
        return [row for row in listed if row.snapshot_id not in broken]

    def _as_contracted(self, name: str) -> str:
        """A mart as its contract says: integers that Spark counts in four bytes become eight."""
        wanted = {column: TYPES.get(kind, kind).replace("numeric(38, ", "decimal(38,") for column, kind in self.columns[name].items()}
        found = dict(self.spark.table(f"{self.built}.{name}").dtypes)
        fits = {column: "bigint" if (kind, wanted.get(column)) == ("int", "bigint") else kind for column, kind in found.items()}
        if list(fits.items()) != list(wanted.items()):
            differing = sorted(f"{column} {kind}" for column, kind in fits.items() ^ wanted.items())
            raise TypeError(f"{name} is not as its contract says: {', '.join(differing)}")
        columns = ", ".join(f"cast(`{column}` as {kind}) as `{column}`" for column, kind in wanted.items())
        return f"select {columns} from {self.built}.{name}"

    def _replace(self, name: str, query: str, snapshot: str, taken_at: datetime) -> tuple:
        properties = ", ".join(f"{quoted(key)} = {quoted(value)}" for key, value in self._properties(name).items())
        self.spark.sql(
            f"create or replace table {self.namespace}.{name} using iceberg "
            f"comment {quoted(self.descriptions[name].strip())} tblproperties ({properties}) as {query}"
        )
        table = self._table(name)
        current = table.currentSnapshot().snapshotId()
        change = table.manageSnapshots()
        (change.replaceTag if snapshot in table.refs() else change.createTag)(snapshot, current).commit()
        rows = self.spark.table(f"{self.namespace}.{name}").count()
        return snapshot, taken_at, name, current, rows

    def _tidy(self, name: str, tags: set[str]) -> None:
        """Removes marts that no longer exist, and tags of snapshots that the lake no longer keeps."""
        if not tags:
            self.spark.sql(f"drop table {self.namespace}.{name}")
            return
        table = self._table(name)
        change = table.manageSnapshots()
        for tag in [ref for ref in table.refs() if ref != "main" and ref not in tags]:
            change.removeTag(tag)
        change.commit()
        self._expire(name)

    def _expire(self, name: str) -> None:
        before = datetime.now(timezone.utc) - GRACE
        # Files are removed by hand before the next build, because metadata may name files of others.
        expiry = self._table(name).expireSnapshots().cleanExpiredFiles(False)
        expiry.expireOlderThan(int(before.timestamp() * 1000)).commit()

    def _names(self) -> list[str]:
        return sorted({row.tableName for row in self.spark.sql(f"show tables in {self.namespace}").collect()} - {LIST})

    def _table(self, name: str):
        """A table as its next commit expects it. Raises PermissionError if its metadata changed, which anyone who can write in the
        lake could do since the last commit."""
        utilities = self.spark._jvm.org.apache.iceberg.spark.Spark3Util
        table = utilities.loadIcebergTable(self.spark._jsparkSession, f"{CATALOG}.{self.namespace}.{name}")
        properties = dict(table.properties())
        is_own = table.location() == f"{self.folder}/{name}" and "write.location-provider.impl" not in properties
        if not is_own or any(properties.get(key) != value for key, value in self._properties(name).items()):
            raise PermissionError(f"the metadata of {self.namespace}.{name} is not what Daybook wrote")
        return table

    def _properties(self, name: str) -> dict[str, str]:
        """Where a table is written, and that files named by its metadata are not removed."""
        return {
            "write.data.path": f"{self.folder}/{name}/data",
            "write.metadata.path": f"{self.folder}/{name}/metadata",
            "write.object-storage.enabled": "false",
            "write.metadata.delete-after-commit.enabled": "false",
        }

    def _read_list(self) -> list[tuple]:
        listed = f"{self.namespace}.{LIST}"
        return self.spark.table(listed).collect() if self.spark.catalog.tableExists(listed) else []

    def _write_list(self, rows: list[tuple]) -> None:
        frame = self.spark.createDataFrame([tuple(row) for row in rows], LIST_SCHEMA)
        writer = frame.coalesce(1).writeTo(f"{self.namespace}.{LIST}").using("iceberg")
        for key, value in self._properties(LIST).items():
            writer = writer.tableProperty(key, value)
        writer.createOrReplace()


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


main()
