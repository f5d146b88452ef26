import type { ClientBase } from 'pg';
import { beginStatement } from '../transactions/in-transaction.ts';

/** What was found of a table, for the next export. */
export interface TableWeights {
  readonly table: string;
  readonly writtenTo: string;
  readonly fresh: readonly {
    readonly connection: string;
    /** How often its rows had been changed; -1 where nothing counts that. */
    readonly changes: string;
    readonly rows: number;
    readonly mark: string;
  }[];
  /** All of the table was weighed: nothing else is true any more. */
  readonly isAll: boolean;
  /** The transactions for which it was. */
  readonly uncounted: readonly string[];
}

/**
 * Keeps what a snapshot was found to hold. Expects the lock of the export, and the session that has read the snapshot, after its transaction:
 * so whichever server has this commit later has what was weighed too.
 */
export async function keepWeights(client: ClientBase, weights: readonly TableWeights[]): Promise<void> {
  const found = weights.filter(({ fresh, isAll }) => isAll || fresh.length > 0);
  if (found.length === 0) return;
  await client.query(beginStatement);
  for (const { table, writtenTo, fresh, isAll, uncounted } of found) {
    const connections = fresh.map(({ connection }) => connection);
    if (isAll)
      await client.query(
        'delete from sync.table_weights where table_name = $1 and connection_id <> all($2::text[])',
        [table, connections],
      );
    await client.query(
      `insert into sync.table_weights as kept (table_name, connection_id, changes, rows, mark)
       select $1, * from unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[])
       on conflict (table_name, connection_id) do update
         set changes = excluded.changes, rows = excluded.rows, mark = excluded.mark
         where (kept.changes, kept.rows, kept.mark) is distinct from (excluded.changes, excluded.rows, excluded.mark)`,
      [
        table,
        connections,
        fresh.map(({ changes }) => changes),
        fresh.map(({ rows }) => rows),
        fresh.map(({ mark }) => mark),
      ],
    );
    await client.query(
      'delete from sync.uncounted_changes where table_name = $1 and transaction_id = any($2::bigint[])',
      [writtenTo, uncounted],
    );
  }
  await client.query('commit');
}

/** For when they are not what the tables hold. Ends the transaction that the session is in, if any. */
export async function forgetWeights(client: ClientBase): Promise<void> {
  await client.query('rollback');
  await client.query('delete from sync.table_weights');
}
