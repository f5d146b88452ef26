import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../transactions/in-transaction.ts';
import { CommitsLost } from '../errors.ts';
import { indexesOnly } from '../transactions/indexes-only.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { retryDeadlocks } from '../transactions/retry-deadlocks.ts';
import type { Removal } from './begin-removal.ts';
import { listRemovedTables, type RemovedTable } from './removed-tables.ts';

/** How far a removal has got. */
export interface RemovalProgress {
  /** The table from which rows are being deleted. */
  readonly table: string;
  /** Rows that this process has deleted from all tables. */
  readonly rows: number;
}

/**
 * Deletes the rows of a connection whose removal has begun, one batch per transaction, and finally the connection's own row. After a crash it can be
 * called again, and concurrent calls take turns. An abort of `signal` stops it after the current batch. Returns the number of rows deleted. Throws
 * CommitsLost if a failover has lost the beginning of the removal.
 */
export async function finishRemoval(
  { pool }: Pick<Warehouse, 'pool'>,
  input: { removal: Removal; onBatch?: (progress: RemovalProgress) => void; signal?: AbortSignal },
): Promise<number> {
  const { removal, onBatch, signal } = input;
  let rows = 0;
  for (const table of listRemovedTables(removal)) {
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
  // A bitmap scan would build a bitmap of all rows for each batch.
  await client.query(`${indexesOnly}; set local enable_bitmapscan = off`);
  const { rows } = await client.query<{ rows: number }>(table.deleteBatch, [removal.connectionId]);
  return rows[0]?.rows ?? 0;
}

/**
 * Deletes the connection's row and all rows that remain. Some were written by statements that found the connection before it was marked, and that
 * hold its row; others were brought back by a standby that took over between two batches.
 */
async function deleteRest(pool: Pool, removal: Removal): Promise<void> {
  await inTransaction(pool, async ({ client }) => {
    if (!(await takeTurn(client, removal))) return;
    const tables = [
      ...(removal.keepsData ? [] : ['history.kept_stream_months', 'sync.resource_clocks', 'sync.kept_data']),
      'sync.table_weights',
      'sync.all_connections',
    ];
    for (const table of listRemovedTables(removal))
      while ((await deleteRows(client, { removal, table })) > 0);
    for (const name of tables)
      await client.query(`delete from ${name} where connection_id = $1`, [removal.connectionId]);
  });
}

/**
 * Locks the name and returns whether the removal is still the same. False: it is over, or keeps less now, and another process does the rest. Throws
 * CommitsLost if the connection is no longer marked.
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
