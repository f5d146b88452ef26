import type { Warehouse } from '../../warehouse/open-warehouse.ts';

/**
 * Limits every statement of the test database to two seconds from here on, for tests of statements that take a hundred times less when fast
 * and a hundred times more when slow.
 */
export async function limitStatementTime({ pool }: Warehouse): Promise<void> {
  await pool.query(
    `do $$ begin execute format('alter database %I set statement_timeout = %L', current_database(), '2s'); end $$`,
  );
  // Open sessions of the pool keep their earlier settings, so they are closed.
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  for (const client of clients) client.release(true);
}
