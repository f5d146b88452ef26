import { named, type SnapshotTable } from './snapshot-table.ts';
import { steadyCount } from './steady-count.ts';
import { recordKeyOf } from './unfit-table.ts';

/** A share of the rows of a large connection, by a hash of their record's ID, so that a change affects one piece and not all rows. */
export interface Piece {
  readonly index: number;
  /** Number of pieces, a power of two. */
  readonly of: number;
}

/** Returns SQL for the piece that a row belongs to. */
export function pieceSql({ name, key }: Pick<SnapshotTable, 'name' | 'key'>, of: number): string {
  const record = recordKeyOf(key);
  if (record === undefined) throw new Error(`The rows of ${name} are of no record.`);
  return `(hashtextextended(${named(record)}, 0) & ${of - 1})`;
}

/** Returns the number of pieces into which so many rows are divided; 1 if they stay together. */
export function piecesFor(
  rows: number,
  { rowsOfPiece, before }: { rowsOfPiece: number; before: number },
): number {
  return Math.min(mostPieces, steadyCount(rows / rowsOfPiece, before));
}

/** Each piece is a file. */
const mostPieces = 1_024;
