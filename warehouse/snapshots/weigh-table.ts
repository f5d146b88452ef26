import type { ClientBase } from 'pg';
import { findWeights } from './find-weights.ts';
import type { TableWeights } from './keep-weights.ts';
import { named, type RowsOf, type SnapshotTable } from './snapshot-table.ts';

/** How much a table holds in the snapshot, and marks that show whether it is the same as in another one. */
export interface TableWeighed {
  readonly rows: number;
  /** Another one when the rows are others in a way that is a reason for a snapshot; empty when no change is. */
  readonly mark: string;
  /** Another one when a file of the whole table would be another: of every column. Undefined where that is not known. */
  readonly content: string | undefined;
  /** Undefined where a table is written as a whole. */
  readonly connections: ReadonlyMap<string, ConnectionWeighed> | undefined;
  /** What need not be looked at again; undefined where all is. */
  readonly weights: TableWeights | undefined;
}

export interface ConnectionWeighed {
  readonly rows: number;
  readonly mark: string;
}

/**
 * Every change gives a row the number of a transaction that no earlier snapshot saw: so rows are the same when their count and these
 * numbers are, summed up by their hashes of 64 bits. Only the rows of connections that were changed since they were weighed last are
 * looked at, and all of a table to which somebody wrote by hand.
 */
export async function weighTable(client: ClientBase, table: SnapshotTable): Promise<TableWeighed> {
  const { columns, changesBy } = table;
  if (typeof changesBy === 'object' && 'writtenTo' in changesBy)
    return weighConnections(client, table, changesBy);
  if (changesBy === 'none') return weighWhole(client, table, { mark: `''`, content: 'null' });
  const content = digestOf(columns.map((column) => column.name));
  return weighWhole(client, table, {
    mark: changesBy === 'content' ? content : digestOf(changesBy.contentOf),
    content,
  });
}

/** SQL that tells the values of some columns in all rows from others. A text of Postgres has at most 1 GB, and the rows may have more. */
function digestOf(columns: readonly string[]): string {
  const row = `md5(row(${columns.map(named).join(', ')})::text)`;
  return `md5(coalesce(string_agg(${row}, ',' order by ${row}), ''))`;
}

/** One pass for both: what they say is of the same rows. */
async function weighWhole(
  client: ClientBase,
  { from }: SnapshotTable,
  { mark, content }: { mark: string; content: string },
): Promise<TableWeighed> {
  const {
    rows: [seen],
  } = await client.query<{ rows: string; mark: string; content: string | null }>(
    `select count(*) as rows, ${mark} as mark, ${content} as content from ${from}`,
  );
  return {
    rows: Number(seen?.rows),
    mark: seen?.mark ?? '',
    content: seen?.content ?? undefined,
    connections: undefined,
    weights: undefined,
  };
}

async function weighConnections(
  client: ClientBase,
  { name, from }: SnapshotTable,
  changesBy: RowsOf,
): Promise<TableWeighed> {
  const { known, changes, changed, uncounted } = await findWeights(client, { table: name, ...changesBy });
  const weighed = await weighRows(client, from, changed);
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

/** One pass over a table, or over the rows of these connections, and no look at the values. */
async function weighRows(
  client: ClientBase,
  from: string,
  of: readonly string[] | undefined,
): Promise<Map<string, ConnectionWeighed>> {
  if (of?.length === 0) return new Map();
  const { rows } = await client.query<{ connection_id: string; rows: string; mark: string }>(
    `select connection_id, count(*) as rows, sum(hashint8extended(xmin::text::bigint, 0))::text as mark
     from ${from} ${of === undefined ? '' : 'where connection_id = any($1::text[])'} group by connection_id`,
    of === undefined ? [] : [of],
  );
  return new Map(
    rows.map(({ connection_id: connection, rows: count, mark }) => [
      connection,
      { rows: Number(count), mark: `${count}/${mark}` },
    ]),
  );
}
