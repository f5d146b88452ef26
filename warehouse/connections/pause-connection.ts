import { sql } from 'kysely';
import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** Pauses the schedules of a connection for a person; requested runs go on. Throws UnknownConnection. */
export async function pauseConnection(
  { db }: Warehouse,
  input: { connectionId: string; why: string },
): Promise<void> {
  const paused = await db
    .updateTable('sync.connections')
    .set({
      paused_at: sql<Date>`coalesce(paused_at, clock_timestamp())`,
      paused_why: input.why,
      paused_by: 'person',
      pause_reached_schedules: false,
    })
    .where('connection_id', '=', input.connectionId)
    .returning('connection_id')
    .executeTakeFirst();
  if (paused === undefined) throw new UnknownConnection(input.connectionId);
}
