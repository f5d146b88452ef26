"""Prints the entries of the manifests of every snapshot of a table: read_entries.py NAMESPACE TABLE [gone].

`gone`: first rewrites the snapshot of each tag as earlier versions wrote it, with a further entry that marks each of its files as
gone.
"""

import json
import sys

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import ManifestEntry, ManifestEntryStatus
from pyiceberg.table.update.snapshot import ManageSnapshots, _OverwriteFiles

catalog = SqlCatalog("daybook", uri="postgresql+psycopg2://", init_catalog_tables="false")
namespace, name, *rest = sys.argv[1:]
table = catalog.load_table((namespace, name))


class WithGone(_OverwriteFiles):
    """Lists the files of the current snapshot, and lists them again as gone."""

    def _deleted_entries(self) -> list[ManifestEntry]:
        current = self._transaction.table_metadata.current_snapshot()
        return [
            ManifestEntry.from_args(
                status=ManifestEntryStatus.DELETED,
                snapshot_id=self.snapshot_id,
                sequence_number=entry.sequence_number,
                file_sequence_number=entry.file_sequence_number,
                data_file=entry.data_file,
            )
            for manifest in current.manifests(self._io)
            for entry in manifest.fetch_manifest_entry(self._io)
        ]


if rest == ["gone"]:
    tags = sorted(tag for tag, ref in table.metadata.refs.items() if ref.snapshot_ref_type == "tag")
    moved = {}
    with table.transaction() as transaction:
        for tag in tags:
            ManageSnapshots(transaction).set_current_snapshot(ref_name=tag).commit()
            before = transaction.table_metadata.current_snapshot()
            properties = {"daybook.content": before.summary["daybook.content"]}
            made = WithGone(operation=before.summary.operation, transaction=transaction, io=table.io, snapshot_properties=properties)
            made.commit()
            moved[before.snapshot_id] = made.snapshot_id
            ManageSnapshots(transaction).remove_tag(tag).commit()
            ManageSnapshots(transaction).create_tag(made.snapshot_id, tag).commit()
    print(json.dumps({str(before): made for before, made in moved.items()}))
else:
    manifests = {
        str(snapshot.snapshot_id): {
            manifest.manifest_path: [
                {"status": entry.status, "path": entry.data_file.file_path}
                for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False)
            ]
            for manifest in snapshot.manifests(table.io)
        }
        for snapshot in table.metadata.snapshots
    }
    print(json.dumps({"current": str(table.metadata.current_snapshot_id), "manifests": manifests}))
