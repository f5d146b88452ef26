import type { ClientBase } from 'pg';
import { beginStatement } from '../transactions/in-transaction.ts';

/** Weights of a table, for the next export. */
export interface TableWeights {
  readonly table: string;
  readonly writtenTo: string;
  readonly fresh: readonly {
    readonly connection: string;
    /** Number of changes of its rows; -1 if nothing counts them. */
    readonly changes: string;
    readonly rows: number;
    readonly mark: string;
  }[];
  /** The whole table was weighed, so that older weights are void. */
  readonly isAll: boolean;
  /** The transactions because of which the whole table was weighed. */
  readonly uncounted: readonly string[];
}

/**
 * Stores the weights found in a snapshot. Expects the lock of the export, and the session that has read the snapshot, after its transaction. A server
 * that has this commit later then has what was weighed, too. `assertHeld` throws if the lock is lost: another export may
 * have weighed since what was written by hand, and what this one has seen before must not replace it.
 */
export async function keepWeights(
  client: ClientBase,
  { weights, assertHeld }: { weights: readonly TableWeights[]; assertHeld: () => Promise<void> },
): Promise<void> {
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
  // The rows are locked by now: whoever has the lock next writes them after this.
  await assertHeld();
  await client.query('commit');
}

/** Deletes weights that do not match the tables. Ends the transaction that the session is in, if any. */
export async function forgetWeights(client: ClientBase): Promise<void> {
  await client.query('rollback');
  await client.query('delete from sync.table_weights');
}
