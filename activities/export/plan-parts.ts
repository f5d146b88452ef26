import { createHash } from 'node:crypto';
import type { ManifestTable } from '../../lake/manifest/manifest.ts';
import { marksOfPieces, rowsOfMark } from '../../warehouse/snapshots/mark.ts';
import type { PartOfTable } from '../../warehouse/snapshots/part-of.ts';
import type { Piece } from '../../warehouse/snapshots/piece.ts';
import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import { steadyCount } from '../../warehouse/snapshots/steady-count.ts';
import type { TableWeighed } from '../../warehouse/snapshots/weigh-table.ts';
import { grouped } from './grouped.ts';

/** A table and its parts in the files. */
export interface TablePlanned {
  readonly table: SnapshotTable;
  readonly parts: readonly PartPlanned[];
  /** Undefined if the table is one part. */
  readonly groups: number | undefined;
}

export interface PartPlanned extends PartOfTable {
  /** The position of the part within its table. */
  readonly index: number;
  readonly rows: number;
  /** The fingerprint of its rows; undefined if it is unknown whether they are the same. */
  readonly content: string | undefined;
}

/** How connections are distributed over parts. */
export interface PartSizes {
  /** From this number of rows on, a connection has its own part of a table. */
  readonly rowsAlone: number;
  /** With a few times as many rows, a connection is divided into pieces of about this number of rows; each piece is a part. */
  readonly rowsOfPiece: number;
  /** The minimum average number of rows in a part that connections share … */
  readonly rowsShared: number;
  /** … and of connections. */
  readonly connectionsShared: number;
}

/**
 * A small part costs little when one of its connections has changed, and many parts cost much when everything is written. 10,000 connections
 * of a thousand bills fit in 2,048 parts; when a hundred have changed, about 98 parts are written. When three of ten million bills of one
 * connection have changed, 3 of 512 parts are written.
 */
export const usualSizes: PartSizes = {
  rowsAlone: 20_000,
  rowsOfPiece: 20_000,
  rowsShared: 1_000,
  connectionsShared: 4,
};

/**
 * Distributes the connections of a table over parts: small ones share a part, by a hash of their name; large ones have their own; the largest are
 * divided by a hash of their records' IDs. `before` is the table in the snapshot to compare with. Its number of groups is kept as long as it is
 * about right, because with another number no part would be the same.
 */
export function planParts(
  table: SnapshotTable,
  input: { weighed: TableWeighed; origin: string; before: ManifestTable | undefined; sizes: PartSizes },
): TablePlanned {
  const { weighed, origin, before, sizes } = input;
  const { connections } = weighed;
  if (connections === undefined) {
    // Not the mark: it omits columns whose change alone is no reason for a snapshot, and the file has these columns.
    const content =
      weighed.content === undefined ? undefined : hashContent(table, origin, [['', weighed.content]]);
    return {
      table,
      parts: [{ index: 0, connections: undefined, piece: undefined, rows: weighed.rows, content }],
      groups: undefined,
    };
  }
  const all = [...connections].map(([name, { rows, mark }]) => ({ name, rows, marks: marksOfPieces(mark) }));
  const isSmall = ({ rows, marks }: Connection): boolean => rows < sizes.rowsAlone && marks.length === 1;
  const small = all.filter(isSmall);
  const groups = groupsFor(small, { before: before?.groups, sizes });
  const shared = grouped(small, ({ name }) => hashName(name) % groups);
  const gathered: Gathered[] = [
    ...[...shared].sort(([one], [other]) => one - other).map(([, members]) => ({ members })),
    ...all.filter((one) => !isSmall(one)).flatMap(divideConnection),
  ];
  const isWhole = gathered.length <= 1;
  const parts = (isWhole ? [{ members: all }] : gathered).map(({ members, piece }, index) => ({
    index,
    connections: isWhole ? undefined : members.map(({ name }) => name),
    piece,
    rows: members.reduce((sum, { rows }) => sum + rows, 0),
    content: hashContent(
      table,
      origin,
      members.map(({ name, marks }) => [
        name,
        ...marks,
        ...(piece === undefined ? [] : [`${piece.index}/${piece.of}`]),
      ]),
    ),
  }));
  return { table, parts, groups: isWhole ? undefined : groups };
}

interface Connection {
  readonly name: string;
  readonly rows: number;
  /** The marks of its pieces. */
  readonly marks: readonly string[];
}

/** The connections, or the piece of one, in a part. */
interface Gathered {
  readonly members: readonly Connection[];
  readonly piece?: Piece;
}

/** A large connection, whole or in its pieces. Pieces without rows need no file. */
function divideConnection(connection: Connection): Gathered[] {
  const { name, marks } = connection;
  if (marks.length === 1) return [{ members: [connection] }];
  return marks
    .map((mark, index) => ({
      members: [{ name, rows: rowsOfMark(mark), marks: [mark] }],
      piece: { index, of: marks.length },
    }))
    .filter(({ members: [one] }) => one !== undefined && one.rows > 0);
}

function groupsFor(
  small: readonly { rows: number }[],
  { before, sizes }: { before: number | undefined; sizes: PartSizes },
): number {
  const rows = small.reduce((sum, one) => sum + one.rows, 0);
  const wanted = Math.max(1, Math.min(rows / sizes.rowsShared, small.length / sizes.connectionsShared));
  return steadyCount(wanted, before);
}

function hashName(name: string): number {
  return createHash('md5').update(name).digest().readUInt32BE();
}

/** Version of the file format. A release that writes files differently raises it, and then rewrites all of them. */
export const format = 2;

function hashContent(
  { name, columns, orderBy }: SnapshotTable,
  origin: string,
  marks: readonly (readonly string[])[],
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
