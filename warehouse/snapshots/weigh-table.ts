import type { ClientBase } from 'pg';
import type { SnapshotTable } from './snapshot-table.ts';

/** How much a table holds in the snapshot, and marks that show whether it is the same as in another one. */
export interface TableWeighed {
  readonly rows: number;
  /** Another one when the rows are others; empty when changes do not count. */
  readonly mark: string;
  /** Undefined where a table is written as a whole. */
  readonly connections: ReadonlyMap<string, ConnectionWeighed> | undefined;
}

export interface ConnectionWeighed {
  readonly rows: number;
  readonly mark: string;
}

/**
 * One pass over a table, and no look at its values. Every change gives a row the number of a transaction that no earlier snapshot saw: so
 * rows are the same when their count and these numbers are, summed up by their hashes of 64 bits. Nothing needs an index or a column of
 * its own for that, and damage done by hand is seen as well.
 */
export async function weighTable(
  client: ClientBase,
  { name, from, changesBy }: SnapshotTable,
): Promise<TableWeighed> {
  if (changesBy !== 'rows') {
    const mark =
      changesBy === 'content'
        ? `md5(coalesce(string_agg(${name}::text, ',' order by ${name}::text), ''))`
        : `''`;
    const {
      rows: [seen],
    } = await client.query<{ rows: string; mark: string }>(
      `select count(*) as rows, ${mark} as mark from ${from}`,
    );
    return { rows: Number(seen?.rows), mark: seen?.mark ?? '', connections: undefined };
  }
  const { rows } = await client.query<{ connection_id: string; rows: string; mark: string }>(
    `select connection_id, count(*) as rows, sum(hashint8extended(xmin::text::bigint, 0))::text as mark
     from ${from} group by connection_id order by connection_id`,
  );
  const connections = new Map(
    rows.map(({ connection_id, rows: count, mark }) => [
      connection_id,
      { rows: Number(count), mark: `${count}/${mark}` },
    ]),
  );
  return {
    rows: [...connections.values()].reduce((sum, one) => sum + one.rows, 0),
    mark: [...connections].map(([connection, { mark }]) => `${connection} ${mark}`).join('\n'),
    connections,
  };
}
