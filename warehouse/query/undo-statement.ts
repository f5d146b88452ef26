import type { PoolClient } from 'pg';

/**
 * Undoes the effects of a user's statement on the session, so that nobody else gets them: settings end with the transaction, but locks outlive it.
 * Ending the session would not suffice behind a pooler, which reuses it.
 */
export async function undoStatement(client: PoolClient): Promise<void> {
  await client.query('rollback; select pg_advisory_unlock_all()').catch(() => undefined);
  client.release(true);
}
