import type { Warehouse } from '../open-warehouse.ts';

/** Whether a sync of the connection was ended in the middle of a list: the next one goes on there. */
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
