import { heldValue } from './held-value.ts';
import { snapshotColumn, named, type SnapshotTable } from './snapshot-table.ts';

/**
 * The table of a snapshot that lists the values that its other tables do not hold to the last digit. It is not read from the database as a whole:
 * each part of another table has a part here, which is written, and kept, together with it.
 */
export const unfitTable: Pick<SnapshotTable, 'name' | 'key' | 'columns' | 'orderBy'> = {
  name: 'unfit_values',
  key: ['table_name', 'connection_id', 'record_id', 'position', 'recorded_at', 'column_name'],
  orderBy: ['connection_id', 'table_name', 'column_name', 'record_id', 'recorded_at', 'position'],
  columns: [
    snapshotColumn('table_name', 'text'),
    snapshotColumn('connection_id', 'id'),
    snapshotColumn('record_id', 'id'),
    snapshotColumn('position', 'integer'),
    snapshotColumn('recorded_at', 'time'),
    snapshotColumn('column_name', 'text'),
    snapshotColumn('value', 'text'),
    { name: 'is_rounded', parquet: 'BOOLEAN', scale: undefined },
  ],
};

/** Whether a value of the table may be too long for its type. */
export function mayBeUnfit({ columns }: Pick<SnapshotTable, 'columns'>): boolean {
  return columns.some((column) => heldValue(column) !== undefined);
}

/** Returns the rows of it that are about some columns of a table. */
export function selectUnfitRows(
  { name, from, key, columns }: SnapshotTable,
  unfitColumns: readonly string[],
): SnapshotTable {
  const has = (column: string): boolean => columns.some((one) => one.name === column);
  const record = recordKeyOf(key);
  const place = (column: string, type: string): string =>
    `${key.includes(column) ? named(column) : 'null'}::${type} as ${named(column)}`;
  const selects = columns
    .filter((column) => unfitColumns.includes(column.name))
    .flatMap((column) => {
      const held = heldValue(column);
      if (held === undefined) return [];
      return `
        select '${name}' as table_name, ${has('connection_id') ? 'connection_id' : 'null::text as connection_id'},
          ${record === undefined ? 'null::text' : `${named(record)}::text`} as record_id,
          ${place('position', 'bigint')}, ${place('recorded_at', 'timestamptz')}, '${column.name}' as column_name,
          ${named(column.name)}::text as value, ${held.isHeld} as is_rounded
        from ${from}
        where not ${held.isExact}`;
    });
  return {
    ...unfitTable,
    changesBy: 'none',
    from: `(${selects.length === 0 ? noRows : selects.join('\n        union all')}) as ${unfitTable.name}`,
  };
}

/** Returns the column of a key that names the record; undefined: none but the connection does. */
export function recordKeyOf(key: readonly string[]): string | undefined {
  return key.filter((name) => !namesNoRecord.has(name)).at(-1);
}

const namesNoRecord = new Set([
  'table_name',
  'connection_id',
  'position',
  'recorded_at',
  'column_name',
  'field',
]);

const noRows = `select ${unfitTable.columns
  .map(({ name, parquet }) => `null::${postgresTypeOf(parquet)} as ${named(name)}`)
  .join(', ')} where false`;

function postgresTypeOf(parquet: string): string {
  return (
    { BIGINT: 'bigint', BOOLEAN: 'boolean', 'TIMESTAMP WITH TIME ZONE': 'timestamptz' }[parquet] ?? 'text'
  );
}
