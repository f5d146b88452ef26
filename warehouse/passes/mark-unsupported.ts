import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { PassInHand } from './pass.ts';

/** Records that the service does not list this resource for the platform: nothing was read, so nothing follows from it. */
export async function markUnsupported({ db }: Warehouse, pass: PassInHand): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    // The pass before the stream, as everywhere: two orders would make a deadlock.
    await transaction
      .deleteFrom('sync.passes')
      .where('connection_id', '=', pass.connectionId)
      .where('stream', '=', pass.stream)
      .where('kind', '=', pass.kind)
      .where('part', '=', pass.part)
      .where('lease', '=', pass.lease)
      .execute();
    await transaction
      .updateTable('sync.streams')
      .set({ capability: 'unsupported', capability_checked_at: sql<Date>`clock_timestamp()`, cursor: null })
      .where('connection_id', '=', pass.connectionId)
      .where('stream', '=', pass.stream)
      .execute();
    await transaction
      .updateTable('sync.run_streams')
      .set((eb) => ({
        status: 'unsupported',
        requests: eb('requests', '+', 1),
        finished_at: sql<Date>`clock_timestamp()`,
      }))
      .where('run_id', '=', pass.runId)
      .where('stream', '=', pass.stream)
      .execute();
  });
}
