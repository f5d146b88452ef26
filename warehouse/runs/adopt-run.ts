import type { Warehouse } from '../open-warehouse.ts';

/**
 * Lets a sync go on with the run that the tick of a schedule has begun. One workflow run can, and as often as it asks: of a copy of its
 * input, and after a reset, the run is another's. Undefined when it cannot; else whether pages were read before. What the tick left
 * `interrupted` is read on.
 */
export async function adoptRun(
  { pool }: Pick<Warehouse, 'pool'>,
  run: { runId: string; connectionId: string; workflowId: string; temporalRunId: string },
): Promise<{ hasRead: boolean } | undefined> {
  const { rows } = await pool.query<{ has_read: boolean }>({
    name: 'adopt run',
    text: `
      with adopted as (
        update sync.runs r set workflow_id = $3, temporal_run_id = $4, status = 'running', finished_at = null
        where r.run_id = $1 and r.connection_id = $2 and r.kind = 'sync' and r.status in ('running', 'interrupted')
          and (r.workflow_id <> $3 or r.temporal_run_id = $4)
        returning run_id
      ), reopened as (
        update sync.run_streams s set status = 'running', finished_at = null
        from adopted
        where s.run_id = adopted.run_id and s.status = 'interrupted'
      )
      select exists (select from sync.run_streams s where s.run_id = adopted.run_id and s.pages > 0) as has_read
      from adopted`,
    values: [run.runId, run.connectionId, run.workflowId, run.temporalRunId],
  });
  const [adopted] = rows;
  return adopted === undefined ? undefined : { hasRead: adopted.has_read };
}
