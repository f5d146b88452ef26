import type { ClientBase } from 'pg';
import { findWeights } from './find-weights.ts';
import type { TableWeights } from './keep-weights.ts';
import { joinMarks, markOfNone, markSql, rowsOfMark } from './mark.ts';
import { piecesFor, pieceSql } from './piece.ts';
import { named, type RowsOf, type SnapshotTable } from './snapshot-table.ts';

/** The size of a table in the snapshot, and marks that show whether it is the same as in another one. */
export interface TableWeighed {
  readonly rows: number;
  /** Changes with the rows, if the change is a reason for a snapshot; empty if no change is. */
  readonly mark: string;
  /** A digest of every column, which changes if a file of the whole table would. Undefined if it is not known. */
  readonly content: string | undefined;
  /** Undefined if a table is written as a whole. */
  readonly connections: ReadonlyMap<string, ConnectionWeighed> | undefined;
  /** Weights that the next export can reuse; undefined if there are none. */
  readonly weights: TableWeights | undefined;
}

export interface ConnectionWeighed {
  readonly rows: number;
  /** The marks of its pieces, if it is divided. */
  readonly mark: string;
}

/**
 * Weighs a table. Every change gives a row the ID of a transaction that no earlier snapshot saw, so rows are the same if their count and the sum of
 * the 64-bit hashes of these IDs are. Only the rows of connections that changed since they were last weighed are read, and all rows of a table that
 * somebody wrote to by hand.
 */
export async function weighTable(
  client: ClientBase,
  table: SnapshotTable,
  { rowsOfPiece }: { rowsOfPiece: number },
): Promise<TableWeighed> {
  const { changesBy } = table;
  if (typeof changesBy === 'object' && 'writtenTo' in changesBy)
    return weighConnections(client, table, { changesBy, rowsOfPiece });
  if (changesBy === 'none')
    return weighWhole(client, `select count(*) as rows, '' as mark from ${table.from}`);
  return weighWhole(client, contentSql(table, changesBy));
}

/**
 * Returns SQL for both digests in one pass, so that they are about the same rows. A text in Postgres has at most 1 GB, which is 32 million row
 * digests, so these are digested in up to 4,096 groups first.
 */
function contentSql(
  { from, key, columns }: SnapshotTable,
  changesBy: 'content' | { readonly contentOf: readonly string[] },
): string {
  const all = columns.map(({ name }) => name);
  const deciding = changesBy === 'content' ? all : changesBy.contentOf;
  const digests = `${digestOfAll('mark')} as mark, ${digestOfAll('content')} as content`;
  return `
    select coalesce(sum(rows), 0) as rows, ${digests}
    from (
      select count(*) as rows, ${digests}
      from (
        select ${digestExpression(key)} as key, ${digestExpression(deciding)} as mark, ${digestExpression(all)} as content from ${from}
      ) as digested
      group by left(key, 3)
    ) as grouped`;
}

/** Returns SQL for a digest of the values of some columns in a row. */
function digestExpression(columns: readonly string[]): string {
  return `md5(row(${columns.map(named).join(', ')})::text)`;
}

function digestOfAll(digest: string): string {
  return `md5(coalesce(string_agg(${digest}, ',' order by ${digest}), ''))`;
}

async function weighWhole(client: ClientBase, sql: string): Promise<TableWeighed> {
  const {
    rows: [seen],
  } = await client.query<{ rows: string; mark: string; content?: string }>(sql);
  return {
    rows: Number(seen?.rows),
    mark: seen?.mark ?? '',
    content: seen?.content,
    connections: undefined,
    weights: undefined,
  };
}

async function weighConnections(
  client: ClientBase,
  table: SnapshotTable,
  { changesBy, rowsOfPiece }: { changesBy: RowsOf; rowsOfPiece: number },
): Promise<TableWeighed> {
  const { name } = table;
  const { known, pieces, changes, changed, uncounted } = await findWeights(client, {
    table: name,
    ...changesBy,
  });
  const weighed = await weighRows(client, table, { changed, pieces, rowsOfPiece });
  const connections = new Map(
    [...known, ...weighed]
      .filter(([, { rows }]) => rows > 0)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
  const isAll = changed === undefined;
  const fresh = [...new Set([...changes.keys(), ...weighed.keys()])].map((connection) => ({
    connection,
    changes: changes.get(connection) ?? '-1',
    ...(weighed.get(connection) ?? { rows: 0, mark: '' }),
  }));
  return {
    rows: [...connections.values()].reduce((sum, { rows }) => sum + rows, 0),
    mark: [...connections].map(([connection, { mark }]) => `${connection} ${mark}`).join('\n'),
    content: undefined,
    connections,
    weights: { table: name, writtenTo: changesBy.writtenTo, fresh, isAll, uncounted },
  };
}

/**
 * Weighs a table, or the rows of these connections, in one pass that reads no values; connections that are to be divided from now on need a second
 * one.
 */
async function weighRows(
  client: ClientBase,
  table: SnapshotTable,
  input: {
    changed: readonly string[] | undefined;
    pieces: ReadonlyMap<string, number>;
    rowsOfPiece: number;
  },
): Promise<Map<string, ConnectionWeighed>> {
  const { changed, pieces, rowsOfPiece } = input;
  const divided = [...pieces].filter(([name]) => changed === undefined || changed.includes(name));
  const others = changed?.filter((name) => !pieces.has(name));
  const weighed = new Map([
    ...(await weighUndivided(client, table, { only: others, but: [...pieces.keys()] })),
    ...(await weighDivided(client, table, new Map(divided))),
  ]);
  const anew = [...weighed].flatMap(([name, { rows }]): [string, number][] => {
    const before = pieces.get(name) ?? 1;
    const count = piecesFor(rows, { rowsOfPiece, before });
    return count === before ? [] : [[name, count]];
  });
  return new Map([...weighed, ...(await weighDivided(client, table, new Map(anew)))]);
}

async function weighUndivided(
  client: ClientBase,
  { from }: SnapshotTable,
  { only, but }: { only: readonly string[] | undefined; but: readonly string[] },
): Promise<Map<string, ConnectionWeighed>> {
  if (only?.length === 0) return new Map();
  const { rows } = await client.query<{ connection_id: string; mark: string }>(
    `select connection_id, ${markSql} as mark from ${from}
     where ${only === undefined ? 'connection_id <> all($1::text[])' : 'connection_id = any($1::text[])'} group by connection_id`,
    [only ?? but],
  );
  return new Map(rows.map(({ connection_id: name, mark }) => [name, weighedBy([mark])]));
}

/** Weighs connections by their number of pieces. One without rows is not in the result. */
async function weighDivided(
  client: ClientBase,
  table: SnapshotTable,
  counts: ReadonlyMap<string, number>,
): Promise<Map<string, ConnectionWeighed>> {
  const weighed = new Map<string, ConnectionWeighed>();
  for (const count of new Set(counts.values())) {
    const names = [...counts].filter(([, one]) => one === count).map(([name]) => name);
    const { rows } = await client.query<{ connection_id: string; piece: number; mark: string }>(
      `select connection_id, ${pieceSql(table, count)}::int as piece, ${markSql} as mark from ${table.from}
       where connection_id = any($1::text[]) group by 1, 2`,
      [names],
    );
    const found = new Map<string, string[]>();
    for (const { connection_id: name, piece, mark } of rows) {
      const marks = found.get(name) ?? Array.from({ length: count }, () => markOfNone);
      marks[piece] = mark;
      found.set(name, marks);
    }
    for (const [name, marks] of found) weighed.set(name, weighedBy(marks));
  }
  return weighed;
}

function weighedBy(marks: readonly string[]): ConnectionWeighed {
  return { rows: marks.reduce((sum, mark) => sum + rowsOfMark(mark), 0), mark: joinMarks(marks) };
}
