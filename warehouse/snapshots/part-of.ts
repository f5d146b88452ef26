import pg from 'pg';
import { pieceSql, type Piece } from './piece.ts';
import { snapshotColumn, type SnapshotTable } from './snapshot-table.ts';

/** The rows of a table that a part holds. */
export interface PartOfTable {
  /** Undefined: the rows of all. */
  readonly connections: readonly string[] | undefined;
  /** A piece of the only connection; undefined: all of it. */
  readonly piece: Piece | undefined;
}

/** In the rows of several parts: the number of the part that a row belongs to. */
export const partColumn = snapshotColumn('part', 'integer');

/** Returns the numbers of the parts in their rows, in ascending order. */
export function partNumbers(parts: readonly PartOfTable[]): number[] {
  return parts.map(({ piece }, place) => piece?.index ?? place);
}

/**
 * Returns the rows of some parts as a table of its own. The rows of several parts begin with the number of their part, and are sorted by it.
 * Several pieces belong to one connection.
 */
export function rowsOfParts(table: SnapshotTable, parts: readonly PartOfTable[]): SnapshotTable {
  if (parts.some(({ connections }) => connections === undefined)) return table;
  const connections = [...new Set(parts.flatMap((part) => part.connections ?? []))];
  const ofConnections = `connection_id in (${connections.map((one) => pg.escapeLiteral(one)).join(', ')})`;
  const pieces = parts.flatMap(({ piece }) => piece ?? []);
  const [first] = pieces;
  const piece = first && pieceSql(table, first.of);
  const isSome = first !== undefined && pieces.length < first.of;
  const where = isSome
    ? `${ofConnections} and ${piece} in (${partNumbers(parts).join(', ')})`
    : ofConnections;
  // Comparing a column that is the same in all rows takes as long as any other.
  const orderBy =
    first === undefined ? table.orderBy : table.orderBy.filter((name) => name !== 'connection_id');
  if (parts.length === 1) return { ...selected(table, { where }), orderBy };
  return {
    ...selected(table, { where, more: `, ${piece ?? shareSql(parts)} as ${partColumn.name}` }),
    columns: [partColumn, ...table.columns],
    orderBy: [partColumn.name, ...orderBy],
  };
}

/** Returns SQL for the place of the part that holds a connection. Finding one of hundreds of keys in jsonb takes nine comparisons. */
function shareSql(parts: readonly PartOfTable[]): string {
  const places = parts.flatMap(({ connections = [] }, place) => connections.map((name) => [name, place]));
  return `(${pg.escapeLiteral(JSON.stringify(Object.fromEntries(places)))}::jsonb ->> connection_id)::int`;
}

function selected(
  table: SnapshotTable,
  { where, more = '' }: { where: string; more?: string },
): SnapshotTable {
  const { name, from } = table;
  return { ...table, from: `(select *${more} from ${from} where ${where}) as ${name}` };
}
