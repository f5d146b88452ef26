import type { Warehouse } from '../../warehouse/open-warehouse.ts';

/** No statement of the test database takes longer from here on: for such as take a hundred times less, or a hundred times more. */
export async function withinTwoSeconds({ pool }: Warehouse): Promise<void> {
  await pool.query(
    `do $$ begin execute format('alter database %I set statement_timeout = %L', current_database(), '2s'); end $$`,
  );
  // Sessions that the pool has keep the settings from before.
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  for (const client of clients) client.release(true);
}
