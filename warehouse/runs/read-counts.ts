import type { Warehouse } from '../open-warehouse.ts';

/** Counts of what a run has done to a stream so far. */
export interface StreamCounts {
  pages: number;
  read: number;
  inserted: number;
  updated: number;
  unchanged: number;
  suppressed: number;
  quarantined: number;
}

export async function readCounts(
  { db }: Warehouse,
  input: { runId: string; stream: string },
): Promise<StreamCounts> {
  const counts = await db
    .selectFrom('sync.run_streams')
    .select(['pages', 'read', 'inserted', 'updated', 'unchanged', 'suppressed', 'quarantined'])
    .where('run_id', '=', input.runId)
    .where('stream', '=', input.stream)
    .executeTakeFirst();
  return (
    counts ?? { pages: 0, read: 0, inserted: 0, updated: 0, unchanged: 0, suppressed: 0, quarantined: 0 }
  );
}
