import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { formatInterval, milliseconds } from './interval.ts';

/** Sets how often a connection is synced, reconciled and backfilled; null: only on request. Returns the first two. Throws UnknownConnection. */
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
): Promise<{ syncEvery: number | null; reconcileEvery: number | null }> {
  const { connectionId, syncEvery, reconcileEvery, backfill } = input;
  const set = await db
    .updateTable('sync.connections')
    .set({
      ...(syncEvery === undefined ? {} : { sync_every: formatInterval(syncEvery) }),
      ...(reconcileEvery === undefined ? {} : { reconcile_every: formatInterval(reconcileEvery) }),
      ...(backfill === undefined
        ? {}
        : { backfill_every: formatInterval(backfill.every), backfill_last: formatInterval(backfill.last) }),
    })
    .where('connection_id', '=', connectionId)
    .returning([
      milliseconds('sync_every').as('syncEvery'),
      milliseconds('reconcile_every').as('reconcileEvery'),
    ])
    .executeTakeFirst();
  if (set === undefined) throw new UnknownConnection(connectionId);
  return set;
}
