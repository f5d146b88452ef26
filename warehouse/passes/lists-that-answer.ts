import type { Warehouse } from '../open-warehouse.ts';

/**
 * Reads the lists of the connection that have returned pages before and are not missing, the most recently completed first. Leaves out `except`, and
 * events, which belong to no company.
 */
export async function listsThatAnswer(
  { db }: Pick<Warehouse, 'db'>,
  { connectionId, except }: { connectionId: string; except: string },
): Promise<string[]> {
  const found = await db
    .selectFrom('sync.streams')
    .select('stream')
    .where('connection_id', '=', connectionId)
    .where('stream', 'not in', [except, 'events'])
    .where('listed_at', 'is not', null)
    .where('missing_since', 'is', null)
    .orderBy('last_success_at', (order) => order.desc().nullsLast())
    .orderBy('stream')
    .execute();
  return found.map(({ stream }) => stream);
}
