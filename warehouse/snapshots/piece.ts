import { columnOf, named, type SnapshotTable } from './snapshot-table.ts';
import { steadyCount } from './steady-count.ts';
import { recordKeyOf } from './unfit-table.ts';

/** A share of the rows of a large connection, by a hash of the ID of their record: so a change concerns one of them, and not all rows. */
export interface Piece {
  readonly index: number;
  /** How many there are, which is a power of two. */
  readonly of: number;
}

/** In the rows of several pieces: of which a row is. */
export const pieceColumn = columnOf('piece', 'integer');

/** SQL: of which piece a row is. */
export function pieceSql({ name, key }: Pick<SnapshotTable, 'name' | 'key'>, of: number): string {
  const record = recordKeyOf(key);
  if (record === undefined) throw new Error(`The rows of ${name} are of no record.`);
  return `(hashtextextended(${named(record)}, 0) & ${of - 1})`;
}

/** Into how many pieces so many rows are divided; 1 where they stay together. */
export function piecesFor(
  rows: number,
  { rowsOfPiece, before }: { rowsOfPiece: number; before: number },
): number {
  return Math.min(mostPieces, steadyCount(rows / rowsOfPiece, before));
}

/** Each is a file. */
const mostPieces = 1_024;
