"""Makes the Iceberg tables of a namespace show the snapshots of a lake: a tag for each, and nothing of removed snapshots.

It receives the wanted state, and makes the catalog and the files agree with it, whatever they were: idempotent, also after a kill. The
protocol is one line of JSON at a time:

    told  {"lake": …, "namespace": …, "check": false, "kept": [snapshot_id, …], "newest": snapshot_id, "sweep": false,
           "erases": false, "manifests": {snapshot_id: {name: [sha256, …]}}}
    says  {"remade": name, "why": error}                                      for each table that cannot be read, or stay
    says  {"looked": name}                                                    after each table
    says  {"missing": [snapshot_id, …]}                                       kept ones that the tables do not show
    told  {"add": [{"snapshot_id", "taken_at", "tables": {name: [{"sha256", "rows"}, …]}}, …]}
    says  {"committed": name}                                                 after each table
    says  {"swept": name}                                                     after each table that may have unreferenced files
    says  {"done": {"tables", "snapshots", "left": [snapshot_id, …], "kept": files that storage did not remove}}, or {"refused": why}

With "check", it adds nothing, though it asks: in a namespace that another program writes to, it drops tables that the other program should not trust.
The parent answers only while it has its own lock; by then this program has that of the tables. With the files of the manifests of kept
snapshots (those with rows), it recreates a table that names other files for one.

Added files lie at <lake>/iceberg/<namespace>/<table>/data/<sha256>.parquet. The catalog is reached by libpq's environment
variables. The program ends with its parent.
"""

import errno
import hashlib
import json
import os
import queue
import re
import sys
import threading
from array import array
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, ValidationError, ValidationException
from pyiceberg.io.pyarrow import _dataframe_to_data_files, parquet_file_to_data_file
from pyiceberg.manifest import DataFile, ManifestEntry, ManifestEntryStatus, ManifestFile
from pyiceberg.schema import Schema, assign_fresh_schema_ids
from pyiceberg.table import Table, TableProperties, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.table.update import RemoveSnapshotRefUpdate
from pyiceberg.table.update.schema import UpdateSchema
from pyiceberg.table.update.snapshot import ExpireSnapshots, ManageSnapshots, _OverwriteFiles
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

# Python takes the sources of these two, not compiled files beside them, which no diff shows.
sys.pycache_prefix = os.devnull
from list_file import LIST_SCHEMA, UNPACKED, rows_of
from own_files import FOLDER, MOST_BYTES, TABLE, ForeignFile, OwnFile, OwnFileIO
sys.pycache_prefix = None

STANDARD_INPUT = 0

Read = TypeVar("Read")

# The table that lists the complete snapshots, and where each of their tables is.
LIST = "snapshots"

# Readers that have looked up where the list is may still read it this long.
GRACE = timedelta(hours=6)

# More than clocks of hosts differ: a snapshot further ahead is not shown.
FAR_AHEAD = timedelta(days=1)

# The property of a table's snapshot with the digest of its columns and files.
CONTENT = "daybook.content"

# The limit of files in all snapshots of a table: each list of them is small, but there may be any number of lists.
MOST_FILES = 1_000_000

# The limit of files in a manifest: each takes some kilobytes, which are read into memory.
MOST_LISTED = 10_000

# The limit of entries in the manifests of all snapshots of a table, which are read one after the other: each may list a file again.
MOST_ENTRIES = 10 * MOST_FILES

# The limit of bytes of these, including unpacked blocks: a kilobyte for each entry.
MOST_READ = 160 * MOST_BYTES

# The limit of bytes for the manifests of the current snapshot, which are held together: a hundred thousand entries.
MOST_HELD = 2 * MOST_BYTES

# The limit of snapshots, and of tags, of a table: each is looked at several times in a commit.
MOST_SNAPSHOTS = 20_000

# How many files are removed at a time: a bucket takes several requests for each.
FILES_AT_ONCE = 16

# How many files are removed between two lines of output: a bucket takes some seconds for them.
SAID_EACH = 500

# How many manifests, and lists of them, are read between two lines of output.
READ_EACH = 10

# Errors of the operating system that concern the file itself.
LOOKED_UP = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG}

# The properties of a table that this program sets.
PROPERTIES = {
    "gc.enabled",
    TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED,
    TableProperties.METADATA_PREVIOUS_VERSIONS_MAX,
    TableProperties.PARQUET_COMPRESSION,
    TableProperties.DEFAULT_NAME_MAPPING,
    TableProperties.DEFAULT_WRITE_METRICS_MODE,
}

# The properties of a table written by Spark that set its folders.
PLACES = {"write.data.path": "data", "write.metadata.path": "metadata"}

# Other properties that Spark sets on its tables.
PROPERTIES_OF_SPARK = {"comment", "owner", "write.object-storage.enabled"}


def main() -> None:
    told = listen()
    job = told.get()
    will_sweep = job["sweep"] or job["check"]
    looks = {"will_sweep": will_sweep, "erases": job["erases"], "manifests": job.get("manifests", {})}
    with Namespace(job["lake"], job["namespace"], **looks) as namespace:
        if job["check"]:
            say(missing=[])
            told.get()
            say(done=namespace.check())
            return
        say(missing=namespace.missing(job["kept"]))
        add = told.get()["add"]
        say(done=namespace.show(add, must_show=job.get("newest")))


class Refused(Exception):
    """The lake cannot hold tables: a person is needed."""


class GoneListed(ValueError):
    """A table lists removed files, with their first and last dates, as earlier versions of this program wrote them."""


class OvertakenError(ValidationException):
    """Another program has written to a table meanwhile, so this one has lost its lock."""


class OwnCatalog(SqlCatalog):
    """Anyone with write access to the lake can write metadata. It must not name code to load, another place, or files to remove."""

    # The transaction that holds the lock, as pg_locks names it: the catalog refuses commits without it (`iceberg.require_lock`).
    lock: str = ""

    def commit_table(self, table, requirements, updates):
        try:
            return super().commit_table(table, requirements, updates)
        except CommitFailedException as error:
            # pyiceberg would repeat the commit on top of the other one, with fewer requirements. After this error it removes what it wrote for it.
            raise OvertakenError("another program has written to the table") from error

    def _load_file_io(self, properties=None, location=None) -> OwnFileIO:
        # Uses the environment alone: a table's properties may name a class, which pyiceberg would call.
        io = super()._load_file_io()
        return super()._load_file_io({TABLE: io.place_of(location)[0]})

    def load_table(self, identifier) -> Table:
        table = super().load_table(identifier)
        metadata = table.metadata
        foreign = {key for key, value in metadata.properties.items() if not is_own_property(metadata.location, key, value)}
        if foreign:
            raise ValueError(f"properties that Daybook does not set: {', '.join(sorted(foreign))}")
        # Old metadata is removed after a commit.
        named = [entry.metadata_file for entry in metadata.metadata_log] + [one.manifest_list for one in metadata.snapshots]
        kinds = {table.io.place_of(location)[1] for location in [table.metadata_location, *named]}
        if kinds != {"metadata"} or metadata.location != f"{table.io.folder}/{identifier[-1]}":
            raise ForeignFile("metadata outside of the table's folder")
        if max(len(metadata.snapshots), len(metadata.refs)) > MOST_SNAPSHOTS:
            raise ForeignFile("more snapshots than a table of Daybook has")
        main = metadata.refs.get(MAIN_BRANCH)
        if metadata.current_snapshot_id != (main and main.snapshot_id):
            raise ValueError("two snapshots that are the current one")
        return table


class Namespace:
    def __init__(
        self, lake: str, name: str, *, will_sweep: bool, erases: bool, manifests: dict[str, dict[str, list[str]]]
    ) -> None:
        self.name = name
        self.will_sweep = will_sweep
        self.erases = erases
        self.manifests = manifests
        self.refuse_foreign(lake, name)
        self.location = location_of(lake, name)
        self.catalog = open_catalog(self.location)
        known_as = self._known_as(lake)
        if known_as != lake:
            self.catalog.close()
            self.location = location_of(known_as, name)
            self.catalog = open_catalog(self.location)
        self.files = OwnFileIO(self.catalog.properties).files
        self.tables: dict[str, Table] = {}
        self.unswept: set[str] = set()
        self.asking = threading.Lock()
        self.over = threading.Event()

    @staticmethod
    def refuse_foreign(lake: str, name: str) -> None:
        if lake.startswith("s3://"):
            return
        if set(lake) & set("#?%"):
            raise Refused("Iceberg tables cannot be in a folder whose path has a #, ? or %")
        # A link leads out of the lake, and nothing behind it is ours.
        folders = [f"{lake}/iceberg", f"{lake}/iceberg/{name}"]
        folders += [os.path.join(folders[1], one) for one in os.listdir(folders[1])] if os.path.isdir(folders[1]) else []
        for folder in folders:
            if os.path.lexists(folder) and not os.path.isdir(folder):
                raise Refused(f"{os.path.relpath(folder, lake)} is no folder; move it away")
        folders += [os.path.join(root, one) for root, inner, _ in os.walk(folders[1]) for one in inner]
        for folder in folders:
            if os.path.islink(folder):
                raise Refused(f"{os.path.relpath(folder, lake)} is a link, and nothing is written through one")

    def _known_as(self, lake: str) -> str:
        """A folder may have another name, by a link or a mount: if the catalog uses that name, its tables stay as they are."""
        if lake.startswith("s3://"):
            return lake
        listed = "select metadata_location from iceberg_tables where catalog_name = 'daybook' and table_namespace = :name"
        with self.catalog.engine.connect() as connection:
            locations = connection.execute(text(listed), {"name": self.name}).scalars().all()
        # Hadoop writes `file:/` with one slash.
        found = [re.fullmatch(f"file:(?://)?(/.*)/iceberg/{self.name}/[^/]+/metadata/[^/]+", one or "") for one in locations]
        known = {one[1] for one in found if one}
        return lake if lake in known else next((one for one in sorted(known) if is_same_folder(one, lake)), lake)

    def __enter__(self) -> "Namespace":
        # A second program waits: otherwise it would remove files that are not committed yet.
        self.lock = self.catalog.engine.connect()
        # Postgres 17 and newer can be set to end every transaction that takes long.
        self.lock.execute(text("select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'"))
        locked = "select from iceberg_namespace_properties where catalog_name = 'daybook' and namespace = :name for update"
        if self.lock.execute(text(locked), {"name": self.name}).rowcount == 0:
            raise LookupError(f"namespace {self.name} is not in the catalog")
        held = "select pid || ' ' || virtualtransaction from pg_locks where pid = pg_backend_pid() limit 1"
        self.catalog.lock = self.lock.execute(text(held)).scalar_one()
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def _beat(self) -> None:
        """A program that stands still loses the lock: five beats may be missed."""
        # Once the lock is lost, `_require_lock` raises.
        with suppress(SQLAlchemyError):
            while not self.over.wait(5):
                self._require_lock()

    def _require_lock(self) -> None:
        """Raises if the session that holds the lock is gone: its new holder writes to the same tables."""
        with self.asking:
            self.lock.execute(text("select"))

    def __exit__(self, *_) -> None:
        self.over.set()
        self.asking.acquire()
        self.lock.close()
        self.catalog.close()

    def check(self) -> dict:
        """For tables that another program writes: drops those that it should not trust, and removes unreferenced files."""
        self._read_tables()
        return {"tables": len(self.tables), "snapshots": 0, "left": [], "kept": self._sweep()}

    def missing(self, kept: list[str]) -> list[str]:
        self._read_tables()
        self.listed = self._read_list()
        self.complete = {
            snapshot_id: rows
            for snapshot_id, rows in self.listed.items()
            if snapshot_id in kept and all(self._is_shown(snapshot_id, row) for row in rows)
        }
        return [snapshot_id for snapshot_id in kept if snapshot_id not in self.complete]

    def _read_tables(self) -> None:
        """Drops tables that cannot be read as the catalog says; they are recreated from the lake."""
        for _, name in self.catalog.list_tables(self.name):
            table = self._read_twice(name, self._readable)
            if table is None:
                self._forget(name)
            else:
                self.tables[name] = table
            say(looked=name)

    def _read_twice(self, name: str, read: Callable[[str], Read]) -> Read | None:
        """
        Returns None if the table cannot be read: whatever the error, the lake has everything needed to recreate it. A dropped table of
        marts is lost, though, and one wrong answer may come from a server in the place of storage, so it reads twice.
        """
        for attempt in range(2):
            try:
                return read(name)
            except Exception as error:
                if is_unanswered(error):
                    raise
                if attempt == 1:
                    say(remade=name, why=type(error).__name__)
        return None

    def show(self, add: list[dict], *, must_show: str | None) -> dict:
        self.must_show, self.left = must_show, []
        added: dict[str, Wanted] = {}
        for one in sorted(add, key=lambda one: one["snapshot_id"]):
            try:
                added[one["snapshot_id"]] = Wanted(self, one)
            except Exception as error:
                self._leave(one["snapshot_id"], error, added)
        newest = added[must_show].tables if must_show in added else {}
        for snapshot_id, wanted in list(added.items()):
            if not all(content.fits(newest[name].columns) for name, content in wanted.tables.items() if name in newest):
                self._leave(snapshot_id, ValueError("types other than those of the newest"), added)
        for snapshot_id, wanted in added.items():
            if not wanted.is_shown():
                self.complete.pop(snapshot_id, None)
        for name, content in newest.items():
            if name in self.tables and not content.fits(self.tables[name].schema()):
                self._begin_anew(name)
        # Snapshots that are about to be removed or changed are no longer listed as complete.
        self._write_list(self.complete)
        names = {name for wanted in added.values() for name in wanted.tables}
        for name in sorted(names | set(self.tables) - {LIST}):
            self._show_table(name, added)
        for snapshot_id, wanted in added.items():
            self.complete[snapshot_id] = wanted.rows()
        self._write_list(self.complete)
        kept = self._sweep()
        tables = len(self.tables) - (LIST in self.tables)
        return {"tables": tables, "snapshots": len(self.complete), "left": sorted(self.left), "kept": kept}

    def _leave(self, snapshot_id: str, error: Exception, added: dict[str, "Wanted"]) -> None:
        """Leaves out a snapshot that cannot be shown; the others are shown, and removed ones are removed. Only the newest must be shown."""
        if snapshot_id == self.must_show or is_unanswered(error):
            raise error
        self.left.append(snapshot_id)
        self.complete.pop(snapshot_id, None)
        added.pop(snapshot_id, None)

    def _begin_anew(self, name: str) -> None:
        """Recreates a table. A column cannot have different types in two snapshots: readers find it by its name."""
        self._drop(name)
        self.complete = {
            snapshot_id: rows
            for snapshot_id, rows in self.complete.items()
            if all(row["table_name"] != name for row in rows)
        }

    def _show_table(self, name: str, added: dict[str, "Wanted"]) -> None:
        wanted = {snapshot_id: one.tables[name] for snapshot_id, one in added.items() if name in one.tables}
        shown = {snapshot_id for snapshot_id, rows in self.complete.items() if any(row["table_name"] == name for row in rows)}
        if not wanted and not shown:
            self._drop(name)
            return
        # The ID tells only when a run began: a run that was reset has rows of today.
        times = {snapshot_id: rows[0]["taken_at"] for snapshot_id, rows in self.complete.items()}
        times |= {snapshot_id: one.taken_at for snapshot_id, one in added.items()}
        taken_at = lambda tag: (times[tag], tag)
        self._require_lock()
        table = self.tables.get(name) or self._create(name, next(iter(wanted.values())).schema)
        before = table.metadata
        with table.transaction() as transaction:
            # Daybook creates no branches, and each keeps the files that it names.
            branches = refs_of(before, SnapshotRefType.BRANCH) - {MAIN_BRANCH}
            tags = refs_of(before, SnapshotRefType.TAG)
            gone = {tag for tag in tags if tag not in shown and not (tag in wanted and wanted[tag].is_at(before, tag))}
            remove_refs(transaction, branches | gone)
            for snapshot_id, content in wanted.items():
                if snapshot_id in transaction.table_metadata.refs:
                    continue
                try:
                    found = content.find(transaction) or content.write(transaction)
                except Exception as error:
                    self._leave(snapshot_id, error, added)
                    continue
                ManageSnapshots(transaction).create_tag(found, snapshot_id).commit()
            newest = max(refs_of(transaction.table_metadata, SnapshotRefType.TAG), key=taken_at, default=None)
            if newest and transaction.table_metadata.current_snapshot_id != transaction.table_metadata.refs[newest].snapshot_id:
                ManageSnapshots(transaction).set_current_snapshot(ref_name=newest).commit()
            # A tag of marts moves when they are rebuilt. An erasure does not wait for readers.
            waits = self.name == "marts" and not self.erases
            expire(transaction, but=lately_replaced(transaction.table_metadata) if waits else ())
        self._sweep_expired(name, before, table.metadata)
        self.tables[name] = table
        if not refs_of(table.metadata, SnapshotRefType.TAG):
            # Nothing could be written to it: the contents it showed before are gone from the lake.
            self._drop(name)
        say(committed=name)

    def _sweep_expired(self, name: str, before: TableMetadata, after: TableMetadata) -> None:
        if {one.snapshot_id for one in before.snapshots} - {one.snapshot_id for one in after.snapshots}:
            self.unswept.add(name)

    def _drop(self, name: str) -> None:
        if name in self.tables:
            self._forget(name)
            del self.tables[name]

    def _forget(self, name: str) -> None:
        self._require_lock()
        self.catalog.drop_table((self.name, name))
        self.unswept.add(name)

    def _create(self, name: str, schema: pa.Schema) -> Table:
        return self.catalog.create_table(
            (self.name, name),
            schema=schema,
            location=f"{self.location}/{name}",
            properties={
                # Keeps another program's maintenance from removing files that the lake shares with the table.
                "gc.enabled": "false",
                TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true",
                TableProperties.METADATA_PREVIOUS_VERSIONS_MAX: "10",
                **metrics(schema),
            },
        )

    def _readable(self, name: str) -> Table:
        """Raises the errors of pyiceberg if a table is not as the catalog says, or names files that it should not."""
        table = self.catalog.load_table((self.name, name))
        is_newest = newest_version(self.files.names_in(name, "metadata")) <= version_of(table.metadata_location)
        if not is_newest:
            self.unswept.add(name)
        manifests = Manifests(table.io)
        # Before a sweep every snapshot is read: an unreadable one would otherwise keep files that must go.
        named = self._named(table, manifests) if self.will_sweep or not is_newest else set()
        # After a killed commit, or with a catalog from a backup, the table may name removed files.
        if not is_newest and not named <= self._places(name):
            raise FileNotFoundError("a file that the table names")
        self._require_rows(table, name, manifests)
        # The list of complete snapshots holds no content of records, and pyiceberg writes it.
        if self.erases and name != LIST and manifests.list_gone:
            raise GoneListed
        self._require_listed(table, name, manifests)
        manifests.require_little(table.metadata.current_snapshot())
        return table

    def _require_rows(self, table: Table, name: str, manifests: "Manifests") -> None:
        """
        Raises if a file of rows is gone, by a storage rule or by hand: the lake's snapshots still have it. The files of older tags of marts
        exist nowhere else, and each build adds the files that it shows again.
        """
        if self.name != "finance":
            return
        if current := table.metadata.current_snapshot():
            manifests.read(current)
        there = {f"{self.location}/{name}/data/{one}" for one in self.files.names_in(name, "data")}
        # These include the files of all other snapshots that were read: with a sweep, of all.
        if not there.issuperset(manifests.paths):
            raise FileNotFoundError("a file of rows that the table names")

    def _require_listed(self, table: Table, name: str, manifests: "Manifests") -> None:
        """Anyone with write access to the lake can make a tag name the files of removed snapshots."""
        for tag, ref in table.metadata.refs.items():
            if tag not in self.manifests:
                continue
            listed = {f"{self.location}/{name}/data/{sha256}.parquet" for sha256 in self.manifests[tag].get(name, [])}
            if manifests.files_of(table.metadata.snapshot_by_id(ref.snapshot_id)) != listed:
                raise ForeignFile("a tag names other files than its manifest")

    def _read_list(self) -> dict[str, list[dict]]:
        if LIST not in self.tables:
            return {}
        listed = self._read_twice(LIST, self._listed)
        if listed is None:
            self._drop(LIST)
        return listed or {}

    def _listed(self, name: str) -> dict[str, list[dict]]:
        listed: dict[str, list[dict]] = {}
        for row in self._rows_listed(self.tables[name]):
            if getattr(row["taken_at"], "tzinfo", None) is None:
                raise ValueError("a time that is none")
            listed.setdefault(row["snapshot_id"], []).append(row)
        return listed

    def _rows_listed(self, table: Table) -> Iterator[dict]:
        current = table.metadata.current_snapshot()
        # Daybook writes exactly one.
        if len(paths := Manifests(table.io).files_of(current) if current else set()) > 1:
            raise ForeignFile("more than one file that lists the snapshots")
        for path in paths:
            with self.files.open(*table.io.place_of(path)) as file:
                yield from rows_of(file)

    def _is_shown(self, snapshot_id: str, row: dict) -> bool:
        """Anyone with write access to the lake can write the list: a time years ahead would stay the newest until then."""
        return self._is_tagged(snapshot_id, row) and row["taken_at"] <= datetime.now(timezone.utc) + FAR_AHEAD

    def _is_tagged(self, snapshot_id: str, row: dict) -> bool:
        table = self.tables.get(row["table_name"])
        ref = table and table.metadata.refs.get(snapshot_id)
        is_tag = ref is not None and ref.snapshot_ref_type == SnapshotRefType.TAG
        return is_tag and ref.snapshot_id == row["iceberg_snapshot_id"]

    def _write_list(self, complete: dict[str, list[dict]]) -> None:
        if complete == self.listed:
            return
        table = self.tables.get(LIST) or self._create(LIST, LIST_SCHEMA)
        rows = [row for snapshot_id in sorted(complete) for row in complete[snapshot_id]]
        before = table.metadata
        with table.transaction() as transaction:
            self._list_rows(transaction, rows)
            expire(transaction, before=datetime.now(timezone.utc) - GRACE)
        self._sweep_expired(LIST, before, table.metadata)
        self.tables[LIST] = table
        self.listed = dict(complete)

    @staticmethod
    def _list_rows(transaction: Transaction, rows: list[dict]) -> None:
        transaction.set_properties({TableProperties.PARQUET_COMPRESSION: UNPACKED})
        io, metadata = transaction._table.io, transaction.table_metadata
        written = pa.Table.from_pylist(rows, schema=LIST_SCHEMA)
        new = list(_dataframe_to_data_files(table_metadata=metadata, df=written, io=io)) if rows else []
        operation = Operation.OVERWRITE if metadata.current_snapshot() else Operation.APPEND
        with Listing(operation, transaction, io) as overwrite:
            for data_file in held_by(transaction).values():
                overwrite.delete_data_file(data_file)
            for data_file in new:
                overwrite.append_data_file(data_file)

    def _sweep(self) -> int:
        """Removes files that no table names; a folder lake has another link to those it still needs. Returns how many stay."""
        known = {name for name in self.tables if self.will_sweep or name in self.unswept}
        kept, problems = 0, []
        for name in sorted(known | set(self.files.tables()) - set(self.tables)):
            try:
                kept += self._sweep_table(name)
            except Exception as error:
                # The other tables may also hold files that must go.
                problems.append(error)
            say(swept=name)
        if problems:
            raise problems[0]
        return kept

    def _sweep_table(self, name: str) -> int:
        """Lists the files again after the removal: storage may report a removal that did not happen. Returns how many stay."""
        self._require_lock()
        if name not in self.tables:
            self.files.remove_table(name, self._require_lock)
            return self.files.left_of(name)
        table = self.tables[name]
        gone = self._places(name) - self._named(table, Manifests(table.io))
        self._remove(name, list(gone))
        return len(gone & self._places(name)) if gone else 0

    def _remove(self, name: str, places: list[tuple[str, str, str]]) -> None:
        """Removes what it may. There may be any number, so it writes a line from time to time."""
        with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
            for start in range(0, len(places), SAID_EACH):
                list(pool.map(self._try_to_remove, places[start : start + SAID_EACH]))
                say(swept=name)

    def _try_to_remove(self, place: tuple[str, str, str]) -> None:
        self._require_lock()
        with suppress(OSError):
            self.files.remove(*place)

    def _named(self, table: Table, manifests: "Manifests") -> set[tuple[str, str, str]]:
        metadata = table.metadata
        named = {table.metadata_location, *(entry.metadata_file for entry in metadata.metadata_log)}
        for snapshot in metadata.snapshots:
            named.add(snapshot.manifest_list)
            manifests.read(snapshot)
        named.update(manifests.listed, manifests.paths)
        return {table.io.place_of(location) for location in named}

    def _places(self, table: str) -> set[tuple[str, str, str]]:
        return {(table, kind, name) for kind in ("data", "metadata") for name in self.files.names_in(table, kind)}


class Manifests:
    """The manifests of a table, each read once."""

    def __init__(self, io: OwnFileIO) -> None:
        self.io = io
        # The files that each manifest lists, as indexes into `paths`: thousands of manifests may list the same files.
        self.listed: dict[str, array] = {}
        self.places: dict[str, int] = {}
        self.paths: list[str] = []
        self.sizes: dict[str, int] = {}
        self.entries = 0
        self.reads = 0
        self.before = OwnFile.read
        # Whether any manifest lists removed files.
        self.list_gone = False

    def files_of(self, snapshot: Snapshot) -> set[str]:
        return {self.paths[place] for path in self.read(snapshot) for place in self.listed[path]}

    def require_little(self, snapshot: Snapshot | None) -> None:
        """Limits the manifests of the current snapshot: the next commit builds on it, and holds all their entries in memory."""
        if snapshot and sum(self.sizes[path] for path in self.read(snapshot)) > MOST_HELD:
            raise ForeignFile("more manifests than the current snapshot of a table has")

    def read(self, snapshot: Snapshot) -> list[str]:
        """Returns the paths of a snapshot's manifests, after reading them."""
        self._count_read()
        manifests = {one.manifest_path: one for one in snapshot.manifests(self.io)}
        require_few(manifests)
        self._require_little_read()
        for path, manifest in manifests.items():
            if path not in self.listed:
                self._read_manifest(path, manifest)
                self._require_little_read()
        return list(manifests)

    def _count_read(self) -> None:
        """Writes a line from time to time: there may be tens of thousands, and a program that says nothing for long is ended."""
        self.reads += 1
        if self.reads % READ_EACH == 0:
            say(looked=self.io.properties[TABLE])

    def _read_manifest(self, path: str, manifest: ManifestFile) -> None:
        self._count_read()
        before = OwnFile.read
        entries = manifest.fetch_manifest_entry(self.io, discard_deleted=False)
        self.sizes[path] = OwnFile.read - before
        self.entries += len(entries)
        paths = [entry.data_file.file_path for entry in entries if entry.status != ManifestEntryStatus.DELETED]
        self.list_gone |= len(paths) < len(entries)
        self.listed[path] = array("I", map(self._place_of, paths))
        require_few(self.listed)
        require_few(self.paths)

    def _place_of(self, path: str) -> int:
        if path not in self.places:
            # Checks first: no path is held that is longer than that of a table's file.
            self.io.place_of(path)
            self.places[path] = len(self.paths)
            self.paths.append(path)
        return self.places[path]

    def _require_little_read(self) -> None:
        if OwnFile.read - self.before > MOST_READ or self.entries > MOST_ENTRIES:
            raise ForeignFile("more manifests than a table of Daybook has")


class Wanted:
    """A snapshot of the lake that the tables should show."""

    def __init__(self, namespace: Namespace, told: dict) -> None:
        self.namespace = namespace
        self.snapshot_id = told["snapshot_id"]
        self.taken_at = datetime.fromisoformat(told["taken_at"].replace("Z", "+00:00"))
        self.tables = {name: Content(namespace, name, files) for name, files in told["tables"].items()}

    def is_shown(self) -> bool:
        tables = self.namespace.tables
        return self.snapshot_id in self.namespace.complete and all(
            name in tables and content.is_at(tables[name].metadata, self.snapshot_id) for name, content in self.tables.items()
        )

    def rows(self) -> list[dict]:
        return [
            {
                "snapshot_id": self.snapshot_id,
                "taken_at": self.taken_at,
                "table_name": name,
                "iceberg_snapshot_id": self.namespace.tables[name].metadata.refs[self.snapshot_id].snapshot_id,
                "rows": content.rows,
            }
            for name, content in sorted(self.tables.items())
        ]


class Content:
    """The contents of a table in a snapshot of the lake. Files without rows only contribute their columns."""

    def __init__(self, namespace: Namespace, name: str, files: list[dict]) -> None:
        self.folder = f"{namespace.location}/{name}/data"
        self.rows = sum(file["rows"] for file in files)
        self.paths = {f"{self.folder}/{file['sha256']}.parquet" for file in files if file["rows"] > 0}
        with namespace.files.open(name, "data", f"{files[0]['sha256']}.parquet") as first:
            self.schema = pq.read_schema(first)
        self.columns = assign_fresh_schema_ids(Catalog._convert_schema_if_needed(self.schema))
        parts = [str(self.schema.remove_metadata()), *sorted(self.paths)]
        self.digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def fits(self, columns: Schema) -> bool:
        try:
            UpdateSchema(None, schema=columns).union_by_name(self.schema)
            return True
        except (ValidationError, ValueError):
            return False

    def is_at(self, metadata, tag: str) -> bool:
        ref = metadata.refs.get(tag)
        snapshot = ref and metadata.snapshot_by_id(ref.snapshot_id)
        return snapshot is not None and content_of(snapshot) == self.digest

    def find(self, transaction: Transaction) -> int | None:
        """Finds an existing snapshot with the same content, whichever snapshot of the lake it was made for."""
        manifests = Manifests(transaction._table.io)
        for snapshot in transaction.table_metadata.snapshots:
            if content_of(snapshot) == self.digest and self._is_in(snapshot, manifests):
                return snapshot.snapshot_id
        return None

    def _is_in(self, snapshot: Snapshot, manifests: Manifests) -> bool:
        """Compares the files, because anyone with write access to the lake can write the digest of this content."""
        try:
            return manifests.files_of(snapshot) == self.paths
        except Exception as error:
            if is_unanswered(error):
                raise
            return False

    def write(self, transaction: Transaction) -> int:
        self._evolve(transaction)
        io = transaction._table.io
        held = held_by(transaction)
        metadata = transaction.table_metadata
        with ThreadPoolExecutor(8) as pool:
            describe = lambda path: parquet_file_to_data_file(io=io, table_metadata=metadata, file_path=path)
            new = list(pool.map(describe, sorted(self.paths - held.keys())))
        operation = Operation.OVERWRITE if metadata.current_snapshot() else Operation.APPEND
        with Listing(operation, transaction, io, snapshot_properties={CONTENT: self.digest}) as overwrite:
            for path in held.keys() - self.paths:
                overwrite.delete_data_file(held[path])
            for data_file in new:
                overwrite.append_data_file(data_file)
        return overwrite.snapshot_id

    def _evolve(self, transaction: Transaction) -> None:
        with transaction.update_schema() as update:
            update.union_by_name(self.schema)
        mapping = {TableProperties.DEFAULT_NAME_MAPPING: transaction.table_metadata.schema().name_mapping.model_dump_json()}
        transaction.set_properties({**mapping, **metrics(self.schema)})


class Listing(_OverwriteFiles):
    """
    Lists existing files, the earlier ones in as few manifests as possible. pyiceberg would also list the first and last dates of removed
    files, in an additional manifest of this snapshot and of every later one.
    """

    def _deleted_entries(self) -> list[ManifestEntry]:
        # Raises if a file was not there.
        super()._deleted_entries()
        return []

    def _existing_manifests(self) -> list[ManifestFile]:
        current = self._transaction.table_metadata.snapshot_by_name(self._target_branch)
        stays: dict[int, list[ManifestEntry]] = {}
        for manifest in current.manifests(self._io) if current else []:
            listed = stays.setdefault(manifest.partition_spec_id, [])
            for entry in manifest.fetch_manifest_entry(self._io, discard_deleted=True):
                if entry.data_file not in self._deleted_data_files:
                    listed.append(entry)
        return [
            self._list(spec_id, entries[start : start + MOST_LISTED])
            for spec_id, entries in stays.items()
            for start in range(0, len(entries), MOST_LISTED)
        ]

    def _list(self, spec_id: int, entries: list[ManifestEntry]) -> ManifestFile:
        with self.new_manifest_writer(self.spec(spec_id)) as writer:
            for entry in entries:
                writer.existing(entry)
        return writer.to_manifest_file()


def location_of(lake: str, namespace: str) -> str:
    root = lake if lake.startswith("s3://") else f"file://{lake}"
    return f"{root}/iceberg/{namespace}"


def is_same_folder(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def is_unanswered(error: Exception) -> bool:
    """Whether storage or Postgres does not answer, or refuses, which tells nothing about the files."""
    if isinstance(error, DBAPIError):
        return True
    if not isinstance(error, OSError) or isinstance(error, FileNotFoundError):
        return False
    # pyarrow raises OSErrors without a number both for a file's contents and for a bucket.
    return "AWS Error" in str(error) if error.errno is None else error.errno not in LOOKED_UP


def open_catalog(location: str) -> OwnCatalog:
    catalog = OwnCatalog("daybook", uri="postgresql+psycopg2://", init_catalog_tables="false", **storage(location))
    event.listen(catalog.engine, "begin", lambda connection: set_transaction(connection, catalog.lock))
    return catalog


def set_transaction(connection: Connection, lock: str) -> None:
    """Sets options per transaction: a pooler accepts no session settings. A second program waits for the lock for as long as the first needs."""
    settings = {
        "search_path": "iceberg",
        # A commit ends before the lock does: five seconds may have passed since the last beat.
        "idle_in_transaction_session_timeout": "'20s'" if lock else "'30s'",
        "statement_timeout": "0",
        "daybook.tables_lock": f"'{lock}'",
    }
    connection.exec_driver_sql("; ".join(f"set local {name} = {value}" for name, value in settings.items()))


def is_own_property(location: str, key: str, value: str) -> bool:
    if key in PLACES:
        return value == f"{location}/{PLACES[key]}"
    return key in PROPERTIES | PROPERTIES_OF_SPARK or key.startswith(TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX)


def require_few(files: Collection) -> None:
    if len(files) > MOST_FILES:
        raise ForeignFile("more files than a table of Daybook has")


def held_by(transaction: Transaction) -> dict[str, DataFile]:
    """Returns the files of a table's current snapshot, by path."""
    io = transaction._table.io
    current = transaction.table_metadata.current_snapshot()
    manifests = current.manifests(io) if current else []
    entries = [entry for manifest in manifests for entry in manifest.fetch_manifest_entry(io, discard_deleted=True)]
    return {entry.data_file.file_path: entry.data_file for entry in entries}


def content_of(snapshot) -> str | None:
    return snapshot.summary and snapshot.summary.get(CONTENT)


def refs_of(metadata: TableMetadata, kind: SnapshotRefType) -> set[str]:
    return {name for name, ref in metadata.refs.items() if ref.snapshot_ref_type == kind}


def remove_refs(transaction: Transaction, names: Collection[str]) -> None:
    """Removes tags and branches in one step: pyiceberg copies the metadata for each update, and for each requirement, of which it keeps the first."""
    if names:
        update = ManageSnapshots(transaction).remove_tag(next(iter(names)))
        update._updates = tuple(RemoveSnapshotRefUpdate(ref_name=name) for name in names)
        update.commit()


def expire(transaction: Transaction, *, before: datetime | None = None, but: Collection[int] = ()) -> None:
    """Expires unreferenced snapshots. Their times count only if readers are given time, because a clock may have been ahead."""
    metadata = transaction.table_metadata
    named = {ref.snapshot_id for ref in metadata.refs.values()}
    gone = {one.snapshot_id for one in metadata.snapshots if before is None or one.timestamp_ms < before.timestamp() * 1000} - named
    gone.difference_update(but)
    if gone:
        update = ExpireSnapshots(transaction)
        update._snapshot_ids_to_expire |= gone
        update.commit()


def lately_replaced(metadata: TableMetadata) -> set[int]:
    """Returns snapshots that were replaced so recently that readers who have looked up their IDs may still be reading; however old they are."""
    since = (datetime.now(timezone.utc) - GRACE).timestamp() * 1000
    made = sorted(metadata.snapshots, key=lambda one: one.timestamp_ms)
    # A mart that becomes what it was before gets no new snapshot: `main` is set back.
    current = metadata.snapshot_log
    followed = [*zip(made, made[1:]), *zip(current, current[1:])]
    return {one.snapshot_id for one, next_one in followed if next_one.timestamp_ms >= since}


def metrics(schema: pa.Schema) -> dict[str, str]:
    """Bounds, with which readers skip files, only of connections and times; no text of a record is in the metadata, and no amount."""
    bounded = [field.name for field in schema if field.name == "connection_id" or pa.types.is_temporal(field.type)]
    return {
        TableProperties.DEFAULT_WRITE_METRICS_MODE: "counts",
        **{f"{TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX}.{name}": "full" for name in bounded},
    }


def version_of(location: str) -> int:
    """pyiceberg numbers metadata files: 00012-<uuid>.metadata.json."""
    return int(location.rsplit("/", 1)[-1].split("-")[0])


def newest_version(names: list[str]) -> int:
    """Looks only at names as Daybook and Spark give them: anyone with write access to the lake can add others."""
    found = [re.fullmatch(r"([0-9]{1,9})-.+\.metadata\.json", name) for name in names]
    return max((int(one[1]) for one in found if one), default=-1)


def storage(folder: str) -> dict[str, str]:
    """Settings from the variables of the AWS SDK for Node; pyarrow finds the others itself."""
    named = {"s3.endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"), "s3.region": ("AWS_REGION", "AWS_DEFAULT_REGION")}
    found = {key: next((os.environ[name] for name in names if os.environ.get(name)), None) for key, names in named.items()}
    return {"py-io-impl": "own_files.OwnFileIO", FOLDER: folder, **{key: value for key, value in found.items() if value}}


def listen() -> "queue.Queue[dict]":
    told: queue.Queue[dict] = queue.Queue()

    def read() -> None:
        with os.fdopen(STANDARD_INPUT, encoding="utf-8") as lines:
            for line in lines:
                told.put(json.loads(line))
        # Standard input closes when the parent is gone, for whatever reason.
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return told


def say(**what) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        say(refused=str(refused))
