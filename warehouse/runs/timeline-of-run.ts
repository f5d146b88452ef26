import type { Warehouse } from '../open-warehouse.ts';

/**
 * Returns the timeline that the work of a run must stay on: the one on which the run began, or the current one if it has no row yet. Null for a sync,
 * and if the server does not tell.
 */
export async function timelineOfRun(
  { pool }: Pick<Warehouse, 'pool'>,
  runId: string,
): Promise<string | null> {
  const { rows } = await pool.query<{ timeline: string | null }>({
    name: 'timeline of run',
    text: `
      select case when r.run_id is null then sync.timeline() when r.kind <> 'sync' then r.timeline end as timeline
      from (values ($1)) as asked (run_id) left join sync.runs r using (run_id)`,
    values: [runId],
  });
  return rows[0]?.timeline ?? null;
}
