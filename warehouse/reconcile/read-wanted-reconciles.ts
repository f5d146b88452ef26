import type { Warehouse } from '../open-warehouse.ts';

/** Resources of a connection that need a reconcile now: a deletion was announced without saying of which record. */
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
    .execute();
  return wanted.map(({ resource }) => resource);
}
