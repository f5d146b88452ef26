import type { Warehouse } from '../open-warehouse.ts';

/** Whether the run still reads the stream: false once the run was closed, by its workflow or by the run after it. */
export async function isStreamRunning(
  { db }: Pick<Warehouse, 'db'>,
  { runId, stream }: { runId: string; stream: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('sync.run_streams')
    .select('status')
    .where('run_id', '=', runId)
    .where('stream', '=', stream)
    .executeTakeFirst();
  return row?.status === 'running';
}
