import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { notPaused } from './schedule-state.ts';

/** Resumes a connection for a person: earlier failures no longer slow it down. Throws UnknownConnection. */
export async function resumeConnection({ db }: Warehouse, input: { connectionId: string }): Promise<void> {
  const resumed = await db
    .updateTable('sync.connections')
    .set({ ...notPaused, failures: 0 })
    .where('connection_id', '=', input.connectionId)
    .returning('connection_id')
    .executeTakeFirst();
  if (resumed === undefined) throw new UnknownConnection(input.connectionId);
}
