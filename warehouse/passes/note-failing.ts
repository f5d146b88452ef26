import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { PassInHand } from './pass.ts';

/** Notes that a request of the pass failed, and returns for how long requests have kept failing, in milliseconds. */
export async function noteFailing(
  { db }: Warehouse,
  input: { pass: PassInHand; requests: number },
): Promise<number> {
  const { pass, requests } = input;
  const noted = await db
    .updateTable('sync.passes')
    // A time in the future was noted while the clock was ahead.
    .set({ failing_since: sql<Date>`least(failing_since, clock_timestamp())` })
    .where('connection_id', '=', pass.connectionId)
    .where('stream', '=', pass.stream)
    .where('kind', '=', pass.kind)
    .where('part', '=', pass.part)
    .where('lease', '=', pass.lease)
    .returning(
      sql<number>`(extract(epoch from clock_timestamp() - failing_since) * 1000)::bigint`.as('failing_ms'),
    )
    .executeTakeFirst();
  await countRequests({ db }, { pass, requests });
  return noted?.failing_ms ?? 0;
}

/** Notes that a request without a page succeeded, which ends the earlier failures. */
export async function noteWorking({ db }: Warehouse, pass: PassInHand): Promise<void> {
  await db
    .updateTable('sync.passes')
    .set({ failing_since: null })
    .where('connection_id', '=', pass.connectionId)
    .where('stream', '=', pass.stream)
    .where('kind', '=', pass.kind)
    .where('part', '=', pass.part)
    .where('lease', '=', pass.lease)
    .where('failing_since', 'is not', null)
    .execute();
}

/** Counts requests that brought no page, so that a run shows all it cost. */
export async function countRequests(
  { db }: Pick<Warehouse, 'db'>,
  { pass, requests }: { pass: PassInHand; requests: number },
): Promise<void> {
  if (requests === 0) return;
  await db
    .updateTable('sync.run_streams')
    .set((eb) => ({ requests: eb('requests', '+', requests) }))
    .where('run_id', '=', pass.runId)
    .where('stream', '=', pass.stream)
    .execute();
}
