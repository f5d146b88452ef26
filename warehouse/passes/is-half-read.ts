import type { Warehouse } from '../open-warehouse.ts';

/** Whether a sync of the connection ended in the middle of a list, where the next one goes on. */
export async function isHalfRead({ db }: Pick<Warehouse, 'db'>, connectionId: string): Promise<boolean> {
  const pass = await db
    .selectFrom('sync.passes')
    .select('stream')
    .where('connection_id', '=', connectionId)
    .where('kind', '=', 'sync')
    .where('cursor', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return pass !== undefined;
}
