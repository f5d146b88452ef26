import pg from 'pg';
import { pieceColumn, pieceSql, type Piece } from './piece.ts';
import type { SnapshotTable } from './snapshot-table.ts';

/** The rows of a table that a part holds. */
export interface PartOfTable {
  /** Undefined: the rows of all. */
  readonly connections: readonly string[] | undefined;
  /** A piece of the only connection; undefined: all of it. */
  readonly piece: Piece | undefined;
}

/**
 * Returns the rows of some parts as a table of its own. Several pieces belong to one connection: the rows then begin with a column that names
 * their piece, and are sorted by it.
 */
export function rowsOfParts(table: SnapshotTable, parts: readonly PartOfTable[]): SnapshotTable {
  if (parts.some(({ connections }) => connections === undefined)) return table;
  const connections = [...new Set(parts.flatMap((part) => part.connections ?? []))];
  const ofConnections = `connection_id in (${connections.map((one) => pg.escapeLiteral(one)).join(', ')})`;
  const pieces = parts.flatMap(({ piece }) => piece ?? []);
  const [first] = pieces;
  if (first === undefined) return selected(table, { where: ofConnections });
  // Comparing a column that is the same in all rows takes as long as any other.
  const orderBy = table.orderBy.filter((name) => name !== 'connection_id');
  const piece = pieceSql(table, first.of);
  const isAll = pieces.length === first.of;
  const ofPieces = isAll ? 'true' : `${piece} in (${pieces.map(({ index }) => index).join(', ')})`;
  const where = `${ofConnections} and ${ofPieces}`;
  if (pieces.length === 1) return { ...selected(table, { where }), orderBy };
  return {
    ...selected(table, { where, more: `, ${piece} as ${pieceColumn.name}` }),
    columns: [pieceColumn, ...table.columns],
    orderBy: [pieceColumn.name, ...orderBy],
  };
}

function selected(
  table: SnapshotTable,
  { where, more = '' }: { where: string; more?: string },
): SnapshotTable {
  const { name, from } = table;
  return { ...table, from: `(select *${more} from ${from} where ${where}) as ${name}` };
}
