import { createHash } from 'node:crypto';
import type { ManifestTable } from '../../lake/manifest/manifest.ts';
import { marksOfPieces, rowsOfMark } from '../../warehouse/snapshots/mark.ts';
import type { PartOfTable } from '../../warehouse/snapshots/part-of.ts';
import type { Piece } from '../../warehouse/snapshots/piece.ts';
import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import { steadyCount } from '../../warehouse/snapshots/steady-count.ts';
import type { TableWeighed } from '../../warehouse/snapshots/weigh-table.ts';
import { grouped } from './grouped.ts';

/** What a table consists of in the files. */
export interface TablePlanned {
  readonly table: SnapshotTable;
  readonly parts: readonly PartPlanned[];
  /** Undefined where the table is one part. */
  readonly groups: number | undefined;
}

export interface PartPlanned extends PartOfTable {
  /** Of the part within its table. */
  readonly index: number;
  readonly rows: number;
  /** The fingerprint of its rows; undefined where it is not known whether they are the same. */
  readonly content: string | undefined;
}

/** How connections are shared out to parts. */
export interface PartSizes {
  /** With so many rows in a table a connection has a part of its own there. */
  readonly rowsAlone: number;
  /** With a few times as many it is divided into pieces of about so many rows, and each is a part. */
  readonly rowsOfPiece: number;
  /** Parts that connections share have so many rows at least, on average … */
  readonly rowsShared: number;
  /** … and so many connections. */
  readonly connectionsShared: number;
}

/**
 * A small part costs little when one of its connections has changed, and many parts cost much when everything is written. With 10,000
 * connections of a thousand bills, 2,048 parts hold them; when a hundred have changed, about 98 are written. Of one with ten million bills, when
 * three have changed, three parts of 512.
 */
export const usualSizes: PartSizes = {
  rowsAlone: 20_000,
  rowsOfPiece: 20_000,
  rowsShared: 1_000,
  connectionsShared: 4,
};

/**
 * Shares the connections of a table out to parts: small ones together, by a hash of their name, large ones alone, and the largest divided by a
 * hash of the IDs of their records. `before` is what a snapshot to be compared with has: as long as its number of groups is about right it is kept, since with
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
      parts: [{ index: 0, connections: undefined, piece: undefined, rows: weighed.rows, content }],
      groups: undefined,
    };
  }
  const all = [...connections].map(([name, { rows, mark }]) => ({ name, rows, marks: marksOfPieces(mark) }));
  const isSmall = ({ rows, marks }: Connection): boolean => rows < sizes.rowsAlone && marks.length === 1;
  const small = all.filter(isSmall);
  const groups = groupsFor(small, { before: before?.groups, sizes });
  const shared = grouped(small, ({ name }) => hashOf(name) % groups);
  const gathered: Gathered[] = [
    ...[...shared].sort(([one], [other]) => one - other).map(([, members]) => ({ members })),
    ...all.filter((one) => !isSmall(one)).flatMap(dividedOf),
  ];
  const isWhole = gathered.length <= 1;
  const parts = (isWhole ? [{ members: all }] : gathered).map(({ members, piece }, index) => ({
    index,
    connections: isWhole ? undefined : members.map(({ name }) => name),
    piece,
    rows: members.reduce((sum, { rows }) => sum + rows, 0),
    content: contentOf(
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
  /** Of its pieces. */
  readonly marks: readonly string[];
}

/** What a part holds. */
interface Gathered {
  readonly members: readonly Connection[];
  readonly piece?: Piece;
}

/** A large connection: alone, or in its pieces, of which those without rows need no file. */
function dividedOf(connection: Connection): Gathered[] {
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

function hashOf(name: string): number {
  return createHash('md5').update(name).digest().readUInt32BE();
}

/** Version of the file format. A release that writes files differently raises it, and then rewrites all of them. */
export const format = 2;

function contentOf(
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
