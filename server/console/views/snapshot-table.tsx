import type { VNode } from 'preact';
import type { SnapshotListed } from '../../../warehouse/snapshots/list-snapshots.ts';
import { Moment } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import { DataTable, type Column } from './data-table.tsx';

/** Snapshots: the content of each, and what it added to the ones before. */
export function SnapshotTable({
  snapshots,
  latest,
  now,
}: {
  snapshots: readonly SnapshotListed[];
  /** The snapshot that readers see. */
  latest: string | null;
  now: Date;
}): VNode {
  return (
    <DataTable
      caption="Snapshots"
      columns={columnsAt(now, latest)}
      rows={snapshots}
      keyOf={({ snapshot_id: id }) => `snapshot-${id}`}
      empty="No snapshot was published. “daybook export” makes one."
    />
  );
}

function columnsAt(now: Date, latest: string | null): Column<SnapshotListed>[] {
  return [
    {
      head: 'Snapshot',
      kind: 'name',
      cell: ({ snapshot_id: id, run_id: run }) => (
        <span class="inline">
          <a href={paths.run(run)}>{id}</a> {id === latest ? <span class="aside">latest</span> : null}
        </span>
      ),
    },
    { head: 'Taken', cell: ({ taken_at: at }) => <Moment at={at} now={now} /> },
    { head: 'Rows', kind: 'number', cell: ({ rows }) => rows.toLocaleString('en-US') },
    { head: 'MB', kind: 'number', cell: ({ bytes }) => inMegabytes(bytes) },
    { head: 'MB added', kind: 'number', cell: ({ bytes_added: bytes }) => inMegabytes(bytes) },
    { head: 'Parts', kind: 'number', cell: ({ parts }) => parts?.toLocaleString('en-US') },
    { head: 'Parts added', kind: 'number', cell: ({ parts_added: parts }) => parts?.toLocaleString('en-US') },
    { head: 'Unfit', kind: 'number', cell: ({ unfit }) => unfit.toLocaleString('en-US') },
  ];
}

function inMegabytes(bytes: number | null): string | null {
  return bytes === null
    ? null
    : (bytes / 1e6).toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
