import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Resources of a connection that need a reconcile now, unless it is paused. */
export async function readWantedReconciles(
  { db }: Pick<Warehouse, 'db'>,
  connectionId: string,
): Promise<string[]> {
  const wanted = await db
    .selectFrom('sync.streams')
    .select('resource')
    .distinct()
    .where('connection_id', '=', connectionId)
    .where('reconcile_wanted_at', 'is not', null)
    .where(
      sql<boolean>`exists (select from sync.connections c where c.connection_id = ${connectionId} and c.paused_at is null)`,
    )
    // Later than that it was never put off to: the clock has been put back since.
    .where(
      sql<boolean>`reconcile_not_before between clock_timestamp() and clock_timestamp() + interval '1 day'`,
      'is not',
      true,
    )
    .execute();
  return wanted.map(({ resource }) => resource);
}
