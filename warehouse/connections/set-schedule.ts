import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { intervalOf } from './interval.ts';

/** Sets how often a connection is synced, reconciled and backfilled; null: only on request. Throws UnknownConnection. */
export async function setSchedule(
  { db }: Warehouse,
  input: {
    connectionId: string;
    /** Milliseconds. Absent values stay as they are. */
    syncEvery?: number | null | undefined;
    reconcileEvery?: number | null | undefined;
    /** How often the connection is backfilled, and how far back. */
    backfill?: { every: number | null; last: number | null } | undefined;
  },
): Promise<void> {
  const { connectionId, syncEvery, reconcileEvery, backfill } = input;
  const set = await db
    .updateTable('sync.connections')
    .set({
      ...(syncEvery === undefined ? {} : { sync_every: intervalOf(syncEvery) }),
      ...(reconcileEvery === undefined ? {} : { reconcile_every: intervalOf(reconcileEvery) }),
      ...(backfill === undefined
        ? {}
        : { backfill_every: intervalOf(backfill.every), backfill_last: intervalOf(backfill.last) }),
    })
    .where('connection_id', '=', connectionId)
    .returning('connection_id')
    .executeTakeFirst();
  if (set === undefined) throw new UnknownConnection(connectionId);
}
