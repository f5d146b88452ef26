import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Reads the resources of a connection that need a reconcile now; none if it is paused. */
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
    // A time beyond that limit was never set: the clock has been set back since.
    .where(
      sql<boolean>`reconcile_not_before between clock_timestamp() and clock_timestamp() + interval '1 day'`,
      'is not',
      true,
    )
    .execute();
  return wanted.map(({ resource }) => resource);
}
