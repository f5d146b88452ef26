import type { DuckDBConnection } from '@duckdb/node-api';
import { named, openDuckDb, type DuckDb } from '../parquet/duck-db.ts';
import type { Lake } from '../lake.ts';
import type { Manifest, ManifestTable } from '../manifest/manifest.ts';
import { parquetRows } from '../parquet/parquet-rows.ts';
import { withSnapshotFile } from './with-snapshot-file.ts';

/** How the rows of a connection in a table differ between two snapshots. */
export interface RowsMoved {
  /** Null for rows of no connection, such as the runs of exports. */
  readonly connection_id: string | null;
  readonly table: string;
  /** Rows that only the second snapshot has. */
  readonly added: number;
  /** Rows that only the first snapshot has. */
  readonly removed: number;
  /** Rows of both snapshots, with different values in common columns. */
  readonly changed: number;
}

/** A column that only one of the snapshots has, because they are of different releases. */
export interface ColumnMoved {
  readonly table: string;
  readonly column: string;
  readonly is: 'added' | 'removed';
}

export interface SnapshotsDiffer {
  readonly rows: readonly RowsMoved[];
  readonly columns: readonly ColumnMoved[];
}

/**
 * Compares two snapshots. Files in both are not read. `keyOf` returns the columns that identify a row; without them a changed row counts as one
 * removed and one added. Throws SnapshotDamaged.
 */
export async function diffSnapshots(
  lake: Lake,
  input: {
    first: Manifest;
    second: Manifest;
    keyOf: (table: string) => readonly string[];
    spillFolder: string;
    onTable: (table: string) => void;
  },
): Promise<SnapshotsDiffer> {
  const { first, second, keyOf, spillFolder, onTable } = input;
  const rows: RowsMoved[] = [];
  const columns: ColumnMoved[] = [];
  const names = [...new Set([...Object.keys(first.tables), ...Object.keys(second.tables)])].sort();
  const duckDb = await openDuckDb({ spillFolder });
  try {
    const connection = await duckDb.connect();
    for (const name of names) {
      const [before, after] = withoutCommon(first.tables[name] ?? none, second.tables[name] ?? none);
      if (before.files.length === 0 && after.files.length === 0) continue;
      onTable(name);
      columns.push(...columnsMoved(name, before, after));
      const counted = await withFiles(lake, duckDb, {
        id: first.snapshot_id,
        table: before,
        use: (beforeFiles) =>
          withFiles(lake, duckDb, {
            id: second.snapshot_id,
            table: after,
            use: (afterFiles) =>
              countMoved(connection, {
                before: { table: before, files: beforeFiles },
                after: { table: after, files: afterFiles },
                key: keyOf(name),
              }),
          }),
      });
      rows.push(...counted.map((moved) => ({ table: name, ...moved })));
    }
  } finally {
    duckDb.close();
  }
  return { rows, columns };
}

/** A table that a snapshot of another release lacks. */
const none: ManifestTable = { rows: 0, bytes: 0, columns: {}, sums: {}, files: [] };

/** Leaves out files in both: they hold the same rows. */
function withoutCommon(one: ManifestTable, other: ManifestTable): [ManifestTable, ManifestTable] {
  const without = (table: ManifestTable, { files }: ManifestTable): ManifestTable => {
    const hashes = new Set(files.map(({ sha256 }) => sha256));
    return { ...table, files: table.files.filter(({ sha256 }) => !hashes.has(sha256)) };
  };
  return [without(one, other), without(other, one)];
}

function columnsMoved(table: string, before: ManifestTable, after: ManifestTable): ColumnMoved[] {
  const only = (one: ManifestTable, other: ManifestTable, is: ColumnMoved['is']): ColumnMoved[] =>
    one.files.length === 0 || other.files.length === 0
      ? []
      : Object.keys(one.columns)
          .filter((column) => !(column in other.columns))
          .map((column) => ({ table, column, is }));
  return [...only(before, after, 'removed'), ...only(after, before, 'added')];
}

/** Passes on all files of a table, on this machine. */
async function withFiles<Result>(
  lake: Lake,
  duckDb: DuckDb,
  {
    id,
    table,
    use,
  }: { id: string; table: ManifestTable; use: (paths: readonly string[]) => Promise<Result> },
): Promise<Result> {
  const from = (place: number, paths: readonly string[]): Promise<Result> => {
    const file = table.files[place];
    if (file === undefined) return use(paths);
    return withSnapshotFile(lake, duckDb, { id, file, use: (path) => from(place + 1, [...paths, path]) });
  };
  return from(0, []);
}

interface Side {
  readonly table: ManifestTable;
  readonly files: readonly string[];
}

async function countMoved(
  connection: DuckDBConnection,
  { before, after, key }: { before: Side; after: Side; key: readonly string[] },
): Promise<Omit<RowsMoved, 'table'>[]> {
  const [one, other] = [before, after].map(({ table }) => Object.keys(table.columns));
  const common =
    before.files.length === 0
      ? (other ?? [])
      : (one ?? []).filter((name) => after.files.length === 0 || other?.includes(name));
  const keyed = key.length > 0 && key.every((name) => common.includes(name)) ? key : common;
  const read = await connection.runAndReadAll(`
    with before as (${contentsSql(before.files, { key: keyed, columns: common })}),
      after as (${contentsSql(after.files, { key: keyed, columns: common })})
    select coalesce(before.connection_id, after.connection_id),
      count(*) filter (before.content is null), count(*) filter (after.content is null),
      count(*) filter (before.content is not null and after.content is not null)
    from before
    full join after on before.key = after.key
    where before.content is distinct from after.content
    group by 1
    order by 1 nulls last`);
  return read.getRows().map(([connectionId, added, removed, changed]) => ({
    connection_id: connectionId === null ? null : String(connectionId),
    added: Number(added),
    removed: Number(removed),
    changed: Number(changed),
  }));
}

/** Selects the key and a hash of the values of each row: the comparison fits into memory, however long the rows are. */
function contentsSql(
  files: readonly string[],
  { key, columns }: { key: readonly string[]; columns: readonly string[] },
): string {
  if (files.length === 0)
    return `select null::varchar as connection_id, null::varchar as key, null::varchar as content where false`;
  const packed = (names: readonly string[]): string =>
    `md5(to_json([${names.map((name) => `${named(name)}::varchar`).join(', ')}])::varchar)`;
  const connection = columns.includes('connection_id') ? 'connection_id' : 'null::varchar';
  return `
    select ${connection} as connection_id, ${packed(key)} as key, ${packed(columns)} as content
    from ${parquetRows(files)}`;
}
