import { resources } from '../../resources/index.ts';
import type { Column } from '../../resources/resource.ts';
import { extraTables } from './extra-tables.ts';
import { notGoing } from './not-going.ts';
import { snapshotColumn, type SnapshotColumn, type SnapshotTable } from './snapshot-table.ts';

/** Columns with the date of a document. */
const datesOfDocuments = ['issue_date', 'transaction_date', 'allocated_date'];

/** Everything that a snapshot holds: the finance tables, according to their descriptors, and the other tables that marts need. */
export const snapshotTables: readonly SnapshotTable[] = [
  ...resources.flatMap(({ name, columns, children }) => [
    buildTable(name, {
      resource: name,
      key: ['connection_id', 'id'],
      columns: [snapshotColumn('connection_id', 'id'), ...columns.map(asColumn), ...systemColumns()],
    }),
    ...children.map((child) =>
      buildTable(child.table, {
        resource: name,
        key: ['connection_id', child.parentKey, 'position'],
        columns: [
          snapshotColumn('connection_id', 'id'),
          snapshotColumn(child.parentKey, 'id'),
          snapshotColumn('position', 'integer'),
          ...child.columns.map(asColumn),
        ],
      }),
    ),
  ]),
  ...extraTables,
];

function buildTable(
  name: string,
  { resource, key, columns }: Pick<SnapshotTable, 'key' | 'columns'> & { resource: string },
): SnapshotTable {
  // Queries by time then find their rows in a few row groups.
  const date = columns.find((column) => datesOfDocuments.includes(column.name));
  const orderBy = date === undefined ? key : ['connection_id', date.name, ...key.slice(1)];
  const from = `(select *, xmin from finance.${name} where ${notGoing}) as ${name}`;
  const changesBy = { writtenTo: `finance.${name}`, resource };
  return { name, from, key, columns, orderBy, changesBy };
}

function systemColumns(): SnapshotColumn[] {
  return [
    snapshotColumn('_run_id', 'id'),
    snapshotColumn('_first_seen_at', 'time'),
    snapshotColumn('_changed_at', 'time'),
  ];
}

function asColumn({ name, kind }: Column): SnapshotColumn {
  return snapshotColumn(name, kind);
}
