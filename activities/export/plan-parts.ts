import { createHash } from 'node:crypto';
import type { ManifestTable } from '../../lake/manifest.ts';
import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import type { TableWeighed } from '../../warehouse/snapshots/weigh-table.ts';
import { grouped } from './grouped.ts';

/** What a table consists of in the files. */
export interface TablePlanned {
  readonly table: SnapshotTable;
  readonly parts: readonly PartPlanned[];
  /** Undefined where the table is one part. */
  readonly groups: number | undefined;
}

export interface PartPlanned {
  /** Of the part within its table. */
  readonly index: number;
  /** Undefined: everything. */
  readonly connections: readonly string[] | undefined;
  readonly rows: number;
  /** The fingerprint of its rows; undefined where it is not known whether they are the same. */
  readonly content: string | undefined;
}

/** How connections are shared out to parts. */
export interface PartSizes {
  /** With so many rows in a table a connection has a part of its own there. */
  readonly rowsAlone: number;
  /** Parts that connections share have so many rows at least, on average … */
  readonly rowsShared: number;
  /** … and so many connections. */
  readonly connectionsShared: number;
}

/**
 * A small part costs little when one of its connections has changed, and many parts cost much when everything is written. With 10,000
 * connections of a thousand bills, 2,048 parts hold them; when a hundred have changed, about 98 are written.
 */
export const usualSizes: PartSizes = { rowsAlone: 20_000, rowsShared: 1_000, connectionsShared: 4 };

/**
 * Shares the connections of a table out to parts, each of which holds some of them whole: large ones alone, the others by a hash of their
 * name. `before` is what a snapshot to be compared with has: as long as its number of groups is about right it is kept, since with
 * another one no part is the same.
 */
export function planParts(
  table: SnapshotTable,
  input: { weighed: TableWeighed; origin: string; before: ManifestTable | undefined; sizes: PartSizes },
): TablePlanned {
  const { weighed, origin, before, sizes } = input;
  const { connections } = weighed;
  if (connections === undefined) {
    // Not the mark: that leaves out columns whose change alone is no reason for a snapshot, and the file has them.
    const content =
      weighed.content === undefined ? undefined : contentOf(table, origin, [['', weighed.content]]);
    return {
      table,
      parts: [{ index: 0, connections: undefined, rows: weighed.rows, content }],
      groups: undefined,
    };
  }
  const all = [...connections].map(([name, { rows, mark }]) => ({ name, rows, mark }));
  const small = all.filter(({ rows }) => rows < sizes.rowsAlone);
  const groups = groupsFor(small, { before: before?.groups, sizes });
  const shared = grouped(small, ({ name }) => hashOf(name) % groups);
  const gathered = [
    ...[...shared].sort(([one], [other]) => one - other).map(([, members]) => members),
    ...all.filter(({ rows }) => rows >= sizes.rowsAlone).map((one) => [one]),
  ];
  const isWhole = gathered.length <= 1;
  const parts = (isWhole ? [all] : gathered).map((members, index) => ({
    index,
    connections: isWhole ? undefined : members.map(({ name }) => name),
    rows: members.reduce((sum, { rows }) => sum + rows, 0),
    content: contentOf(
      table,
      origin,
      members.map(({ name, mark }) => [name, mark]),
    ),
  }));
  return { table, parts, groups: isWhole ? undefined : groups };
}

/** A power of two, so that it seldom changes; four times too many or too few is still about right. */
function groupsFor(
  small: readonly { rows: number }[],
  { before, sizes }: { before: number | undefined; sizes: PartSizes },
): number {
  const rows = small.reduce((sum, one) => sum + one.rows, 0);
  const wanted = Math.max(1, Math.min(rows / sizes.rowsShared, small.length / sizes.connectionsShared));
  if (before !== undefined && before >= wanted / 4 && before <= wanted * 4) return before;
  return 2 ** Math.floor(Math.log2(wanted));
}

function hashOf(name: string): number {
  return createHash('md5').update(name).digest().readUInt32BE();
}

/** Of the files: a release that writes them in another way raises it, and writes all of them anew. */
export const format = 2;

function contentOf(
  { name, columns, orderBy }: SnapshotTable,
  origin: string,
  marks: readonly (readonly [connection: string, mark: string])[],
): string {
  const hash = createHash('sha256');
  hash.update(
    JSON.stringify([
      format,
      origin,
      name,
      columns.map((column) => [column.name, column.parquet]),
      orderBy,
      marks,
    ]),
  );
  return hash.digest('hex');
}
