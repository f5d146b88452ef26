import type { PoolClient } from 'pg';

/**
 * Undoes what a statement of somebody's has done to the session of a transaction, and gives neither on: settings go with the transaction,
 * and locks outlive it. To end the session would not do behind a pooler, which lends it on.
 */
export async function undoStatement(client: PoolClient): Promise<void> {
  await client.query('rollback; select pg_advisory_unlock_all()').catch(() => undefined);
  client.release(true);
}
