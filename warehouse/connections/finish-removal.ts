import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../transactions/in-transaction.ts';
import { CommitsLost } from '../errors.ts';
import { indexesOnly } from '../transactions/indexes-only.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { retryDeadlocks } from '../transactions/retry-deadlocks.ts';
import type { Removal } from './begin-removal.ts';
import { tablesOf, type RemovedTable } from './removed-tables.ts';

/** How far a removal has come. */
export interface RemovalProgress {
  /** From which rows go now. */
  readonly table: string;
  /** Rows that this process has deleted, from all tables. */
  readonly rows: number;
}

/**
 * Deletes what hangs on a connection whose removal has begun, a batch per transaction, and its row at the end. Killed anywhere, it is
 * called again; two at once take turns. An abort of `signal` stops after the batch in hand. Returns how many rows it deleted. Throws
 * CommitsLost where a failover has lost that the removal began.
 */
export async function finishRemoval(
  { pool }: Pick<Warehouse, 'pool'>,
  input: { removal: Removal; onBatch?: (progress: RemovalProgress) => void; signal?: AbortSignal },
): Promise<number> {
  const { removal, onBatch, signal } = input;
  let rows = 0;
  for (const table of tablesOf(removal)) {
    for (let more = true; more;) {
      signal?.throwIfAborted();
      const deleted = await retryDeadlocks(() => deleteBatch(pool, { removal, table }));
      more = deleted > 0;
      rows += deleted;
      onBatch?.({ table: table.name, rows });
    }
  }
  await retryDeadlocks(() => deleteRest(pool, removal));
  return rows;
}

async function deleteBatch(
  pool: Pool,
  { removal, table }: { removal: Removal; table: RemovedTable },
): Promise<number> {
  return inTransaction(pool, async ({ client }) => {
    return (await takeTurn(client, removal)) ? deleteRows(client, { removal, table }) : 0;
  });
}

async function deleteRows(
  client: PoolClient,
  { removal, table }: { removal: Removal; table: RemovedTable },
): Promise<number> {
  // A bitmap would be made of all rows for each batch of them.
  await client.query(`${indexesOnly}; set local enable_bitmapscan = off`);
  const { rows } = await client.query<{ rows: number }>(table.deleteBatch, [removal.connectionId]);
  return rows[0]?.rows ?? 0;
}

/**
 * What a statement wrote that had found the connection before it was marked goes with its row, which whoever writes such holds; and so does
 * what a standby brought back that took over between two batches.
 */
async function deleteRest(pool: Pool, removal: Removal): Promise<void> {
  await inTransaction(pool, async ({ client }) => {
    if (!(await takeTurn(client, removal))) return;
    const tables = [
      ...(removal.keepsData ? [] : ['history.kept_stream_months', 'sync.resource_clocks', 'sync.kept_data']),
      'sync.table_weights',
      'sync.all_connections',
    ];
    for (const table of tablesOf(removal)) while ((await deleteRows(client, { removal, table })) > 0);
    for (const name of tables)
      await client.query(`delete from ${name} where connection_id = $1`, [removal.connectionId]);
  });
}

/**
 * False when the removal is over, or became one that keeps less: who finished or changed it does the rest. Throws CommitsLost where the
 * connection is as if nobody had begun to remove it.
 */
async function takeTurn(client: PoolClient, { connectionId, began, keepsData }: Removal): Promise<boolean> {
  await client.query(`select sync.lock('name/' || $1)`, [connectionId]);
  const { rows } = await client.query<{ isOurs: boolean; isLost: boolean }>(
    `select removing_at is not null and removing_at = $2::timestamptz and removing_keeps_data = $3 as "isOurs",
       removing_at is null and created_at < $2::timestamptz as "isLost"
     from sync.all_connections
     where connection_id = $1
     for update`,
    [connectionId, began, keepsData],
  );
  if (rows[0]?.isLost === true) throw new CommitsLost(`the removal of ${connectionId}`);
  return rows[0]?.isOurs === true;
}
