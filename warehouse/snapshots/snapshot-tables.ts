import { resources } from '../../resources/index.ts';
import type { Column } from '../../resources/resource.ts';
import { extraTables } from './extra-tables.ts';
import { notGoing } from './not-going.ts';
import { columnOf, type SnapshotColumn, type SnapshotTable } from './snapshot-table.ts';

/** Columns with the date of a document. */
const datesOfDocuments = ['issue_date', 'transaction_date', 'allocated_date'];

/** Everything that a snapshot holds: the finance tables, according to their descriptors, and the other tables that marts need. */
export const snapshotTables: readonly SnapshotTable[] = [
  ...resources.flatMap(({ name, columns, children }) => [
    tableOf(name, {
      resource: name,
      key: ['connection_id', 'id'],
      columns: [columnOf('connection_id', 'id'), ...columns.map(asColumn), ...systemColumns()],
    }),
    ...children.map((child) =>
      tableOf(child.table, {
        resource: name,
        key: ['connection_id', child.parentKey, 'position'],
        columns: [
          columnOf('connection_id', 'id'),
          columnOf(child.parentKey, 'id'),
          columnOf('position', 'integer'),
          ...child.columns.map(asColumn),
        ],
      }),
    ),
  ]),
  ...extraTables,
];

function tableOf(
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
  return [columnOf('_run_id', 'id'), columnOf('_first_seen_at', 'time'), columnOf('_changed_at', 'time')];
}

function asColumn({ name, kind }: Column): SnapshotColumn {
  return columnOf(name, kind);
}
